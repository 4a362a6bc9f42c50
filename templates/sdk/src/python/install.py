

import os


def as_framework(code):
    """Returns code with a file name in TensorFlow's folder, so that TensorFlow shows users' lines, not these."""
    folder = os.path.dirname(sys.modules["tensorflow.python.eager.execute"].__file__)
    inner = tuple(as_framework(it) if isinstance(it, type(code)) else it for it in code.co_consts)
    return code.replace(co_filename=os.path.join(folder, os.path.basename(code.co_filename)), co_consts=inner)


def all_functions():
    """Yields the functions and methods of the text."""
    for value in list(globals().values()):
        for item in vars(value).values() if isinstance(value, type) else [value]:
            if getattr(item, "__globals__", None) is globals():
                yield item

try:
    if sys.version_info >= (3, 8):
        for function in all_functions():
            function.__code__ = as_framework(function.__code__)
    install()
    outcome = "installed"
except Exception as error:
    # TensorFlow is imported as without this text.
    outcome = "not installed: %s: %s" % (type(error).__name__, error)
