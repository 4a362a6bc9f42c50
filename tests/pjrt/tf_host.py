"""The host that runs programs of TensorFlow with the probe. It runs in the environment of the release."""

import ctypes
import os
import sys


def load(library):
    """Loads the probe as TensorFlow loads a library of its folder of plugins."""
    import tensorflow as tf
    from tensorflow.python.framework import load_library

    tf.probe = ctypes.CDLL(library)
    # The probe cannot read HLO: each program of the tests has one result of three numbers.
    tf.probe.probe_describe_program(b"1 1 0 - 1 11:3")
    load_library.load_pluggable_device_library(library)
    return tf


def main():
    import tensorflow as tf
    from job_server import serve
    from tf_programs import PROGRAMS

    serve({"tensorflow": tf.__version__}, load, PROGRAMS)


if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    main()
