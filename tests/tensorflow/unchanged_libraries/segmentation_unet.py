"""segmentation-models: Unet on ResNet-18 with random weights, `fit` with its Dice and focal losses and its scores."""
# packages: segmentation_models, tf_keras, skimage
# rtol: 1e-2: 60 convolutions

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["SM_FRAMEWORK"] = "tf.keras"
import numpy as np
import segmentation_models as sm
import tensorflow as tf
from report import report

tf.keras.utils.set_random_seed(1)
images = np.random.uniform(0, 1, (4, 32, 32, 3)).astype("float32")
masks = (images[..., :1] > 0.5).astype("float32")

model = sm.Unet("resnet18", input_shape=(32, 32, 3), encoder_weights=None, decoder_filters=(32, 16, 16, 8, 8))
loss = sm.losses.DiceLoss() + sm.losses.BinaryFocalLoss()
model.compile("adam", loss=loss, metrics=[sm.metrics.IOUScore(threshold=0.5), sm.metrics.FScore(threshold=0.5)])
history = model.fit(images, masks, batch_size=2, epochs=1, shuffle=False, verbose=0)
report(history=history.history, scores=model.evaluate(images, masks, batch_size=2, verbose=0))
