# log: WARNING root: forked
# log: DEBUG root: forked
# log: WARNING root: started
# log: WARNING root: again
import logging
import os
import subprocess
import sys

pid = os.fork()
if pid == 0:
    logging.warning("forked")
    logging.debug("forked")
    os._exit(0)
os.waitpid(pid, 0)
code = "import logging; logging.warning('started')"
subprocess.check_call([sys.executable, "-c", code])
logging.warning("again")
