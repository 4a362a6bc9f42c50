"""Lists of kernels whose size depends on an input are allocated by `sp_runtime::allocation`: `python -m pytest tests/pages`.

Rust's own functions end the process if there is not enough memory. `BOUNDED` has the number of calls of them in each file, and
why the memory of these does not grow with an input.
"""

import pathlib
import re

SOURCES = pathlib.Path(__file__).resolve().parents[2] / "templates" / "cpu" / "src"
CALL = re.compile(
    r"\bvec!\[(?!\])|\b(?:Vec|String|VecDeque|HashMap|BinaryHeap)::(?:with_capacity|from)\b|\.(?:try_)?collect\b|\.to_vec\(|\.to_owned\("
    r"|\.into_boxed|\.extend\(|\.extend_from_slice\(|\.resize\(|\.push(?:_back)?\(|\.concat\(|\.repeat\(|\.unzip\("
    r"|\.to_mut\(|\.into_owned\(|make_mut\(|\bBTree|Arc<\["
)
RANK = "dims and axes, in an `InlineList`, whose allocations fail the call, or at most 254 of them"
NODE = "attributes of a node, or the number of its inputs"
RESERVED = "the memory is reserved before by `allocation`"
ERROR = "the text of an error"
BOUNDED = {
    "compute/ops/checks.rs": (1, ERROR),
    "compute/ops/einsum.rs": (18, RANK),
    "compute/machine/error.rs": (4, ERROR),
    "compute/ops/fourier/axes.rs": (3, RANK),
    "compute/ops/fourier/plan.rs": (3, "the factors of a length, and the plans that are stored"),
    "compute/ops/image/suppression.rs": (1, RESERVED),
    "compute/machine/inline.rs": (2, RANK),
    "compute/ops/matmul/batch.rs": (4, RANK),
    "compute/ops/movement/diagonal.rs": (2, RANK),
    "compute/ops/movement/format.rs": (4, "the letters of a layout"),
    "compute/ops/movement/gather_nd.rs": (2, RANK),
    "compute/ops/movement/pad.rs": (2, RANK),
    "compute/ops/movement/reshape.rs": (5, RANK),
    "compute/ops/movement/slice.rs": (2, RANK),
    "compute/ops/movement/space.rs": (5, RANK),
    "compute/ops/movement/strided_slice.rs": (10, RANK),
    "compute/ops/movement/view.rs": (9, RANK),
    "compute/ops/nn/bias.rs": (1, RANK),
    "compute/ops/nn/epilogue.rs": (1, "names of ops"),
    "compute/ops/nn/conv/direct.rs": (1, "the parts of a gradient, at most `PARTS`"),
    "compute/ops/nn/recurrent/saved.rs": (1, "the directions of a layer"),
    "compute/machine/parallel/mod.rs": (1, "items without bytes"),
    "compute/machine/parallel/pool.rs": (1, "the jobs of threads"),
    "compute/machine/parallel/several.rs": (3, "chunks for threads"),
    "compute/loops/reduce/plan.rs": (6, RANK),
    "compute/loops/rows.rs": (6, RANK),
    "compute/ops/scatter_nd.rs": (4, RANK),
    "compute/loops/search/unique.rs": (1, "the first 64 entries of a table"),
    "compute/ops/segment.rs": (2, "no list: `Running::extend`"),
    "compute/machine/shape.rs": (4, RANK),
    "compute/machine/simd/mod.rs": (1, "names of instruction sets"),
    "compute/ops/sparse/matrix.rs": (1, RANK),
    "compute/ops/steps/merge.rs": (3, NODE),
    "compute/ops/steps/plan.rs": (13, NODE),
    "compute/ops/steps/run.rs": (4, NODE),
    "compute/loops/strided.rs": (3, RANK),
    "compute/machine/workspace.rs": (2, RESERVED),
    "kernels/activation.rs": (1, NODE),
    "kernels/cast.rs": (6, "at most four types"),
    "kernels/checks.rs": (1, NODE),
    "kernels/complex_arrays.rs": (3, RANK),
    "kernels/conv_batches.rs": (2, RANK),
    "kernels/cudnn_rnn/parameters.rs": (1, "the gates of a cell"),
    "kernels/diagonal.rs": (4, RANK),
    "kernels/einsum.rs": (3, RANK),
    "kernels/fourier.rs": (2, RANK),
    "kernels/batch_norm/instances.rs": (1, NODE),
    "kernels/fused.rs": (3, NODE),
    "kernels/gather.rs": (3, RANK),
    "kernels/join.rs": (5, RANK),
    "kernels/layout.rs": (1, RANK),
    "kernels/mod.rs": (1, RANK),
    "kernels/movement.rs": (2, RANK),
    "kernels/partition.rs": (3, RANK),
    "kernels/patches.rs": (1, NODE),
    "kernels/rows.rs": (1, RANK),
    "kernels/search.rs": (2, RANK),
    "kernels/segment.rs": (4, RANK),
    "kernels/space.rs": (2, RESERVED),
    "kernels/sparse_segment.rs": (2, RANK),
    "kernels/steps.rs": (9, NODE),
    "kernels/xla.rs": (3, RANK),
}


def code(text):
    """Returns the lines of a source file without comments and tests."""
    text = re.split(r"^#\[cfg\(test\)\]\n(?:#\[.*\n)*(?:pub(?:\(.*\))? )?mod \w+ \{", text, flags=re.MULTILINE)[0]
    return [line.partition("//")[0] for line in text.splitlines()]


def infallible(text):
    """Returns the lines that allocate memory by functions which end the process."""
    lines = code(text)
    return [line.strip() for line in lines if CALL.search(line) and "allocation::" not in line and "table.extend(" not in line]


def messages_with_inputs(text):
    """Returns the messages that list an input's elements without `listed`, which limits their number."""
    text = "\n".join(code(text))
    calls = re.findall(r"\b(?:format|invalid)!\(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)", text)
    return [call for call in calls if re.search(r"(?<!listed\()\b[\w.]+\.(?:data|to_vec)\(\)(?!\.len)", call)]


def sources():
    """Returns the text of the files of kernels and computations, by their paths."""
    paths = [it for folder in ("compute", "kernels") for it in sorted((SOURCES / folder).rglob("*.rs"))]
    paths = [it for it in paths if it.name not in ("tests.rs", "oracle.rs") and "tests" not in it.parts[-3:-1]]
    return {str(it.relative_to(SOURCES)): it.read_text() for it in paths}


def test_finds_functions_that_end_the_process():
    text = "let x = vec![0; n];\nlet y = Vec::new();\n// vec![1]\nlet z = allocation::collect(x);\n"
    text += "#[cfg(test)]\nmod tests {\n    vec![2]\n}\n"
    assert infallible(text) == ["let x = vec![0; n];"]


def test_finds_messages_with_inputs():
    assert messages_with_inputs('format!("{name} {:?}", sizes.to_vec())\ninvalid!("{}", listed(sizes.data()))') == ['"{name} {:?}", sizes.to_vec()']


def test_messages_list_a_limited_number_of_elements():
    found = {path: messages_with_inputs(text) for path, text in sources().items()}
    assert not {path: calls for path, calls in found.items() if calls}


def test_lists_that_grow_with_an_input_fail_the_call():
    found = {path: infallible(text) for path, text in sources().items()}
    for path, lines in found.items():
        count, reason = BOUNDED.get(path, (0, "none is known"))
        about = f"{path} has {len(lines)} allocations that end the process without memory, expected {count} ({reason})"
        assert len(lines) == count, "\n".join([f"{about}: use sp_runtime::allocation, or change BOUNDED", *lines])
    assert set(BOUNDED) <= set(found)
