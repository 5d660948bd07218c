# log: WARNING root: first
# log: WARNING root: second
import importlib

logs = importlib.import_module("logging")
open(__file__).close()
logs.warning("first")
from logging import warning

warning("second")
