
try:
    install()
    outcome = "installed"
except Exception as error:
    # TensorFlow is imported as without this text.
    outcome = "not installed: %s: %s" % (type(error).__name__, error)
