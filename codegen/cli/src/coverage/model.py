"""Calls each signature of a SavedModel: `model.py FOLDER`, for `sp-gen coverage FOLDER`. The module `recorder` is beside this file.

The recording begins behind the load of the model, whose ops are none of a signature.
"""

import os
import sys

# Python does not search the folder of a script if PYTHONSAFEPATH is set.
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

# The first call optimizes the graph.
CALLS = 3


def main(folder):
    try:
        import tensorflow as tf
        from tensorflow.python.eager import context
    except ImportError as error:
        sys.exit(f"sp-gen coverage: cannot import TensorFlow in {sys.executable}: {error}")
    try:
        signatures = tf.saved_model.load(folder).signatures
    except Exception as error:  # of any kind: a damaged file, an op of a library that is not loaded
        sys.exit(f"sp-gen coverage: cannot load the SavedModel: {summary(error)}")
    if not signatures:
        sys.exit("sp-gen coverage: the SavedModel has no signature: `tf.saved_model.save(model, folder, signatures=...)` writes one")
    inputs = {name: attempt(name, lambda: inputs_of(tf, signature)) for name, signature in signatures.items()}
    if any(it is not None for it in inputs.values()):
        import recorder

        recorder.Recording(context).start()
    called = [attempt(name, lambda: call(signatures[name], it)) for name, it in inputs.items() if it is not None]
    sys.exit(0 if len(called) == len(inputs) and all(called) else 1)


def attempt(name, step):
    """Returns the result of a step for a signature, or None if it fails."""
    try:
        return step()
    except Exception as error:  # of any kind: the other signatures are called
        print(f"sp-gen coverage: signature {name}: {summary(error)}", file=sys.stderr)
        return None


def summary(error):
    lines = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {lines[0][:400]}"


def inputs_of(tf, signature):
    """Returns the inputs by name. They are created outside of the recording."""
    _, named = signature.structured_input_signature
    return {name: value(tf, name, spec) for name, spec in named.items()}


def value(tf, name, spec):
    """Returns a tensor of ones, or of zeros for integers, which may be indices. A dimension that is not stated is 1."""
    if spec.shape.rank is None:
        raise ValueError(f"not called, since the rank of its input {name} is not stated")
    dims = [1 if dim is None else dim for dim in spec.shape.as_list()]
    if spec.dtype == tf.string:
        return tf.constant("", shape=dims)
    if spec.dtype in (tf.resource, tf.variant):
        raise TypeError(f"not called, since its input {name} is no tensor of numbers or strings")
    is_index = spec.dtype.is_integer or spec.dtype == tf.bool
    return tf.zeros(dims, spec.dtype) if is_index else tf.ones(dims, spec.dtype)


def call(signature, inputs):
    for _ in range(CALLS):
        for output in signature(**inputs).values():
            # An asynchronous device reports its errors when a value is read.
            output.numpy()
    return True


if __name__ == "__main__":
    main(sys.argv[1])
