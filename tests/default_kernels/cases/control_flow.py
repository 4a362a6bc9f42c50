"""Control flow of both versions."""

import numpy as np
import tensorflow as tf

from .call import function_of, R, spec, V1
from .registry import case, graph


@graph("Enter", "Exit", "Switch", "Merge", "NextIteration", "LoopCond")
def loop_of_version_1(call):
    V1.disable_control_flow_v2()
    step = lambda count, value: (count + 1, value * 1.5 + 1.0)
    with tf.device(None):
        limit = tf.constant(5)
    return V1.while_loop(lambda count, value: count < limit, step, [tf.constant(0), call.floats()])


@case("If", "StatelessIf", "_If")
def branch(call):
    yes = function_of(lambda x: x * 2.0, spec(3, 4))
    no = function_of(lambda x: x - 1.0, spec(3, 4))
    arguments = dict(cond=call.tensor(True), Tout=[tf.float32], then_branch=yes, else_branch=no, output_shapes=[[3, 4]])
    arguments["input"] = [call.floats()]
    return [R.If(**arguments), R.StatelessIf(**arguments)]


@case("Case", "StatelessCase")
def cases(call):
    branches = [function_of(lambda x: x * 2.0, spec(3, 4)), function_of(lambda x: x - 1.0, spec(3, 4))]
    arguments = dict(branch_index=call.tensor(np.int32(1)), Tout=[tf.float32], branches=branches, output_shapes=[[3, 4]])
    arguments["input"] = [call.floats()]
    return [R.Case(**arguments), R.StatelessCase(**arguments)]


@case("While", "StatelessWhile", "_While", "_SwitchN")
def loop(call):
    specs = spec(dtype=tf.int32), spec(3, 4)
    cond = function_of(lambda count, value: count < 5, *specs)
    body = function_of(lambda count, value: (count + 1, value * 1.5 + 1.0), *specs)
    arguments = dict(cond=cond, body=body, output_shapes=[[], [3, 4]])
    arguments["input"] = [call.tensor(np.int32(0)), call.floats()]
    return [R.While(**arguments), R.StatelessWhile(**arguments)]


@case("For")
def counted_loop(call):
    body = function_of(lambda count, value: value * 1.5, spec(dtype=tf.int32), spec(3, 4))
    bounds = [call.tensor(np.int32(it)) for it in (0, 3, 1)]
    return R.For(start=bounds[0], limit=bounds[1], delta=bounds[2], input=[call.floats()], body=body)


@graph("ConditionalOfVersion1")
def conditional_of_version_1(call):
    V1.disable_control_flow_v2()
    x = call.floats()
    return V1.cond(call.tensor(True), lambda: x * 2.0, lambda: x - 1.0)
