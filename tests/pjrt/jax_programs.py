"""The programs of JAX that the probe's host runs, in a fixed order. Each may use the devices of the probe only.

A program raises an exception if JAX reports an error, and returns nothing. The probe's executions give zeros, so no value of a result is
checked but those of copies.
"""

import inspect

import numpy


def devices(jax):
    listed = jax.devices()
    for device in [*listed, *jax.local_devices()]:
        assert device.platform == "probe", device.platform
        str(device), repr(device), device.id, device.process_index, device.device_kind, device.client.platform_version
    assert jax.device_count() == len(listed) and jax.process_index() == 0


def device_details(jax):
    for device in jax.devices():
        device.memory_stats()
        device.local_hardware_id
        getattr(device, "probe_attribute", None)
        [memory.kind for memory in device.addressable_memories()]
        str(device.default_memory())
        device.client.live_buffers(), device.client.live_executables() if hasattr(device.client, "live_executables") else None


def put_and_get(jax):
    array = numpy.arange(6, dtype=numpy.float32).reshape(2, 3)
    numpy.testing.assert_array_equal(numpy.asarray(jax.device_put(array)), array)
    numpy.testing.assert_array_equal(numpy.asarray(jax.device_put(array.T)), array.T)


def element_types(jax):
    for name in ["bool", "int8", "int16", "int32", "uint8", "uint16", "uint32", "float16", "float32", "complex64", "bfloat16"]:
        array = numpy.array([0, 1, 1], dtype=getattr(jax.numpy, name))
        numpy.testing.assert_array_equal(numpy.asarray(jax.device_put(array)), array)


def empty_and_scalar(jax):
    assert numpy.asarray(jax.device_put(numpy.zeros((0, 3), numpy.float32))).shape == (0, 3)
    assert numpy.asarray(jax.device_put(numpy.float32(3))) == 3


def copy_between_devices(jax):
    array = numpy.arange(4, dtype=numpy.float32)
    copied = jax.device_put(jax.device_put(array, jax.devices()[0]), jax.devices()[-1])
    numpy.testing.assert_array_equal(numpy.asarray(copied), array)


def memory_kinds(jax):
    sharding = jax.sharding.SingleDeviceSharding(jax.devices()[0], memory_kind="pinned_host")
    array = jax.device_put(numpy.arange(4, dtype=numpy.float32), sharding)
    assert array.sharding.memory_kind == "pinned_host"
    moved = jax.device_put(array, jax.sharding.SingleDeviceSharding(jax.devices()[0], memory_kind="device"))
    numpy.testing.assert_array_equal(numpy.asarray(moved), numpy.arange(4))


def delete(jax):
    array = jax.device_put(numpy.zeros(4, numpy.float32))
    array.delete()
    assert array.is_deleted()


def buffer_details(jax):
    array = jax.device_put(numpy.zeros((2, 3), numpy.float32))
    array.is_ready(), array.on_device_size_in_bytes(), array.unsafe_buffer_pointer(), array.devices(), str(array.sharding)
    array.addressable_shards[0].data
    getattr(array, "format", None) or getattr(array, "layout", None)
    array.copy_to_host_async()


def jit_add(jax):
    numpy.asarray(jax.jit(lambda x: x + 1)(numpy.zeros((2, 3), numpy.float32)))


def jit_dot(jax):
    jax.jit(jax.numpy.dot)(numpy.zeros((2, 3), numpy.float32), numpy.zeros((3, 4), numpy.float32)).block_until_ready()


def jit_reduce(jax):
    results = jax.jit(lambda x: (x.sum(axis=0), x.max()))(numpy.zeros((2, 3), numpy.float32))
    [numpy.asarray(result) for result in results]


def jit_mlp_step(jax):
    def loss(weights, x):
        return (jax.numpy.tanh(x @ weights["w"] + weights["b"]) ** 2).mean()

    def step(weights, x):
        return jax.tree_util.tree_map(lambda w, g: w - 0.1 * g, weights, jax.grad(loss)(weights, x))

    weights = {"w": numpy.zeros((3, 4), numpy.float32), "b": numpy.zeros(4, numpy.float32)}
    for _ in range(3):
        weights = jax.jit(step)(weights, numpy.ones((2, 3), numpy.float32))
    jax.block_until_ready(weights)


def jit_convolution(jax):
    jax.jit(lambda x, k: jax.lax.conv(x, k, (1, 1), "SAME"))(numpy.zeros((1, 1, 5, 5), numpy.float32), numpy.zeros((2, 1, 3, 3), numpy.float32))


def jit_scan(jax):
    jax.jit(lambda x: jax.lax.scan(lambda c, e: (c + e, c), 0.0, x))(numpy.zeros(5, numpy.float32))


def jit_cond(jax):
    jax.jit(lambda p, x: jax.lax.cond(p, lambda y: y + 1, lambda y: y - 1, x))(True, numpy.float32(1))


def jit_sort(jax):
    jax.jit(jax.numpy.sort)(numpy.zeros(5, numpy.float32))


def jit_gather(jax):
    jax.jit(lambda x, i: x[i])(numpy.zeros((5, 2), numpy.float32), numpy.zeros(3, numpy.int32))


def jit_random(jax):
    jax.jit(lambda: jax.random.normal(jax.random.PRNGKey(0), (3,)))()


def eager(jax):
    x = jax.numpy.zeros((2, 3)) + 1
    (x @ x.T).block_until_ready()


def donation(jax):
    x = jax.device_put(numpy.zeros(4, numpy.float32))
    jax.jit(lambda y: y + 1, donate_argnums=0)(x).block_until_ready()


def asynchronous(jax):
    function = jax.jit(lambda x: x * 2)
    x = jax.device_put(numpy.zeros(4, numpy.float32))
    for _ in range(20):
        x = function(x)
    jax.block_until_ready([x, function(x)])
    jax.effects_barrier()


def ahead_of_time(jax):
    lowered = jax.jit(lambda x: x + 1).lower(jax.ShapeDtypeStruct((4,), numpy.float32))
    compiled = lowered.compile()
    compiled.cost_analysis(), compiled.memory_analysis()
    compiled.as_text()
    compiled(numpy.zeros(4, numpy.float32)).block_until_ready()


def memory_kinds_of_results(jax):
    compiled = jax.jit(lambda x: x + 1).lower(jax.ShapeDtypeStruct((4,), numpy.float32)).compile()
    compiled.input_shardings, compiled.output_shardings
    compiled.runtime_executable().get_output_memory_kinds()


def serialize(jax):
    from jax.experimental import serialize_executable

    compiled = jax.jit(lambda x: x + 1).lower(jax.ShapeDtypeStruct((4,), numpy.float32)).compile()
    arguments = inspect.signature(serialize_executable.deserialize_and_load).parameters
    # Later releases load for all devices unless some are named.
    named = {"execution_devices": jax.devices()[:1]} if "execution_devices" in arguments else {}
    loaded = serialize_executable.deserialize_and_load(*serialize_executable.serialize(compiled), **named)
    loaded(numpy.zeros(4, numpy.float32))


def executable_details(jax):
    executable = jax.jit(lambda x: x + 1).lower(jax.ShapeDtypeStruct((4,), numpy.float32)).compile().runtime_executable()
    for name in ["fingerprint", "size_of_generated_code_in_bytes", "local_devices", "hlo_modules", "get_parameter_layouts", "get_output_layouts"]:
        member = getattr(executable, name, None)
        member() if callable(member) else None


def several_devices(jax):
    mesh = jax.sharding.Mesh(numpy.array(jax.devices()), ("x",))
    sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("x"))
    array = jax.device_put(numpy.arange(4, dtype=numpy.float32), sharding)
    numpy.testing.assert_array_equal(numpy.asarray(array), numpy.arange(4))
    jax.jit(lambda x: x.sum())(array).block_until_ready()


def failing_execution(jax):
    function = jax.jit(lambda x: x - 1)
    x = jax.device_put(numpy.zeros(4, numpy.float32))
    function(x).block_until_ready()
    jax.probe.probe_fail_next_execution(8)
    try:
        function(x).block_until_ready()
    except Exception as error:  # jaxlib's exception moved between its releases
        assert "the probe fails" in str(error), str(error)
    else:
        raise AssertionError("the error of an execution is not reported")


def wrong_device(jax):
    try:
        jax.devices("probe")[99]
    except IndexError:
        pass
    jax.devices()[0].client.device_from_local_hardware_id(1) if len(jax.devices()) > 1 else None


def dlpack(jax):
    array = jax.device_put(numpy.zeros(4, numpy.float32))
    try:
        jax.dlpack.to_dlpack(array) if hasattr(jax.dlpack, "to_dlpack") else array.__dlpack__()
    except Exception as error:
        # JAX exports arrays of its own platforms only.
        assert "probe" in str(error) or "dlpack" in str(error).lower() or "platform" in str(error).lower(), str(error)


def profile(jax):
    import tempfile

    with tempfile.TemporaryDirectory() as folder, jax.profiler.trace(folder):
        jax.jit(lambda x: x + 3)(numpy.zeros(4, numpy.float32)).block_until_ready()


def topology(jax):
    from jax.experimental import topologies

    described = topologies.get_attached_topology()
    str(described.devices)


def clear(jax):
    jax.clear_caches()
    jax.live_arrays()


PROGRAMS = {
    function.__name__: function
    for function in [
        devices, device_details, put_and_get, element_types, empty_and_scalar, copy_between_devices, memory_kinds, delete, buffer_details,
        jit_add, jit_dot, jit_reduce, jit_mlp_step, jit_convolution, jit_scan, jit_cond, jit_sort, jit_gather, jit_random, eager,
        donation, asynchronous, ahead_of_time, memory_kinds_of_results, serialize, executable_details, several_devices,
        failing_execution, wrong_device, dlpack, profile, topology, clear,
    ]
}  # fmt: skip
