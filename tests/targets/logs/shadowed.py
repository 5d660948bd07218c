import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "shadow"))
try:
    import logging.handlers
except ModuleNotFoundError as error:
    print(error)
print(logging.where)
import warnings as theirs

theirs.warn("no such thing")
