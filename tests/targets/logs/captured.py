# log: WARNING py.warnings: FILE:LINE: UserWarning: as a record
# log: WARNING UserWarning: as always
import logging
import warnings

logging.captureWarnings(True)
warnings.warn("as a record")
logging.captureWarnings(False)
warnings.warn("as always")
print(logging.getLogger("py.warnings").handlers)
