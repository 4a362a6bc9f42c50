"""segmentation-models: FPN, Linknet and PSPNet on MobileNets with random weights, a step of each loss of several classes."""
# packages: segmentation_models, tf_keras, skimage
# rtol: 1e-2: 60 convolutions

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["SM_FRAMEWORK"] = "tf.keras"
import numpy as np
import segmentation_models as sm
import tensorflow as tf
from report import report

images = np.random.RandomState(0).uniform(0, 1, (2, 48, 48, 3)).astype("float32")
masks = tf.keras.utils.to_categorical(images.argmax(-1), 3)
losses = {"FPN": sm.losses.JaccardLoss(), "Linknet": sm.losses.CategoricalFocalLoss(), "PSPNet": sm.losses.CategoricalCELoss()}


def first_step(name, size):
    tf.keras.utils.set_random_seed(1)
    model = getattr(sm, name)("mobilenet", classes=3, activation="softmax", input_shape=(size, size, 3), encoder_weights=None)
    model.compile("sgd", loss=losses[name], metrics=[sm.metrics.IOUScore()])
    return model.fit(images[:, :size, :size], masks[:, :size, :size], verbose=0).history


report(FPN=first_step("FPN", 32), Linknet=first_step("Linknet", 32), PSPNet=first_step("PSPNet", 48))
