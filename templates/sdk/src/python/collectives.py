"""Collective ops that communicate in rings, if the plugin's devices have the type GPU in a build with CUDA.

Such a build communicates by NCCL between devices of type GPU unless an op says otherwise, and NCCL knows no plugin's devices. The plugin's
graph optimizer selects rings in functions; in eager mode, as in `strategy.run` without a function, the functions of Python do.

The plugin runs this text once.
"""

import functools
import sys

MODULE, HINT = "tensorflow.python.ops.gen_collective_ops", "communication_hint"


def in_rings(function):
    """Returns the function, called with the hint for rings."""
    position = function.__code__.co_varnames.index(HINT)

    @functools.wraps(function)
    def call(*arguments, **keywords):
        if len(arguments) > position:
            return function(*arguments[:position], "ring", *arguments[position + 1 :], **keywords)
        return function(*arguments, **{**keywords, HINT: "ring"})

    return call


def has_hint(name, value):
    code = getattr(value, "__code__", None)
    is_parameter = code is not None and HINT in code.co_varnames[: code.co_argcount]
    return is_parameter and name.startswith("collective_") and not name.endswith("_fallback")


def install():
    module = sys.modules[MODULE]
    found = {name: in_rings(value) for name, value in vars(module).items() if has_hint(name, value)}
    for name, function in found.items():
        setattr(module, name, function)
