"""Images: resized, cropped, transformed and colored, beside TensorFlow's kernels on the CPU."""

import itertools

import numpy as np
import pytest
import tensorflow as tf

from conftest import DEVICE
from outcomes import assert_same_outcome, INVALID, outcome, R, seeds

pytestmark = pytest.mark.usefixtures("hard_placement")

ALIGNMENTS = [{}, dict(align_corners=True), dict(half_pixel_centers=True)]
SIZES = [(1, 1), (3, 5), (8, 2), (13, 17), (5, 6)]
TYPES = [np.float32, np.float64, np.uint8]
OUT_OF_RANGE, PRECONDITION = tf.errors.OutOfRangeError, tf.errors.FailedPreconditionError


def image(*dims, dtype=np.float32, seed=0):
    values = np.random.default_rng(seed).uniform(0, 200, dims)
    return values.astype(dtype) if dtype == np.uint8 else (values / 200).astype(dtype)


@pytest.mark.parametrize("graph", [False, True])
@pytest.mark.parametrize("alignment", ALIGNMENTS, ids=str)
def test_resized_images_and_gradients(calls, alignment, graph):
    for size, dtype in itertools.product(SIZES, TYPES):
        x, about = image(2, 5, 6, 3, dtype=dtype), f"{size} {dtype}"
        run = lambda op: lambda **data: getattr(R, op)(**data, **alignment)
        assert_same_outcome("ResizeBilinear", calls, run("ResizeBilinear"), 1e-6, about, graph, images=x, size=np.array(size, np.int32))
        assert_same_outcome("ResizeNearestNeighbor", calls, run("ResizeNearestNeighbor"), 0, about, graph, images=x, size=np.array(size, np.int32))
        if dtype == np.uint8:
            continue
        dy = image(2, *size, 3, seed=1)
        assert_same_outcome("ResizeBilinearGrad", calls, run("ResizeBilinearGrad"), 1e-5, about, graph, grads=dy, original_image=x)
        data = dict(grads=dy.astype(dtype), size=np.array([5, 6], np.int32))
        assert_same_outcome("ResizeNearestNeighborGrad", calls, run("ResizeNearestNeighborGrad"), 1e-5, about, graph, **data)


@pytest.mark.parametrize("dtype", [tf.half, tf.bfloat16], ids=lambda it: it.name)
def test_resized_images_of_16_bit_floats(calls, dtype):
    x, size = image(2, 5, 6, 3, dtype=dtype.as_numpy_dtype), np.array([7, 4], np.int32)
    assert_same_outcome("ResizeBilinear", calls, lambda **data: R.ResizeBilinear(**data), 1e-6, images=x, size=size)
    assert_same_outcome("ResizeNearestNeighbor", calls, lambda **data: R.ResizeNearestNeighbor(**data), 0, images=x, size=size)


@pytest.mark.parametrize("interpolation", ["NEAREST", "BILINEAR"])
@pytest.mark.parametrize("fill_mode", ["CONSTANT", "NEAREST", "REFLECT", "WRAP"])
def test_projective_transform_at_the_border_and_of_nan(calls, fill_mode, interpolation):
    data = dict(images=image(1, 3, 3, 2), output_shape=np.int32([5, 5]), fill_value=np.float32(0.25))
    run = lambda **data: R.ImageProjectiveTransformV3(**data, fill_mode=fill_mode, interpolation=interpolation)
    for coefficients in ([1, 0, -0.4, 0, 1, -1.3, 0, 0], [1, 0, 0.3, 0, 1, -0.5, 0, 0], [np.nan, 0, 0, 0, 1, 0, 0, 0]):
        about = str(coefficients)
        assert_same_outcome("ImageProjectiveTransformV3", calls, run, 1e-6, about, transforms=np.float32([coefficients]), **data)


@pytest.mark.parametrize("graph", [False, True])
@pytest.mark.parametrize("interpolation", ["NEAREST", "BILINEAR"])
@pytest.mark.parametrize("fill_mode", ["CONSTANT", "NEAREST", "REFLECT", "WRAP"])
def test_projective_transform(calls, fill_mode, interpolation, graph):
    for seed in seeds():
        random = np.random.default_rng(seed)
        dtype = [np.float32, np.float64, np.uint8, np.int64][seed % 4]
        x = image(2, int(random.integers(1, 7)), int(random.integers(1, 7)), 3, dtype=dtype, seed=seed)
        transforms = np.array([1, 0, 0, 0, 1, 0, 0, 0]) + random.normal(scale=[0.7, 0.7, 9, 0.7, 0.7, 9, 0.02, 0.02], size=(1 + seed % 2, 8))
        data = dict(images=x, transforms=transforms.astype(np.float32), output_shape=random.integers(1, 9, 2).astype(np.int32))
        run = lambda **data: R.ImageProjectiveTransformV3(**data, fill_mode=fill_mode, interpolation=interpolation)
        assert_same_outcome("ImageProjectiveTransformV3", calls, run, 1e-4, f"seed {seed}", graph, fill_value=np.float32(0.25), **data)
        run = lambda **data: R.ImageProjectiveTransformV2(**data, fill_mode=fill_mode, interpolation=interpolation)
        assert_same_outcome("ImageProjectiveTransformV2", calls, run, 1e-4, f"seed {seed}", graph, **data)


@pytest.mark.parametrize("graph", [False, True])
@pytest.mark.parametrize("method", ["bilinear", "nearest"])
def test_crops(calls, method, graph):
    for seed in seeds():
        random = np.random.default_rng(seed)
        count = int(random.integers(0, 5))
        x = image(3, int(random.integers(1, 7)), int(random.integers(1, 7)), 2, dtype=TYPES[seed % 3], seed=seed)
        data = dict(image=x, boxes=random.uniform(-0.3, 1.3, (count, 4)).astype(np.float32), box_ind=random.integers(0, 3, count).astype(np.int32))
        run = lambda **data: R.CropAndResize(**data, method=method, extrapolation_value=7.5)
        size = random.integers(1, 6, 2).astype(np.int32)
        assert_same_outcome("CropAndResize", calls, run, 1e-5, f"seed {seed}", graph, crop_size=size, **data)


@pytest.mark.parametrize("graph", [False, True])
def test_colors(calls, graph):
    gray = np.full((2, 2, 3, 3), 0.5)
    for dtype, x in itertools.product([np.float32, np.float64], [image(2, 4, 5, 3), gray, gray * 0, image(3), image(0, 3)]):
        x = x.astype(dtype)
        for op in ("RGBToHSV", "HSVToRGB"):
            assert_same_outcome(op, calls, lambda images: getattr(R, op)(images=images), 1e-6, f"{op} {x.shape}", graph, images=x)
    for x, by in itertools.product([image(2, 4, 5, 3), image(4, 5, 3), gray.astype(np.float32)], [0.0, 0.3, 2.0]):
        by = np.float32(by)
        assert_same_outcome("AdjustContrastv2", calls, lambda **data: R.AdjustContrastv2(**data), 1e-5, str(by), graph, images=x, contrast_factor=by)
        assert_same_outcome("AdjustSaturation", calls, lambda **data: R.AdjustSaturation(**data), 1e-5, str(by), graph, images=x, scale=by)
        assert_same_outcome("AdjustHue", calls, lambda **data: R.AdjustHue(**data), 1e-5, str(by), graph, images=x, delta=np.float32(by / 3))


@pytest.mark.parametrize("graph", [False, True])
@pytest.mark.parametrize("attributes", [{}, dict(depth_radius=1, bias=2.0, alpha=0.3, beta=0.75), dict(depth_radius=0), dict(depth_radius=100, beta=1.0)], ids=str)
def test_local_response_normalization(calls, attributes, graph):
    for dims in [(2, 3, 4, 7), (1, 2, 2, 1), (0, 3, 4, 2)]:
        x, dy = image(*dims), image(*dims, seed=1)
        assert_same_outcome("LRN", calls, lambda input: R.LRN(input=input, **attributes), 1e-5, str(dims), graph, input=x)
        with tf.device("/CPU:0"):
            y = R.LRN(input=x, **attributes).numpy()
        run = lambda **data: R.LRNGrad(**data, **attributes)
        assert_same_outcome("LRNGrad", calls, run, 1e-4, str(dims), graph, input_grads=dy, input_image=x, output_image=y)


def resize(op="ResizeBilinear", dims=(2, 5, 6, 3), size=(4, 4), **more):
    return lambda: getattr(R, op)(images=image(*dims), size=np.array(size, np.int32), **more)


def project(**more):
    data = dict(images=image(2, 5, 6, 3), transforms=np.ones((1, 8), np.float32), output_shape=[3, 4], fill_value=0.5, interpolation="NEAREST")
    return lambda: R.ImageProjectiveTransformV3(**{**data, **more})


def crop(**more):
    data = dict(image=image(2, 5, 6, 3), boxes=np.ones((1, 4), np.float32), box_ind=[1], crop_size=[2, 2])
    return lambda: R.CropAndResize(**{**data, **more})


def lrn(**more):
    return lambda: R.LRN(**{**dict(input=image(2, 5, 6, 3)), **more})


ADJUSTMENTS = {"AdjustSaturation": "scale", "AdjustHue": "delta", "AdjustContrastv2": "contrast_factor"}


def adjust(op, images, by):
    return lambda: getattr(R, op)(**{"images": images, ADJUSTMENTS[op]: by})


BOTH = dict(align_corners=True, half_pixel_centers=True)
# Wrong calls, and the error of each; or the dims of the result.
WRONG = [
    *[(resize(op, **it), error) for op in ("ResizeBilinear", "ResizeNearestNeighbor") for it, error in [
        (dict(dims=(5, 6, 3)), INVALID), (dict(dims=(2, 0, 6, 3)), INVALID), (dict(dims=(2, 5, 6, 0)), INVALID), (dict(dims=(0, 5, 6, 3)), (0, 4, 4, 3)), (dict(size=(4,)), INVALID),
        (dict(size=(4, 0)), INVALID), (dict(size=(-1, 4)), INVALID), (dict(size=4), INVALID), (dict(size=((4, 4),)), INVALID), (BOTH, INVALID)]],
    (lambda: R.ResizeBilinearGrad(grads=image(2, 4, 4, 3), original_image=image(5, 6, 3)), INVALID), (lambda: R.ResizeBilinearGrad(grads=image(4, 4, 3), original_image=image(2, 5, 6, 3)), INVALID),
    (lambda: R.ResizeBilinearGrad(grads=image(2, 0, 4, 3), original_image=image(2, 5, 6, 3)), INVALID), (lambda: R.ResizeBilinearGrad(grads=image(2, 4, 4, 3), original_image=image(2, 5, 0, 3)), INVALID),
    (lambda: R.ResizeNearestNeighborGrad(grads=image(4, 4, 3), size=[5, 6]), INVALID), (lambda: R.ResizeNearestNeighborGrad(grads=image(2, 4, 4, 3), size=[5, 0]), INVALID),
    (lambda: R.ResizeNearestNeighborGrad(grads=image(2, 0, 4, 3), size=[5, 6]), (2, 5, 6, 3)),
    (project(), (2, 3, 4, 3)), (project(images=image(5, 6, 3)), INVALID), (project(transforms=np.ones((3, 8), np.float32)), INVALID), (project(transforms=np.ones((1, 7), np.float32)), INVALID),
    (project(transforms=np.ones(8, np.float32)), INVALID), (project(output_shape=[0, 4]), INVALID), (project(output_shape=[3]), INVALID), (project(output_shape=[[3, 4]]), INVALID),
    (project(fill_value=[1.0]), INVALID), (project(images=image(0, 5, 6, 3)), (0, 3, 4, 3)), (project(images=image(2, 0, 6, 3)), (2, 3, 4, 3)), (project(transforms=np.zeros((0, 8), np.float32)), INVALID),
    (crop(), (1, 2, 2, 3)), (crop(image=image(5, 6, 3)), INVALID), (crop(image=image(2, 0, 6, 3)), INVALID), (crop(boxes=np.ones((1, 3), np.float32)), INVALID), (crop(boxes=np.ones(4, np.float32)), INVALID),
    (crop(box_ind=[0, 0]), INVALID), (crop(box_ind=0), INVALID), (crop(box_ind=[2]), OUT_OF_RANGE), (crop(box_ind=[-1]), OUT_OF_RANGE), (crop(crop_size=[0, 1]), INVALID), (crop(crop_size=[1]), INVALID),
    (crop(boxes=np.full((1, 4), np.nan, np.float32)), INVALID), (crop(boxes=np.ones((0, 4), np.float32), box_ind=np.zeros([0], np.int32)), (0, 2, 2, 3)), (crop(image=image(2, 5, 6, 0)), (1, 2, 2, 0)),
    *[(lambda op=op, dims=dims: getattr(R, op)(images=image(*dims)), error) for op in ("RGBToHSV", "HSVToRGB") for dims, error in [((2, 4), PRECONDITION), ((0,), PRECONDITION), ((), INVALID)]],
    *[(adjust(op, image(*dims), by), INVALID) for op in ADJUSTMENTS for dims, by in [((4, 3), 1.0), ((2, 4, 3), [1.0])]],
    *[(adjust(op, image(2, 4, 2), 1.0), INVALID) for op in ("AdjustSaturation", "AdjustHue")],
    (lrn(input=image(5, 6, 3)), INVALID), (lrn(depth_radius=-1), INVALID), (lrn(input=image(2, 5, 6, 0)), (2, 5, 6, 0)),
    (lambda: R.LRNGrad(input_grads=image(1, 2, 2, 3), input_image=image(1, 2, 2, 3), output_image=image(1, 2, 3, 3)), INVALID),
    (lambda: R.LRNGrad(input_grads=image(2, 2, 3), input_image=image(2, 2, 3), output_image=image(2, 2, 3)), INVALID),
]  # fmt: skip


@pytest.mark.parametrize("case", range(len(WRONG)))
def test_images_of_odd_shapes(case):
    function, expected = WRONG[case]
    with tf.device("/CPU:0"):
        of_cpu = outcome(function, "/CPU:0")
    found = outcome(function, f"/device:{DEVICE}:0")
    assert (of_cpu[0].shape if isinstance(of_cpu, list) else type(of_cpu)) == expected, repr(of_cpu)
    assert (found[0].shape if isinstance(found, list) else type(found)) == expected, repr(found)
