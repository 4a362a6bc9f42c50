"""tf.image: resizing in each way, colors, crops, boxes, quality, non-maximum suppression, coding."""
# rtol: 1e-3

import numpy as np
import tensorflow as tf
from report import report

image = tf.image
x = tf.constant(np.random.RandomState(1).uniform(size=(2, 12, 10, 3)).astype("float32"))
bytes_ = tf.cast(x[0] * 255, tf.uint8)
boxes = tf.constant([[0.0, 0.0, 0.5, 0.5], [0.1, 0.1, 0.55, 0.5], [0.5, 0.5, 1.0, 1.0]])
resized = {name: image.resize(x, [7, 15], method=name) for name in ["nearest", "bilinear", "bicubic", "area", "lanczos3"]}


@tf.function
def changed(x):
    y = image.adjust_hue(image.adjust_saturation(image.adjust_contrast(x, 1.3), 0.7), 0.1)
    return image.stateless_random_flip_left_right(image.rot90(image.adjust_brightness(y, 0.1)), [1, 2])


with tf.GradientTape() as tape:
    tape.watch(x)
    total = tf.reduce_sum(image.resize(x, [6, 5]) ** 2)
report(
    **resized,
    changed=changed(x),
    gradient=tape.gradient(total, x),
    cropped=image.crop_and_resize(x, boxes, [0, 1, 1], [4, 4]),
    suppressed=image.non_max_suppression(boxes, tf.constant([0.9, 0.8, 0.7]), 3, iou_threshold=0.5),
    gray=image.rgb_to_grayscale(x),
    colors=image.hsv_to_rgb(image.rgb_to_hsv(x)),
    yuv=image.rgb_to_yuv(x),
    patches=image.extract_patches(x, [1, 3, 3, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID"),
    edges=image.sobel_edges(x),
    variation=image.total_variation(x),
    similarity=image.ssim(x, x * 0.9, max_val=1.0, filter_size=5),
    noise=image.psnr(x, x * 0.9, max_val=1.0),
    padded=image.resize_with_crop_or_pad(x, 8, 14),
    decoded=image.decode_png(tf.io.encode_png(bytes_)),
    standardized=image.per_image_standardization(x),
)
