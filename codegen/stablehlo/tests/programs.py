"""Writes the programs that JAX sends to PJRT_Client_Compile, and the texts of them that jaxlib prints.

    python codegen/stablehlo/tests/programs.py PROBE PYTHON...

PROBE is the library that `tests/pjrt-demand` builds, `target/made/pjrt/libprobe.so`, PYTHON the interpreter of an environment with JAX. For each release there is a folder
in `programs`, and in it for each program NAME.mlirbc, the bytes, and NAME.mlir, the text in the generic form. The text is that of the last
PYTHON, whose jaxlib must be able to print VHLO: 0.10.2 is, 0.7.2 is not.
"""

import os
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "programs"


def dot(jax, shape):
    return jax.numpy.dot, [shape(4, 8), shape(8, 2)]


def mlp_step(jax, shape):
    """Returns a step of training: two layers, the cross entropy of a softmax, gradients, and an update."""

    def loss(weights, images, labels):
        hidden = jax.nn.relu(images @ weights["w1"] + weights["b1"])
        logits = jax.nn.log_softmax(hidden @ weights["w2"] + weights["b2"])
        return -jax.numpy.mean(jax.numpy.sum(jax.nn.one_hot(labels, 10) * logits, axis=1))

    def step(weights, images, labels):
        value, gradients = jax.value_and_grad(loss)(weights, images, labels)
        return value, jax.tree_util.tree_map(lambda w, g: w - 0.1 * g, weights, gradients)

    weights = {"w1": shape(16, 32), "b1": shape(32), "w2": shape(32, 10), "b2": shape(10)}
    return step, [weights, shape(8, 16), shape(8, dtype="int32")]


def convolution(jax, shape):
    """Returns a convolution with a bias, and the maximum of each window of its result."""

    def layer(images, kernel, bias):
        dims = ("NHWC", "HWIO", "NHWC")
        result = jax.lax.conv_general_dilated(images, kernel, (2, 1), "SAME", dimension_numbers=dims) + bias
        return jax.lax.reduce_window(result, -jax.numpy.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")

    return layer, [shape(1, 8, 8, 3), shape(3, 3, 3, 4), shape(4)]


def control_flow(jax, shape):
    """Returns a loop, a condition, a sort, a gather, a call of a library, and constants of several types."""

    def function(x, indices, matrix):
        numpy = jax.numpy
        total = jax.lax.fori_loop(0, 4, lambda i, s: jax.lax.cond(i % 2 == 0, lambda v: v * 2, lambda v: v - 1, s), x)
        mask = numpy.array([True, False, True, True, False, False, True, True, True])
        table = numpy.array([[1.5, -2.25], [3e-8, float("inf")]], "bfloat16")
        halves = numpy.array([1 / 3, 65504, 6e-8, -0.0], "float16")
        digits = numpy.array([1 / 3, 16777216, 1e-30, 123456.7, 3.1415927, 0.1234567, -1e10, 1234567], "float32")
        large = numpy.array([[i % 7 - 3 for i in range(60)] for _ in range(2)], "int16")
        rotated = (x.astype("complex64") * numpy.array([1j, 2, 3, 0.5, 1 / 3], "complex64")).real
        factor, bytes_ = numpy.linalg.cholesky(matrix), numpy.uint8(200) + numpy.zeros(2, "uint8")
        return numpy.sort(total)[indices], mask, table, halves, digits, large, rotated, factor, bytes_

    return function, [shape(5), shape(3, dtype="int32"), shape(3, 3)]


def sharded(jax, shape):
    """Returns a sum over an array that two devices share. In 0.10.2 it has parts of the dialect sdy, which the reader keeps as bytes."""
    mesh = jax.sharding.Mesh(jax.devices(), ("x",))
    sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("x"))

    def function(x):
        return jax.lax.with_sharding_constraint(x * 2, sharding).sum()

    return jax.jit(function, in_shardings=sharding), [shape(8)]


PROGRAMS = [dot, mlp_step, convolution, control_flow, sharded]


def compile_program(name):
    """Compiles a program in this process, which has JAX; the probe writes the bytes."""
    probe = os.environ["SP_PROBE_LIBRARY"]
    sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tests" / "pjrt"))
    import jax.numpy
    import jax_host

    jax_host.load(probe)
    jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")
    function, arguments = globals()[name](jax, lambda *dims, dtype="float32": jax.ShapeDtypeStruct(dims, dtype))
    getattr(function, "lower", jax.jit(function).lower)(*arguments).compile()


def print_program(path):
    """Prints a program in the generic form, with the jaxlib of this process."""
    from jax._src.interpreters import mlir
    from jaxlib.mlir import ir

    module = ir.Module.parse(Path(path).read_bytes(), mlir.make_ir_context())
    print(module.operation.get_asm(print_generic_op_form=True), end="")


def run(python, *arguments, **variables):
    return subprocess.run([python, __file__, *arguments], env={**os.environ, **variables}, check=True, capture_output=True, text=True).stdout


def main(probe, *pythons):
    for python in pythons:
        release = subprocess.run([python, "-c", "import jaxlib; print(jaxlib.__version__)"], check=True, capture_output=True, text=True)
        folder = FOLDER / release.stdout.strip()
        folder.mkdir(parents=True, exist_ok=True)
        for program in PROGRAMS:
            path = folder / f"{program.__name__}.mlirbc"
            run(python, "compile", program.__name__, SP_PROBE_LIBRARY=probe, SP_PROBE_PROGRAM=str(path))
            path.with_suffix(".mlir").write_text(run(pythons[-1], "print", str(path), JAX_PLATFORMS="cpu"))


if __name__ == "__main__":
    commands = {"compile": compile_program, "print": print_program}
    commands.get(sys.argv[1], lambda *_: main(*sys.argv[1:]))(*sys.argv[2:])
