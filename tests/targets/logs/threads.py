# log: WARNING th: 0
# log: DEBUG th: 0
# log: WARNING th: 1
# log: DEBUG th: 1
# log: ERROR th: at the end
import atexit
import logging
import threading

log = logging.getLogger("th")


def work(i):
    log.warning("%d", i)
    log.debug("%d", i)


for number in range(2):
    thread = threading.Thread(target=work, args=(number,))
    thread.start()
    thread.join()
atexit.register(log.error, "at the end")
