"""Compares the texts of many programs with those that jaxlib prints. It is run by hand: it needs JAX, and a build of the printer.

    cargo build -p sp-stablehlo --example print
    python codegen/stablehlo/tests/sweep.py target/debug/examples/print PYTHON...

The PYTHONs are interpreters of environments with JAX. Each writes the programs in the newest version of its jaxlib; the last one must be able
to print VHLO, as 0.10.2 is. The exit status is 1 if a program is not read. Differing texts are listed.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ELEMENTWISE = "abs cbrt ceil cos exp expm1 floor log log1p logistic neg rsqrt sign sin sqrt tan tanh is_finite round bessel_i0e".split()
BINARY = "add sub mul div rem max min pow atan2".split()
BITWISE = "bitwise_and bitwise_or bitwise_xor shift_left shift_right_arithmetic shift_right_logical".split()
TYPES = """int4 uint4 int8 int16 int32 uint8 uint16 uint32 bool float16 bfloat16 complex64 float8_e4m3fn float8_e5m2 float8_e4m3fnuz
float8_e5m2fnuz float8_e4m3b11fnuz""".split()


def programs(jax, numpy, shape):
    """Yields names, functions and arguments."""
    lax, jnp, x = jax.lax, jax.numpy, shape(3, 4)
    integers = shape(3, 4, dtype="int32")
    yield from ((name, getattr(lax, name), [x]) for name in ELEMENTWISE)
    yield from ((name, getattr(lax, name), [x, x]) for name in BINARY)
    yield from ((name, getattr(lax, name), [integers, integers]) for name in BITWISE)
    yield from ((name, getattr(lax, name), [integers]) for name in ["population_count", "clz", "bitwise_not"])
    yield from ((f"fft_{name}", getattr(jnp.fft, name), [shape(8)]) for name in ["fft", "ifft", "rfft"])
    yield from ((f"type_{name}", lambda y, name=name: (y, jnp.ones(3, name), y.astype("float32")), [shape(3, dtype=name)]) for name in TYPES)
    yield from structured(jax, jnp, lax, shape)
    yield from constants(jnp, numpy)


def structured(jax, jnp, lax, shape):
    """Yields programs of ops with attributes and regions."""
    x, index = shape(3, 4), shape(dtype="int32")
    image = shape(1, 8, 8, 4)
    dims = ("NHWC", "HWIO", "NHWC")
    yield "scatter", lambda y, k, u: (y.at[k].set(u), y.at[k].add(u)), [shape(5, 2), shape(3, dtype="int32"), shape(3, 2)]
    yield "dynamic_slice", lambda y, k: lax.dynamic_slice(y, (k, k), (2, 2)), [x, index]
    yield "dynamic_update", lambda y, u, k: lax.dynamic_update_slice(y, u, (k, k)), [x, shape(1, 1), index]
    yield "pool", jax.grad(lambda y: lax.reduce_window(y, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID").sum()), [image]
    yield "grouped_convolution", lambda y, k: lax.conv(y, k, (1, 1), "VALID") + 1, [shape(1, 4, 8, 8), shape(4, 4, 3, 3)]
    convolution = lambda k, y: lax.conv_general_dilated(y, k, (2, 2), "SAME", rhs_dilation=(2, 2), dimension_numbers=dims, precision="highest")
    yield "gradient_of_convolution", jax.grad(lambda k, y: convolution(k, y).sum()), [shape(3, 3, 4, 2), image]
    yield "pad", lambda y: lax.pad(y, jnp.float32(0), ((1, 2, 1), (-1, 0, 2))), [x]
    yield "sort", lambda k, v: lax.sort((k, v), num_keys=1), [shape(7), shape(7, dtype="int32")]
    yield "reductions", lambda y: (jnp.argmax(y), jnp.cumsum(y), y.std(), y[::-1], jnp.clip(y, 0, 1)), [x]
    yield "switch", lambda k, y: lax.switch(k, [lambda z: z, lambda z: z * 2, lambda z: -z], y), [index, x]
    yield "scan", lambda y: lax.scan(lambda c, e: (c + e, c * e), jnp.zeros(4), y), [x]
    yield "random", lambda: (lax.rng_bit_generator(jnp.zeros(4, "uint32"), (3,)), jax.random.uniform(jax.random.PRNGKey(0), (3,))), []
    yield "random_uniform", lambda a, b: lax.rng_uniform(a, b, (3,)), [shape(), shape()]
    yield "bits", lambda y: (lax.bitcast_convert_type(y, "int32"), lax.reduce_precision(y, 5, 10)), [x]
    yield "linear_algebra", lambda a: (jnp.linalg.qr(a), jnp.linalg.eigh(a), jnp.linalg.svd(a), jnp.linalg.solve(a, a[0])), [shape(3, 3)]
    yield "einsum", lambda a, b: jnp.einsum("bij,bjk->bik", a, b, precision="high"), [shape(2, 3, 4), shape(2, 4, 5)]
    yield "attention", lambda q: jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, q) / 8) @ jnp.moveaxis(q, 1, 2), [shape(2, 5, 4, 8)]
    yield "layer_norm", lambda y: (y - y.mean(-1, keepdims=True)) / jnp.sqrt(y.var(-1, keepdims=True) + 1e-5), [x]
    yield "remat", jax.grad(jax.checkpoint(lambda y: jnp.sin(jnp.sin(y)).sum())), [x]
    yield "barrier", lambda y: lax.optimization_barrier((y, y)), [x]
    yield "donation", jax.jit(lambda y: y + 1, donate_argnums=0), [x]
    if hasattr(jax, "ffi"):
        yield "custom_call", lambda y: jax.ffi.ffi_call("target", jax.ShapeDtypeStruct((3, 4), "float32"))(y, a=1, b="text", c=2.5), [x]


def constants(jnp, numpy):
    """Yields programs with constants of random bits, of which the texts of floating-point numbers are the hard part."""
    random = numpy.random.RandomState(0)
    for bits, name, count in [(16, "float16", 60), (32, "float32", 40), (64, "float64", 40)]:
        arrays = [random.randint(0, 1 << 16, 90 * bits // 16).astype("uint16").view(name) for _ in range(count)]
        yield f"constants_{name}", lambda arrays=arrays: tuple(jnp.asarray(it) for it in arrays), []
    spread = [random.standard_normal(90) * 10.0 ** random.randint(-12, 12, 90) for _ in range(20)]
    for name in ["float32", "float64", "bfloat16"]:
        yield f"spread_{name}", lambda name=name: tuple(jnp.asarray(it).astype(name) for it in spread), []
    for name in [name for name in TYPES if name.startswith("float8")]:
        parts = [numpy.arange(start, start + 64, dtype="uint8").view(jnp.dtype(name)) for start in range(0, 256, 64)]
        yield f"constants_{name}", lambda parts=parts: tuple(jnp.asarray(it) for it in parts), []
    booleans = [random.randint(0, 2, count) == 1 for count in [*range(1, 20), 99, 100, 101, 128]]
    yield "constants_bool", lambda: tuple(jnp.asarray(it) for it in booleans), []
    yield "constants_shapes", lambda: (numpy.zeros((0, 3)), numpy.ones((1, 1)), numpy.arange(12).reshape(1, 3, 1, 4), numpy.arange(300)), []


def write(folder):
    """Writes the programs with the jaxlib of this process."""
    import jax
    import jaxlib
    import numpy
    from jaxlib.mlir.dialects import stablehlo

    jax.config.update("jax_enable_x64", True)
    target = Path(folder) / jaxlib.__version__
    target.mkdir()
    version = stablehlo.get_current_version()
    for name, function, arguments in programs(jax, numpy, lambda *dims, dtype="float32": jax.ShapeDtypeStruct(dims, dtype)):
        try:
            module = getattr(function, "lower", jax.jit(function).lower)(*arguments).compiler_ir("stablehlo")
            program = stablehlo.serialize_portable_artifact_str(str(module), version)
            (target / name).with_suffix(".mlirbc").write_bytes(program)
        except Exception as error:  # a type or an op that the release does not have, or no StableHLO
            print(f"skipped: {jaxlib.__version__} {name}: {type(error).__name__}", flush=True)


def print_all(folder):
    """Writes the text of each program with the jaxlib of this process."""
    from jax._src.interpreters import mlir
    from jaxlib.mlir import ir

    for path in Path(folder).glob("*/*.mlirbc"):
        module = ir.Module.parse(path.read_bytes(), mlir.make_ir_context())
        path.with_suffix(".mlir").write_text(module.operation.get_asm(print_generic_op_form=True))


def main(printer, *pythons):
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "JAX_PLATFORMS": "cpu"}
        for python in pythons:
            subprocess.run([python, __file__, "write", folder], check=True, env=environment, stderr=subprocess.DEVNULL)
        subprocess.run([pythons[-1], __file__, "print", folder], check=True, env=environment)
        outcomes = {"same": [], "differs": [], "not read": []}
        for path in sorted(Path(folder).glob("*/*.mlirbc")):
            result = subprocess.run([printer, path], capture_output=True, text=True)
            is_same = result.stdout == path.with_suffix(".mlir").read_text()
            outcome = "not read" if result.returncode else "same" if is_same else "differs"
            outcomes[outcome].append(f"{path.parent.name} {path.stem} {result.stderr.strip()}")
    for outcome in ["differs", "not read"]:
        print(*(f"{outcome}: {it}" for it in outcomes[outcome]), sep="\n")
    print(", ".join(f"{outcome} {len(items)}" for outcome, items in outcomes.items()))
    sys.exit(1 if outcomes["not read"] or not outcomes["same"] else 0)


if __name__ == "__main__":
    commands = {"write": write, "print": print_all}
    commands.get(sys.argv[1], lambda *_: main(*sys.argv[1:]))(*sys.argv[2:])
