"""KerasHub: an image classifier on a small ResNet and a ViT backbone."""
# packages: keras_hub
# releases: 2.16 and later

import keras
import keras_hub
import numpy as np
from report import report

keras.utils.set_random_seed(1)
images = np.random.uniform(0, 1, (8, 32, 32, 3)).astype("float32")
labels = np.arange(8) % 3


def resnet():
    return keras_hub.models.ResNetBackbone(
        input_conv_filters=[64], input_conv_kernel_sizes=[3], stackwise_num_filters=[64, 128], stackwise_num_blocks=[1, 1],
        stackwise_num_strides=[1, 2], block_type="basic_block", image_shape=(32, 32, 3),
    )


classifier = keras_hub.models.ResNetImageClassifier(backbone=resnet(), num_classes=3, preprocessor=None)
classifier.compile(optimizer=keras.optimizers.SGD(0.01), loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
history = classifier.fit(images, labels, batch_size=4, epochs=2, shuffle=False, verbose=0)

vit = keras_hub.models.ViTBackbone(
    image_shape=(32, 32, 3), patch_size=(8, 8), num_layers=2, num_heads=2, hidden_dim=16, mlp_dim=32,
)
report(history=history.history, predicted=classifier.predict(images, verbose=0), vit=vit.predict(images, verbose=0))
