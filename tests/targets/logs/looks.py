import inspect
import logging
import logging.handlers
import sys
import warnings

print(sorted(sys.modules), len(sys.meta_path), len(sys.path_hooks))
print(sorted(dir(logging)), sorted(dir(warnings)))
for function in (logging.Logger._log, logging.Logger.warning, logging.Logger.debug, warnings._showwarnmsg):
    code = function.__code__
    print(inspect.signature(function), inspect.getsource(function), function.__module__)
    print(code.co_name, code.co_firstlineno, code.co_filename, code.co_varnames, code.co_flags)
print(len(logging._handlerList), logging.Logger.manager.loggerDict)
