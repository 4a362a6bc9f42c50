"""Traces all models, and prints their ops as JSON: runs in the environment that has TensorFlow and the plugin."""

import json
import os
import re
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf  # noqa: E402
from tensorflow.core.framework import types_pb2  # noqa: E402
from tensorflow.python.framework import kernels  # noqa: E402

import models  # noqa: E402
import networks  # noqa: E402

DEVICE_TYPE = "MYACCEL"
FAMILIES = [
    models.layer_models, models.loss_models, models.optimizer_models, models.metric_models, networks.network_models,
    models.application_models,
]


def nodes_of(graph):
    yield from graph.node
    for function in graph.library.function:
        yield from function.node_def


def type_attributes(node):
    """Returns the attributes that are types, by their names, without those of TensorFlow's own."""
    return {name: it.type for name, it in node.attr.items() if it.WhichOneof("value") == "type" and not name.startswith("_")}


def plain_value(attribute):
    """Returns an attribute that changes what a kernel computes as text, or `None`."""
    kind = attribute.WhichOneof("value")
    if kind == "s" and len(attribute.s) < 40:
        return attribute.s.decode(errors="replace")
    if kind == "b":
        return str(attribute.b).lower()
    if kind == "list" and attribute.list.i:
        return str(list(attribute.list.i)).replace(" ", "")
    return None


IGNORED = {"container", "shared_name", "debug_name", "parallel_iterations", "explicit_paddings"}


def plain_attributes(node):
    values = {name: plain_value(it) for name, it in node.attr.items() if not name.startswith("_") and name not in IGNORED}
    return {name: value for name, value in values.items() if value}


# The ops that the optimizer of the SDK replaces in graphs, if the plugin's kernels for them are errors.
REPLACED = re.compile("ResourceGather(Nd)?|ResourceScatter(Nd)?(Add|Sub|Min|Max|Update)")


def provider(op, types):
    """Returns whose kernel the device has: `plugin`, `core` (a kernel of type DEFAULT), `graph` or `none`."""
    registered = kernels.get_registered_kernels_for_op(op).kernel
    # Kernels that are errors have a priority below that of others.
    is_error = any(it.device_type == DEVICE_TYPE and it.priority < 0 for it in registered)
    if is_error and REPLACED.fullmatch(op):
        return "graph"
    fits = lambda kernel: all(types.get(it.name, 0) in it.allowed_values.list.type for it in kernel.constraint if it.name in types)
    found = {kernel.device_type for kernel in registered if fits(kernel)}
    return "plugin" if DEVICE_TYPE in found else "core" if "DEFAULT" in found else "none"


def type_name(number):
    return types_pb2.DataType.Name(number).removeprefix("DT_").lower()


def trace(families):
    """Returns a row for each op and its types, and the models that could not be traced."""
    rows, failed, traced = {}, {}, []
    for family in families:
        for name, graphs in family():
            try:
                with tf.device("/CPU:0"):
                    found = [node for graph in graphs() for node in nodes_of(graph)]
            except Exception as error:  # any failure of any model is a line of the page
                failed[name] = f"{type(error).__name__}: {str(error).splitlines()[0][:100]}"
                continue
            traced.append(name)
            for node in found:
                add(rows, node, name)
            print(name, len(found), file=sys.stderr, flush=True)
    return {"release": tf.__version__, "traced": traced, "failed": failed, "rows": list(rows.values())}


def add(rows, node, model):
    types = type_attributes(node)
    key = (node.op, tuple(sorted(types.items())))
    if key not in rows:
        named = {name: type_name(it) for name, it in sorted(types.items())}
        rows[key] = {"op": node.op, "types": named, "attributes": {}, "models": [], "kernel": provider(node.op, types)}
    row = rows[key]
    if model not in row["models"]:
        row["models"].append(model)
    for name, value in plain_attributes(node).items():
        values = row["attributes"].setdefault(name, [])
        if value not in values:
            values.append(value)


if __name__ == "__main__":
    wanted = sys.argv[1:]
    families = [it for it in FAMILIES if not wanted or it.__name__.removesuffix("_models") in wanted]
    print(json.dumps(trace(families)))
