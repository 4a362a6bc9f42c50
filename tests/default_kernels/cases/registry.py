"""The ops with a case, and those without one."""

# Name -> (function, modes): eager mode, a tf.function, or a graph of TensorFlow 1 in a session.
CASES = {}
# Name -> reason why the op is not called.
UNCALLED = {}


def case(*ops, modes=("eager", "function")):
    """Registers a function as the case of each op."""

    def register(function):
        function.case = ops[0]
        for op in ops:
            CASES[op] = (function, modes)
        return function

    return register


def name(function):
    """Returns the name of a case: the first of its ops."""
    return function.case


def graph(*ops):
    """Registers a case that only a graph of TensorFlow 1 can have."""
    return case(*ops, modes=("session",))


def uncalled(reason, *ops):
    """States why there is no case of these ops."""
    UNCALLED.update(dict.fromkeys(ops, reason))
