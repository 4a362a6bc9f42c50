"""Models: a table of names and functions, each of which returns what `used` returns for the functions of a model.

A program traces the functions, or runs them on a device. Weights are random and inputs are small.
"""

import numpy as np
import tensorflow as tf

keras, layers = tf.keras, tf.keras.layers
# Keras 2 has no module of functions: TensorFlow's replace them.
operations = getattr(keras, "ops", tf)


def graphs_of(function, *arguments):
    """Returns the graphs of a function: its own, and its library's."""
    return [tf.function(function, autograph=False).get_concrete_function(*arguments).graph.as_graph_def()]


class Use:
    """What a program does with each function of a model; it returns a list."""

    of_function = staticmethod(graphs_of)


def used(function, *arguments):
    return Use.of_function(function, *arguments)


def scale_of(optimizer):
    """Returns the function that scales the loss for an optimizer: in Keras 2 only optimizers of float16 have one."""
    return getattr(optimizer, "scale_loss", getattr(optimizer, "get_scaled_loss", lambda loss: loss))


def training(model, x, y, loss="mean_squared_error", optimizer="sgd"):
    """Uses a step of training and inference."""
    loss, optimizer = keras.losses.get(loss), keras.optimizers.get(optimizer)
    if keras.mixed_precision.global_policy().name == "mixed_float16":
        optimizer = keras.mixed_precision.LossScaleOptimizer(optimizer)
    model(x)
    optimizer.build(model.trainable_variables)

    def step(x, y):
        with tf.GradientTape() as tape:
            found = model(x, training=True)
            value = tf.reduce_mean(loss(y, found)) + sum(model.losses)
            scaled = scale_of(optimizer)(value)
        gradients = tape.gradient(scaled, model.trainable_variables)
        if hasattr(optimizer, "get_unscaled_gradients"):  # Keras 2
            gradients = optimizer.get_unscaled_gradients(gradients)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return value

    return used(step, x, y) + used(lambda x: model(x, training=False), x)


def numbers(*shape):
    return tf.constant(np.random.default_rng(0).normal(size=shape).astype(np.float32))


def tokens(*shape, below=50):
    return tf.constant(np.random.default_rng(0).integers(1, below, shape))


def layer(make, x):
    """Uses a model of one layer and a dense one."""
    inputs = keras.Input(x.shape[1:], dtype=x.dtype)
    hidden = make()(inputs)
    hidden = layers.Flatten()(hidden) if len(hidden.shape) > 1 else hidden
    return training(keras.Model(inputs, layers.Dense(2)(hidden)), x, numbers(x.shape[0], 2))


VECTORS, ROWS, IMAGES, VOLUMES = (4, 12), (4, 10, 6), (2, 12, 12, 3), (2, 6, 6, 6, 2)
LAYERS = {
    VECTORS: """Dense(4) BatchNormalization() LayerNormalization() UnitNormalization() GroupNormalization(2) Dropout(0.5)
        GaussianDropout(0.5) GaussianNoise(0.5) AlphaDropout(0.5) ActivityRegularization(0.1) PReLU() ELU() LeakyReLU()
        ReLU(6.0) Softmax() RepeatVector(3) Reshape((3,4)) EinsumDense("ab,bc->ac",8) SpectralNormalization(layers.Dense(4))
        Normalization() Rescaling(0.5) Dense(4,kernel_regularizer="l2",kernel_constraint="max_norm")
        Dense(4,activation="gelu") Dense(4,activation="elu") Dense(4,activation="selu") Dense(4,activation="softplus")
        Dense(4,activation="softsign") Dense(4,activation="swish") Dense(4,activation="tanh") Dense(4,activation="sigmoid")
        Dense(4,activation="hard_sigmoid") Dense(4,activation="exponential") Dense(4,activation="mish")
        Dense(4,activation="relu6") Dense(4,activation="leaky_relu") Dense(4,activation="log_softmax")""",
    ROWS: """Conv1D(4,3) Conv1D(4,3,padding="causal",dilation_rate=2) Conv1DTranspose(4,3) SeparableConv1D(4,3)
        DepthwiseConv1D(3) MaxPooling1D() AveragePooling1D(2) GlobalMaxPooling1D() GlobalAveragePooling1D() UpSampling1D()
        ZeroPadding1D() Cropping1D() Permute((2,1)) SpatialDropout1D(0.5) Masking() SimpleRNN(4) LSTM(4)
        LSTM(4,return_sequences=True) LSTM(4,dropout=0.2,recurrent_dropout=0.2) GRU(4) GRU(4,reset_after=False)
        Bidirectional(layers.LSTM(4)) TimeDistributed(layers.Dense(3)) BatchNormalization()""",
    IMAGES: """Conv2D(4,3) Conv2D(4,3,strides=2,padding="same") Conv2D(3,3,groups=3) Conv2D(4,3,dilation_rate=2)
        Conv2DTranspose(4,3,strides=2) SeparableConv2D(4,3) DepthwiseConv2D(3) MaxPooling2D() AveragePooling2D(2)
        GlobalMaxPooling2D() GlobalAveragePooling2D() UpSampling2D() UpSampling2D(interpolation="bilinear") ZeroPadding2D()
        Cropping2D() SpatialDropout2D(0.5) BatchNormalization() GroupNormalization(3) Resizing(8,8) CenterCrop(8,8)
        RandomFlip() RandomRotation(0.1) RandomZoom(0.1) RandomTranslation(0.1,0.1) RandomContrast(0.1) RandomBrightness(0.1)
        ConvLSTM1D(2,3)""",
    VOLUMES: """Conv3D(2,3) Conv3DTranspose(2,3) MaxPooling3D() AveragePooling3D(2) GlobalMaxPooling3D() GlobalAveragePooling3D()
        UpSampling3D() ZeroPadding3D() Cropping3D() SpatialDropout3D(0.5) BatchNormalization() ConvLSTM2D(2,3)""",
}


def layer_models():
    for shape, makes in LAYERS.items():
        for text in makes.split():
            make = lambda text=text: eval(f"layers.{text}", {"layers": layers})  # the table above
            yield f"layer {text}", lambda make=make, shape=shape: layer(make, numbers(*shape))
    yield "layer Embedding(50,4)", lambda: layer(lambda: layers.Embedding(50, 4), tokens(4, 7))
    for name in ("Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum", "Concatenate"):
        yield f"layer {name}", lambda name=name: merged(getattr(layers, name)())
    yield "layer Dot", lambda: merged(layers.Dot(1))
    for name in ("Attention", "AdditiveAttention"):
        yield f"layer {name}", lambda name=name: merged_rows(getattr(layers, name)())


def merged(merge):
    inputs = keras.Input([12])
    output = merge([layers.Dense(4)(inputs), layers.Dense(4)(inputs)])
    return training(keras.Model(inputs, layers.Dense(2)(output)), numbers(4, 12), numbers(4, 2))


def merged_rows(merge):
    inputs = keras.Input([10, 6])
    return training(keras.Model(inputs, merge([inputs, layers.Dense(6)(inputs)])), numbers(*ROWS), numbers(*ROWS))


def mlp():
    return keras.Sequential([keras.Input([12]), layers.Dense(8, activation="relu"), layers.Dense(4, activation="softmax")])


LOSSES = """mean_squared_error mean_absolute_error mean_absolute_percentage_error mean_squared_logarithmic_error huber log_cosh
    categorical_crossentropy binary_crossentropy kl_divergence poisson hinge squared_hinge categorical_hinge cosine_similarity
    binary_focal_crossentropy categorical_focal_crossentropy""".split()
OPTIMIZERS = "SGD RMSprop Adam AdamW Adadelta Adagrad Adamax Adafactor Nadam Ftrl Lion Lamb".split()
METRICS = """Accuracy BinaryAccuracy CategoricalAccuracy SparseCategoricalAccuracy TopKCategoricalAccuracy AUC Precision Recall
    MeanSquaredError RootMeanSquaredError MeanIoU(4) F1Score CosineSimilarity KLDivergence R2Score""".split()


def loss_models():
    y = tf.one_hot(tf.range(4), 4)
    for name in LOSSES:
        yield f"loss {name}", lambda name=name: training(mlp(), numbers(4, 12), y, loss=name)
    sparse = lambda: training(mlp(), numbers(4, 12), tf.range(4), loss="sparse_categorical_crossentropy")
    yield "loss sparse_categorical_crossentropy", sparse
    logits = keras.losses.BinaryCrossentropy(from_logits=True)
    yield "loss BinaryCrossentropy(from_logits)", lambda: training(mlp(), numbers(4, 12), y, loss=logits)


def optimizer_models():
    y = tf.one_hot(tf.range(4), 4)
    for name in OPTIMIZERS:
        make = lambda name=name: getattr(keras.optimizers, name)(0.01)
        yield f"optimizer {name}", lambda make=make: training(mlp(), numbers(4, 12), y, optimizer=make())
    clipped = lambda: keras.optimizers.SGD(0.1, momentum=0.9, nesterov=True, global_clipnorm=1.0)
    yield "optimizer SGD(nesterov, global_clipnorm)", lambda: training(mlp(), numbers(4, 12), y, optimizer=clipped())
    averaged = lambda: keras.optimizers.Adam(0.1, clipvalue=1.0, amsgrad=True, use_ema=True, weight_decay=0.1)
    yield "optimizer Adam(amsgrad, clipvalue, ema)", lambda: training(mlp(), numbers(4, 12), y, optimizer=averaged())


def metric_graphs(text):
    name, _, arguments = text.rstrip(")").partition("(")
    metric = getattr(keras.metrics, name)(*[int(it) for it in arguments.split(",") if it])
    sparse = name in ("SparseCategoricalAccuracy", "Accuracy", "MeanIoU")
    y = tf.range(4) if sparse else tf.one_hot(tf.range(4), 4)
    found = tf.nn.softmax(numbers(4, 4)) if name not in ("Accuracy", "MeanIoU") else tf.range(4)
    metric.update_state(y, found)

    def update(y, found):
        metric.update_state(y, found)
        return metric.result()

    return used(update, y, found)


def metric_models():
    for name in METRICS:
        yield f"metric {name}", lambda name=name: metric_graphs(name)


APPLICATIONS = {
    "MobileNet": 32, "MobileNetV2": 32, "MobileNetV3Small": 32, "EfficientNetB0": 32, "EfficientNetV2B0": 32, "ResNet50": 32,
    "ResNet50V2": 32, "DenseNet121": 32, "VGG16": 32, "InceptionV3": 75, "InceptionResNetV2": 75, "Xception": 71,
    "NASNetMobile": 32, "ConvNeXtTiny": 32,
}


def application_models():
    y = tf.one_hot([0, 1], 10)
    for name, size in APPLICATIONS.items():
        options = {"weights": None, "classes": 10, "input_shape": (size, size, 3)}
        make = lambda name=name, options=options: getattr(keras.applications, name)(**options)
        graphs = lambda make=make, size=size: training(make(), numbers(2, size, size, 3), y, "categorical_crossentropy")
        yield f"application {name}", graphs
