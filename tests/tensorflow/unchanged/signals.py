"""tf.signal: Fourier transforms, spectrograms, mel features and their gradient, windows, frames; a network on spectrograms."""
# rtol: 1e-3

import numpy as np
import tensorflow as tf
from report import report

signal = tf.signal
tf.keras.utils.set_random_seed(1)
x = np.random.normal(size=(8, 256)).astype("float32")


@tf.function
def features(x):
    spectrum = tf.abs(signal.stft(x, frame_length=64, frame_step=32))
    mel = tf.matmul(spectrum, signal.linear_to_mel_weight_matrix(10, 33, 8000))
    return signal.mfccs_from_log_mel_spectrograms(tf.math.log(mel + 1e-3))


class Spectrogram(tf.keras.layers.Layer):
    def call(self, x):
        return tf.abs(signal.stft(x, frame_length=32, frame_step=16))[..., None]


model = tf.keras.Sequential([
    Spectrogram(), tf.keras.layers.Conv2D(4, 3, activation="relu"), tf.keras.layers.GlobalAveragePooling2D(), tf.keras.layers.Dense(1)
])
model.compile("adam", "mse")
history = model.fit(x, x[:, :1], epochs=2, batch_size=4, verbose=0)
with tf.GradientTape() as tape:
    wave = tf.constant(x[:2])
    tape.watch(wave)
    energy = tf.reduce_sum(tf.abs(signal.rfft(wave)) ** 2)
spectra = signal.stft(x[:1], 64, 16, window_fn=signal.hann_window)
report(
    loss=history.history["loss"],
    features=features(tf.constant(x)),
    gradient=tape.gradient(energy, wave),
    fft=signal.fft(tf.cast(x[:1, :16], tf.complex64)),
    back=signal.irfft(signal.rfft(x[:2])),
    plane=signal.fft2d(tf.cast(tf.reshape(x[:1], [16, 16]), tf.complex64)),
    restored=signal.inverse_stft(spectra, 64, 16, window_fn=signal.inverse_stft_window_fn(16)),
    cosine=signal.dct(x[:2, :16], norm="ortho"),
    frames=signal.frame(x[0], 50, 25, pad_end=True),
    windows=signal.hamming_window(16),
)
