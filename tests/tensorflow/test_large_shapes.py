"""Results with more elements than TensorFlow can count are errors: its own functions would end the process."""

import json

import pytest

from conftest import run_program

PROGRAM = """
import json, sys
import tensorflow as tf
R, FLOAT, LONG = tf.raw_ops, tf.float32, tf.int64
large = lambda values: tf.constant(values, LONG)
zeros = lambda *shape: tf.zeros(shape, FLOAT)
CASES = {
    "UnsortedSegmentSum": lambda: R.UnsortedSegmentSum(data=zeros(1, 4), segment_ids=[0], num_segments=large(2**62)),
    "SegmentSum": lambda: R.SegmentSum(data=zeros(1, 4), segment_ids=large([2**62])),
    "ResizeBilinear": lambda: R.ResizeBilinear(images=zeros(1, 1, 1, 4), size=[2**31 - 1] * 2),
    "ResizeNearestNeighbor": lambda: R.ResizeNearestNeighbor(images=zeros(1, 1, 1, 4), size=[2**31 - 1] * 2),
    "Columns": lambda: R.ResizeNearestNeighbor(images=zeros(1, 1, 1, 64), size=[1, 2**31 - 1]),
    "CropAndResize": lambda: R.CropAndResize(
        image=zeros(1, 2, 2, 4), boxes=zeros(1, 4), box_ind=[0], crop_size=[2**31 - 1] * 2),
    "Conv3D": lambda: R.Conv3D(
        input=zeros(1, 1, 1, 1, 1), filter=zeros(0, 0, 0, 1, 1), strides=[1] * 5, padding="VALID",
        dilations=[1, 2**31 - 1, 2**31 - 1, 2**31 - 1, 1]),
    "MatMul": lambda: R.MatMul(a=zeros(2**40, 0), b=zeros(0, 2**40)),
    "ScatterNd": lambda: R.ScatterNd(
        indices=tf.zeros([0, 1], LONG), updates=zeros(0, 2**40, 0), shape=large([2**40, 2**40, 0])),
    "Rows without indices": lambda: R.ScatterNd(
        indices=tf.zeros([2**62, 0], LONG), updates=zeros(2**62, 0), shape=large([0])),
    "Fill, too many dimensions": lambda: R.Fill(dims=[1] * 255, value=1.0),
    "Diag": lambda: R.Diag(diagonal=zeros(*[1] * 128)),
}

def outcome(case):
    try:
        with tf.device("/device:MYACCEL:0"):
            return list(CASES[case]().shape)
    except Exception as error:
        return type(error).__name__

tf.config.set_soft_device_placement(False)
for case in CASES:
    print(json.dumps([case, outcome(case)]), flush=True)
"""


@pytest.fixture(scope="module")
def outcomes():
    run = run_program(PROGRAM)
    assert run.returncode == 0, run.stdout + run.stderr[-2000:]
    return dict(json.loads(line) for line in run.stdout.splitlines() if line.startswith("["))


def test_shapes_that_cannot_be_represented_are_errors(outcomes):
    assert outcomes.pop("Rows without indices") == [0]
    assert outcomes
    for case, found in outcomes.items():
        assert found in ("InvalidArgumentError", "ResourceExhaustedError"), f"{case}: {found}"
