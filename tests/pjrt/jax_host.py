"""The host that runs programs of JAX with the probe. It runs in the environment of the release."""

import ctypes
import os
import re
import sys

ELEMENT_TYPES = {
    "i1": 1, "i8": 2, "i16": 3, "i32": 4, "i64": 5, "ui8": 6, "ui16": 7, "ui32": 8, "ui64": 9, "f16": 10, "f32": 11, "f64": 12,
    "bf16": 13, "complex<f32>": 14, "complex<f64>": 15, "!stablehlo.token": 23,
}  # fmt: skip


def read_varint(data):
    """Returns the number at the beginning of the data, and the rest."""
    value = shift = 0
    for index, byte in enumerate(data):
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, data[index + 1 :]
    raise ValueError("a number of a message ends early")


def read_message(data):
    """Returns the fields of a serialized message of numbers and messages, as pairs."""
    while data:
        key, data = read_varint(data)
        value, data = read_varint(data)
        if key & 7 == 2:
            value, data = data[:value], data[value:]
        yield key >> 3, value


def read_list(data):
    while data:
        value, data = read_varint(data)
        yield value


def assigned_devices(assignment):
    """Returns the ids of the devices in a serialized `DeviceAssignmentProto`, by replica and computation."""
    columns = []
    for field, computation in read_message(assignment):
        if field == 3:
            values = [value for _, value in read_message(computation)]
            columns.append([id_ for value in values for id_ in (read_list(value) if isinstance(value, bytes) else [value])])
    return [device for replica in zip(*columns) for device in replica]


def describe_type(type_):
    text = str(type_)
    if not text.startswith("tensor<"):
        return f"{ELEMENT_TYPES[text]}"
    *dims, element = re.match(r"tensor<((?:\d+x)*)([^,>]*(?:<\w+>)?)", text).groups()
    return f"{ELEMENT_TYPES[element]}:{dims[0].replace('x', ',').rstrip(',')}".rstrip(":")


def describe_program(module, options):
    """Returns the description of a program that `probe_describe_program` takes."""
    main = next(op for op in module.body.operations if getattr(op, "sym_name", None) and op.sym_name.value == "main")
    types = main.type if hasattr(main, "type") else main.function_type.value
    serialized = options.device_assignment.serialize() if options.device_assignment else b""
    devices = assigned_devices(serialized) or [0]
    counts = f"{options.num_replicas} {options.num_partitions} {','.join(map(str, devices))} {serialized.hex() or '-'}"
    return " ".join([counts, str(len(types.inputs)), *map(describe_type, types.results)])


def describe_before_compilation(probe):
    """Replaces the functions of JAX that compile by ones that first describe the program to the probe."""
    from jax._src import compiler

    for name in [name for name in dir(compiler) if name.startswith("backend_compile")]:
        original = getattr(compiler, name)

        def describing(*arguments, original=original, **named):
            values = [*arguments, *named.values()]
            module = next(v for v in values if hasattr(v, "operation") and hasattr(v, "body"))
            options = next(v for v in values if hasattr(v, "executable_build_options"))
            probe.probe_describe_program(describe_program(module, options).encode())
            return original(*arguments, **named)

        setattr(compiler, name, describing)


def load(library):
    """Registers the probe as a plugin, as the entry point of a package does."""
    import jax
    from jax._src import xla_bridge

    xla_bridge.register_plugin("probe", library_path=library)
    jax.config.update("jax_platforms", "probe")
    jax.probe = ctypes.CDLL(library)
    describe_before_compilation(jax.probe)
    return jax


def main():
    import jax
    import jax.numpy
    import jaxlib
    from jax_programs import PROGRAMS
    from job_server import serve

    jax.profiler, jax.dlpack  # modules that programs use are imported once
    serve({"jax": jax.__version__, "jaxlib": jaxlib.__version__}, load, PROGRAMS)


if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    main()
