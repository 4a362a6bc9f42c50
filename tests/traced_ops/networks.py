"""Networks of several parts: transformers, recurrent networks, a U-Net, a VAE, a GAN, mixed precision, a decoding loop."""

import tensorflow as tf

from models import keras, layers, mlp, numbers, operations, tokens, training, used

WIDTH, WORDS = 16, 50


def block(x, mask=None, context=None):
    """Returns a block of a transformer: attention, to the context too, and a dense part."""
    attended = layers.MultiHeadAttention(2, 8, dropout=0.1)(x, x, attention_mask=mask, use_causal_mask=context is not None)
    x = layers.LayerNormalization()(x + attended)
    if context is not None:
        x = layers.LayerNormalization()(x + layers.MultiHeadAttention(2, 8)(x, context))
    hidden = layers.Dense(32, activation="gelu")(x)
    return layers.LayerNormalization()(x + layers.Dropout(0.1)(layers.Dense(WIDTH)(hidden)))


SPARSE = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def encoder():
    inputs = keras.Input([7], dtype="int64")
    mask = operations.expand_dims(operations.not_equal(inputs, 0), 1)
    x = block(layers.Embedding(WORDS, WIDTH)(inputs), mask)
    model = keras.Model(inputs, layers.Dense(3)(layers.GlobalAveragePooling1D()(x)))
    optimizer = keras.optimizers.AdamW(0.01, global_clipnorm=1.0)
    return training(model, tokens(4, 7), tf.constant([0, 1, 2, 0]), SPARSE, optimizer)


def decoder_model():
    inputs = keras.Input([7], dtype="int64")
    source = layers.Embedding(WORDS, WIDTH)(inputs)
    x = block(layers.Embedding(WORDS, WIDTH)(inputs), context=source)
    return keras.Model(inputs, layers.Dense(WORDS)(x))


def decoder():
    return training(decoder_model(), tokens(4, 7), tokens(4, 7), SPARSE, "adam")


def sampling():
    """A decoding loop: the best words, one of them by chance, until the end."""
    model = decoder_model()

    def decode(words):
        def body(step, words, found):
            logits = model(words, training=False)[:, -1]
            best, _ = tf.math.top_k(logits, 5)
            logits = tf.where(logits < best[:, -1:], -1e9, logits)
            word = tf.random.stateless_categorical(logits / 0.7, 1, seed=[step, 2], dtype=tf.int64)
            return step + 1, tf.concat([words[:, 1:], word], 1), found.write(step, word[:, 0])

        found = tf.TensorArray(tf.int64, 5, element_shape=[4])
        _, _, found = tf.while_loop(lambda step, *_: step < 5, body, [0, words, found])
        return tf.transpose(found.stack())

    model(tokens(4, 7))
    return used(decode, tokens(4, 7))


def recurrent(kind):
    model = keras.Sequential([
        keras.Input([7], dtype="int64"), layers.Embedding(WORDS, WIDTH, mask_zero=True), kind(8, return_sequences=True),
        kind(8), layers.Dense(3),
    ])
    return training(model, tokens(4, 7), tf.constant([0, 1, 2, 0]), SPARSE, "rmsprop")


def unet():
    inputs = keras.Input([16, 16, 3])
    first = layers.Conv2D(8, 3, padding="same", activation="relu")(inputs)
    down = layers.Conv2D(16, 3, padding="same", activation="relu")(layers.MaxPooling2D()(first))
    up = layers.Conv2DTranspose(8, 2, strides=2, padding="same")(layers.Dropout(0.2)(layers.BatchNormalization()(down)))
    output = layers.Conv2D(4, 1)(layers.Concatenate()([first, up]))
    return training(keras.Model(inputs, output), numbers(2, 16, 16, 3), tokens(2, 16, 16, below=4), SPARSE, "adam")


def vae():
    encode = keras.Sequential([keras.Input([12]), layers.Dense(8, activation="relu"), layers.Dense(8)])
    decode = keras.Sequential([keras.Input([4]), layers.Dense(8, activation="relu"), layers.Dense(12)])
    variables = encode.trainable_variables + decode.trainable_variables
    optimizer = keras.optimizers.Adam(0.01)
    optimizer.build(variables)

    def step(x):
        with tf.GradientTape() as tape:
            mean, log_variance = tf.split(encode(x), 2, axis=1)
            noise = tf.random.normal(tf.shape(mean))
            found = decode(mean + tf.exp(0.5 * log_variance) * noise)
            divergence = -0.5 * tf.reduce_sum(1 + log_variance - tf.square(mean) - tf.exp(log_variance), axis=1)
            error = tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.sigmoid(x), logits=found)
            loss = tf.reduce_mean(tf.reduce_sum(error, axis=1) + divergence)
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss

    return used(step, numbers(4, 12))


def gan():
    generate = keras.Sequential([
        keras.Input([6]), layers.Dense(32), layers.Reshape([4, 4, 2]), layers.BatchNormalization(), layers.LeakyReLU(),
        layers.Conv2DTranspose(3, 3, strides=2, padding="same", activation="tanh"),
    ])
    judge = keras.Sequential([
        keras.Input([8, 8, 3]), layers.Conv2D(4, 3, strides=2), layers.LeakyReLU(), layers.Dropout(0.3), layers.Flatten(),
        layers.Dense(1),
    ])
    optimizers = [keras.optimizers.Adam(1e-3, beta_1=0.5) for _ in range(2)]
    for optimizer, model in zip(optimizers, (generate, judge)):
        optimizer.build(model.trainable_variables)
    loss = keras.losses.BinaryCrossentropy(from_logits=True)

    def step(images):
        with tf.GradientTape(persistent=True) as tape:
            made = generate(tf.random.normal([2, 6]), training=True)
            real, fake = judge(images, training=True), judge(made, training=True)
            judged = loss(tf.ones_like(real), real) + loss(tf.zeros_like(fake), fake)
            generated = loss(tf.ones_like(fake), fake)
        for optimizer, model, value in zip(optimizers, (generate, judge), (generated, judged)):
            optimizer.apply_gradients(zip(tape.gradient(value, model.trainable_variables), model.trainable_variables))
        return judged + generated

    return used(step, numbers(2, 8, 8, 3))


def mixed(policy):
    keras.mixed_precision.set_global_policy(policy)
    try:
        cnn = keras.Sequential([
            keras.Input([12, 12, 3]), layers.Conv2D(4, 3, activation="relu"), layers.BatchNormalization(),
            layers.MaxPooling2D(), layers.Flatten(), layers.Dense(4, dtype="float32"),
        ])
        images = training(cnn, numbers(2, 12, 12, 3), tf.constant([0, 1]), SPARSE, keras.optimizers.Adam(0.01))
        y = tf.one_hot(tf.range(4), 4)
        return images + training(mlp(), numbers(4, 12), y, "categorical_crossentropy", keras.optimizers.SGD(0.1)) + encoder()
    finally:
        keras.mixed_precision.set_global_policy("float32")


def network_models():
    yield "transformer encoder", encoder
    yield "transformer decoder", decoder
    yield "decoding loop", sampling
    yield "LSTM", lambda: recurrent(layers.LSTM)
    yield "GRU", lambda: recurrent(layers.GRU)
    yield "U-Net", unet
    yield "VAE", vae
    yield "GAN", gan
    for policy in ("mixed_bfloat16", "mixed_float16"):
        yield policy, lambda policy=policy: mixed(policy)
