"""Imports JAX, initializes one plugin or those that JAX finds, and counts devices.

Arguments: the file for the answer, which is JSON; the module of the plugin, or nothing for all of them.
`stages.py` comes before this program.
"""

import importlib
import os

MODULE = sys.argv[2]
MOST_SLOTS = 1000
answer.update({"registered": None, "library": None, "table": None, "devices": {}})


def read_table(path):
    """Loads the library for the dynamic loader's message, and reads the table: version, size and null slots."""
    import ctypes

    enter("load")
    library = ctypes.CDLL(path)
    enter("table")
    library.GetPjrtApi.argtypes, library.GetPjrtApi.restype = [], ctypes.c_void_p
    start = library.GetPjrtApi()
    if not start:
        raise ValueError("GetPjrtApi returned null")
    size = ctypes.c_size_t.from_address(start).value
    major, minor = (ctypes.c_int * 2).from_address(start + 32)
    count = max(0, min((size - 40) // 8, MOST_SLOTS))
    slots = (ctypes.c_size_t * count).from_address(start + 40)
    answer["table"] = {"major": major, "minor": minor, "size": size, "slots": [slot != 0 for slot in slots]}


def initialize(bridge):
    """Calls the plugin's initialize(). The library is read when it is registered, before JAX loads it."""
    register = bridge.register_plugin

    def recorded(plugin_name, **options):
        path = options.get("library_path")
        answer["registered"], answer["library"] = plugin_name, path and os.fspath(path)
        if path:
            read_table(answer["library"])
        enter("register")
        return register(plugin_name, **options)

    bridge.register_plugin = recorded
    enter("module")
    module = importlib.import_module(MODULE)
    enter("initialize")
    if not hasattr(module, "initialize"):
        raise AttributeError("%s has no function initialize()" % MODULE)
    module.initialize()
    if answer["registered"] is None:
        raise RuntimeError("initialize() registered no plugin")


def run():
    enter("import")
    if MODULE:
        os.environ.pop("JAX_PLATFORMS", None)
    import jax
    from jax._src import xla_bridge

    if MODULE:
        initialize(xla_bridge)
        # JAX initializes the other plugins, and this one again, when the first device is used.
        xla_bridge.discover_pjrt_plugins = lambda: None
        jax.config.update("jax_platforms", answer["registered"])
    enter("devices")
    backends = [jax.devices()] if MODULE else [backend.devices() for backend in xla_bridge.backends().values()]
    names = [answer["registered"]] if MODULE else list(xla_bridge.backends())
    answer["devices"] = {name: len(devices) for name, devices in zip(names, backends)}
    answer["platform"] = backends[0][0].platform if MODULE and backends[0] else None
    enter("done")


finish(run)
