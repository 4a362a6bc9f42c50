"""Records the ops that a program runs: `sp-gen coverage` puts the folder of this file first in PYTHONPATH, as `sitecustomize`. For a
SavedModel `model.py` imports it, and starts the recording itself.

SP_COVERAGE_FOLDER is the folder for one JSON file of each process that uses TensorFlow. SP_COVERAGE_SECONDS ends the recording
earlier than the process. The program runs as it is: recording begins when TensorFlow initializes its devices.
"""

import atexit
import functools
import glob
import importlib
import importlib.util
import json
import mmap
import os
import re
import sys
import threading

FOLDER = os.environ.get("SP_COVERAGE_FOLDER", "")
SECONDS = float(os.environ.get("SP_COVERAGE_SECONDS") or 0)
CONTEXT = "tensorflow.python.eager.context"
EAGER = "EagerLocalExecute: "
EXECUTED = re.compile(r"(.+[^:]):([A-Za-z_][A-Za-z0-9_>]*)$")
LONGEST_REPORT = 1 << 24
DEVICE_TYPE = re.compile(r"device:([A-Za-z_]+)")


def run_hidden_sitecustomize():
    """Runs the environment's own `sitecustomize`, which this one hides."""
    own = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [path for path in sys.path if os.path.abspath(path) != own]
    this = sys.modules.pop("sitecustomize", None)
    try:
        importlib.import_module("sitecustomize")
    except ImportError as error:
        # The import of this module is an error if it has no entry at its end.
        sys.modules["sitecustomize"] = this
        if error.name != "sitecustomize":
            raise


class ContextFinder:
    """Finds TensorFlow's module of the eager context, and changes it after its import."""

    def find_spec(self, name, path=None, target=None):
        if name != CONTEXT:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            record_after_initialization(module)

        spec.loader.exec_module = exec_module
        return spec


def record_after_initialization(context):
    initialize = context.Context.ensure_initialized

    def ensure_initialized(self):
        initialize(self)
        if context.Context.ensure_initialized is ensure_initialized:
            context.Context.ensure_initialized = initialize
            Recording(context).start()

    context.Context.ensure_initialized = ensure_initialized


class Recording:
    """The recording of this process."""

    def __init__(self, context):
        self.context, self.process, self.session, self.lock = context, os.getpid(), None, threading.Lock()
        self.folder = os.path.join(FOLDER, "%d.profile" % self.process)
        self.answer = {"argv": sys.argv, "error": None, "nodes": [], "executed": [], "eager": [], "device": [], "device_nodes": [], "registered": {}, "plugins": []}

    def start(self):
        atexit.register(self.stop)
        if SECONDS:
            timer = threading.Timer(SECONDS, self.stop)
            timer.daemon = True
            timer.start()
        self.attempt(self.start_session)

    def start_session(self):
        from tensorflow.python.profiler.internal import _pywrap_profiler as profiler

        self.context.context().enable_run_metadata()
        self.session = profiler.ProfilerSession()
        self.session.start(self.folder, {"host_tracer_level": 3, "device_tracer_level": 1, "python_tracer_level": 0})

    def attempt(self, step):
        try:
            step()
        except BaseException as error:  # the program goes on, whatever the recording raises
            self.answer["error"] = "%s: %s" % (type(error).__name__, str(error)[:2000])

    def stop(self):
        # The time limit and the end of the process may coincide.
        with self.lock:
            self.write()

    def write(self):
        session, self.session = self.session, None
        if self.process != os.getpid() or self.answer is None or (session is None and not self.answer["error"]):
            return
        if session is not None:
            self.attempt(lambda: self.read(session))
        answer, self.answer = self.answer, None
        name = os.path.join(FOLDER, "%d.json" % self.process)
        with open(name + ".new", "w") as file:
            json.dump(answer, file)
        os.replace(name + ".new", name)

    def read(self, session):
        import tensorflow as tf

        answer = self.answer
        answer["release"] = tf.__version__
        answer["devices"] = sorted({device.device_type for device in tf.config.list_physical_devices()})
        session.export_to_tb()
        answer.update(executed(space(self.folder)))
        answer["nodes"] = nodes(self.context.context().export_run_metadata())
        answer["registered"] = registered({row[0] for row in answer["nodes"]})
        answer["plugins"] = plugins()


def space(folder):
    """Returns the profile in the folder."""
    (path,) = glob.glob(os.path.join(glob.escape(folder), "plugins", "profile", "*", "*.xplane.pb"))
    with open(path, "rb") as file:
        content = file.read()
    for module in ("tensorflow.tsl.profiler.protobuf", "tensorflow.core.profiler.protobuf", "tsl.profiler.protobuf"):
        try:
            return importlib.import_module(module + ".xplane_pb2").XSpace.FromString(content)
        except ImportError:
            continue
    raise ImportError("xplane_pb2")


def executed(space):
    """Returns calls and nanoseconds of each node of a graph and of each op in eager mode on the host, and of each op and node on devices."""
    graph, eager, device, device_nodes = {}, {}, {}, {}
    for plane in space.planes:
        names = {number: metadata.name for number, metadata in plane.event_metadata.items()}
        is_host, is_device = plane.name == "/host:CPU", plane.name.startswith("/device:")
        for event in (event for line in plane.lines for event in line.events):
            name, nanoseconds = names.get(event.metadata_id, ""), event.duration_ps // 1000
            found = EXECUTED.match(name)
            if is_host and name.startswith(EAGER):
                add(eager, (name[len(EAGER):],), nanoseconds)
            elif is_host and found:
                add(graph, found.groups(), nanoseconds)
            elif is_device:
                node, _, op = node_of(plane, event).rpartition(":")
                add(device, (op or name.split(" ")[0],), nanoseconds)
                if node:
                    add(device_nodes, (node, op), nanoseconds)
    tables = (("executed", graph), ("eager", eager), ("device", device), ("device_nodes", device_nodes))
    return {name: [[*key, *sums] for key, sums in it.items()] for name, it in tables}


def node_of(plane, event):
    """Returns the statistic `tf_op` of an event, a text such as `dense/MatMul:MatMul`; empty if it has none."""
    for stat in event.stats:
        if plane.stat_metadata[stat.metadata_id].name == "tf_op":
            return stat.str_value or plane.stat_metadata[stat.ref_value].name
    return ""


def add(sums, key, nanoseconds):
    sum = sums.setdefault(key, [0, 0])
    sum[0] += 1
    sum[1] += nanoseconds


def nodes(metadata):
    """Returns op, device type, types of attributes, and the names of the nodes that have all of them."""
    rows = {}
    for graph in metadata.partition_graphs:
        for node in graph.node:
            device = DEVICE_TYPE.search(node.device)
            types = {**default_types(node.op), **{name: types_of(value) for name, value in node.attr.items()}}
            types = tuple(sorted((name, text) for name, text in types.items() if text))
            key = (node.op, device.group(1) if device else "", types)
            rows.setdefault(key, set()).add(node.name)
    return [[op, device, dict(types), sorted(names)] for (op, device, types), names in rows.items()]


@functools.lru_cache(None)
def default_types(op):
    """Returns the types of the attributes that a node may omit, as those of a SavedModel do."""
    from tensorflow.python.framework import op_def_registry

    definition = op_def_registry.get(op)
    attributes = definition.attr if definition else ()
    return {it.name: types_of(it.default_value) for it in attributes if it.HasField("default_value")}


def types_of(value):
    """Returns the type of an attribute, or each type of its list once; empty if it has none."""
    kind = value.WhichOneof("value")
    numbers = [value.type] if kind == "type" else value.list.type if kind == "list" else ()
    return ",".join(dict.fromkeys(map(type_name, numbers)))


def type_name(number):
    from tensorflow.core.framework import types_pb2

    return types_pb2.DataType.Name(number)[3:].lower()


def registered(ops):
    """Returns for each op its kernels: device type, allowed types of attributes, label."""
    from tensorflow.python.framework import kernels

    def row(kernel):
        allowed = {it.name: [type_name(number) for number in it.allowed_values.list.type] for it in kernel.constraint}
        return [kernel.device_type, allowed, kernel.label]

    return {op: [row(kernel) for kernel in kernels.get_registered_kernels_for_op(op).kernel] for op in sorted(ops)}


def plugins():
    """Returns the report of calls of each loaded plugin that has one."""
    import ctypes

    if not os.path.exists("/proc/self/maps"):
        return []
    with open("/proc/self/maps") as maps:
        paths = {line.split(None, 5)[5].rstrip("\n") for line in maps if ".so" in line}
    named = os.environ.get("TF_PLUGGABLE_DEVICE_LIBRARY_PATH")
    named = os.path.realpath(named) if named else None
    reports = []
    for path in sorted(path for path in paths if os.path.exists(path)):
        is_plugin = "/tensorflow-plugins/" in path or (named is not None and path.startswith(named))
        # A program may load a plugin from any other path.
        write = getattr(ctypes.CDLL(path), "sp_kernel_calls", None) if is_plugin or has_text(path, b"sp_kernel_calls") else None
        if write is None:
            reports += [[path, None]] if is_plugin else []
            continue
        write.argtypes, write.restype = [ctypes.c_char_p, ctypes.c_size_t], ctypes.c_size_t
        text = ctypes.create_string_buffer(max(1, min(write(None, 0), LONGEST_REPORT)))
        write(text, len(text))
        reports.append([path, text.value.decode(errors="replace")])
    return reports


def has_text(path, text):
    """Returns true if a file of fewer than 256 MiB that is no library of TensorFlow has the text."""
    if "/tensorflow/" in path or os.path.getsize(path) >= 1 << 28:
        return False
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return content.find(text) >= 0


if __name__ == "sitecustomize":
    run_hidden_sitecustomize()
    if FOLDER:
        sys.meta_path.insert(0, ContextFinder())
