"""The names of Python that RFC 262 proposed, in the installed TensorFlow."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


def test_names_of_proposals_are_not_in_python():
    import tensorflow as tf
    from tensorflow.python.framework import load_library

    modules = [tf, tf.config, tf.config.experimental, load_library]
    names = {name for module in modules for name in dir(module)}
    assert "load_pluggable_device_library" in names
    assert not {"set_subdevice_mapping", "set_sub_device_mapping", "load_plugin_with_highest_priority"} & names
    assert not [name for name in names if "unload" in name or "subdevice" in name]
