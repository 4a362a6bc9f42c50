"""The ops CudnnRNN, which TensorFlow's and Keras' Python choose for a device of type GPU, against the layers of Keras on the CPU."""

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.ops import cudnn_rnn_grad  # noqa: F401

from conftest import DEVICE

pytestmark = pytest.mark.usefixtures("hard_placement")
CPU, PLUGIN = "/CPU:0", f"/device:{DEVICE}:0"
TIME, BATCH, WIDTH, UNITS = 5, 3, 4, 6
MODES = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}
# Keras has the gates of a GRU as update, reset, new. It writes them for the op as reset, update, new in builds with CUDA only.
IS_CUDA_BUILD = tf.sysconfig.get_build_info()["is_cuda_build"]
ORDER = {"lstm": [0, 1, 2, 3], "gru": [1, 0, 2] if IS_CUDA_BUILD else [0, 1, 2], "rnn_tanh": [0], "rnn_relu": [0]}
LENGTHS = [5, 2, 4]


def layer(mode, reverse=False):
    options = dict(return_sequences=True, return_state=True, go_backwards=reverse)
    layers = tf.keras.layers
    if mode == "lstm":
        return layers.RNN(layers.LSTMCell(UNITS), **options)
    if mode == "gru":
        return layers.RNN(layers.GRUCell(UNITS, reset_after=True), **options)
    return layers.RNN(layers.SimpleRNNCell(UNITS, activation=mode.removeprefix("rnn_")), **options)


def parameters(mode, kernel, recurrent, bias):
    """Returns the parameters of the op from the weights of a layer: matrices of the inputs and of the state, then both biases."""
    split = lambda x: [tf.split(x, MODES[mode], axis=-1)[it] for it in ORDER[mode]]
    matrices = [tf.reshape(tf.transpose(it), [-1]) for x in (kernel, recurrent) for it in split(x)]
    biases = tf.unstack(bias) if len(bias.shape) == 2 else [bias, tf.zeros_like(bias)]
    return tf.concat(matrices + [it for x in biases for it in split(x)], axis=0)


def op(mode, x, state, memory, params, time_major=False, lengths=None, **options):
    lengths = [x.shape[0 if time_major else 1]] * x.shape[1 if time_major else 0] if lengths is None else lengths
    return tf.raw_ops.CudnnRNNV3(
        input=x, input_h=state, input_c=memory, params=params, sequence_lengths=lengths, rnn_mode=mode, time_major=time_major, **options
    )


def operands(mode, dtype=np.float32):
    random = np.random.default_rng(5)
    x = tf.constant(random.normal(size=(BATCH, TIME, WIDTH)), dtype)
    gates = MODES[mode]
    kernel, recurrent = (tf.constant(random.normal(scale=0.5, size=(rows, gates * UNITS)), dtype) for rows in (WIDTH, UNITS))
    bias = tf.constant(random.normal(size=(2, gates * UNITS) if mode == "gru" else (gates * UNITS,)), dtype)
    state, memory = (tf.constant(random.normal(size=(BATCH, UNITS)), dtype) for _ in range(2))
    return x, [kernel, recurrent, bias], state, memory


def results_of_layer(mode, reverse=False, lengths=None):
    x, weights, state, memory = operands(mode)
    with tf.device(CPU):
        cell = layer(mode, reverse)
        cell.build(x.shape)
        cell.set_weights([it.numpy() for it in weights])
        mask = None if lengths is None else tf.sequence_mask(lengths, TIME)
        with tf.GradientTape() as tape:
            tape.watch([x, state])
            outputs, *states = cell(x, mask=mask, initial_state=[state, memory] if mode == "lstm" else [state])
            total = tf.reduce_sum(states[0] ** 2) + (tf.reduce_sum(outputs**3) if mask is None else 0)
        gradients = tape.gradient(total, [x, state, *cell.trainable_weights])
    return outputs, states[0], gradients


def results_of_op(mode, time_major=False, lengths=None, dtype=np.float32):
    x, weights, state, memory = operands(mode, dtype)
    exchange = (lambda it: tf.transpose(it, [1, 0, 2])) if time_major else (lambda it: it)
    with tf.device(PLUGIN), tf.GradientTape() as tape:
        tape.watch([x, state, *weights])
        states = [exchange(it[:, None]) for it in (state, memory)]
        outputs, last, *_ = op(mode, exchange(x), *states, parameters(mode, *weights), time_major, lengths)
        outputs, last = exchange(outputs), exchange(last)[:, 0]
        total = tf.reduce_sum(last**2) + (tf.reduce_sum(outputs**3) if lengths is None else 0)
        gradients = tape.gradient(total, [x, state, *weights])
    return outputs, last, gradients


def assert_close(found, expected, tolerance=2e-5):
    for one, other in zip(tf.nest.flatten(found), tf.nest.flatten(expected), strict=True):
        np.testing.assert_allclose(tf.cast(one, tf.float64), tf.cast(other, tf.float64), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("time_major", [False, True])
@pytest.mark.parametrize("mode", MODES)
def test_network_is_the_layer_of_keras(calls, mode, time_major):
    before = calls().get("CudnnRNNBackpropV3", 0)
    assert_close(results_of_op(mode, time_major), results_of_layer(mode))
    assert calls()["CudnnRNNBackpropV3"] == before + 1


@pytest.mark.parametrize("mode", ["lstm", "gru"])
def test_shorter_sequences_end_with_their_last_step(mode):
    found, expected = results_of_op(mode, lengths=LENGTHS), results_of_layer(mode, lengths=LENGTHS)
    assert_close(found[1:], expected[1:])
    for sequence, length in enumerate(LENGTHS):
        assert_close(found[0][sequence, :length], expected[0][sequence, :length])
        assert not np.any(found[0][sequence, length:])


@pytest.mark.parametrize("dtype, tolerance", [(np.float64, 2e-5), (np.float16, 3e-2)])
@pytest.mark.parametrize("mode", ["lstm", "gru"])
def test_other_types(mode, dtype, tolerance):
    outputs, last, _ = results_of_op(mode, dtype=dtype)
    assert outputs.dtype == dtype
    expected = results_of_layer(mode)
    assert_close([outputs, last], list(expected[:2]), tolerance)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("op_name", ["CudnnRNN", "CudnnRNNV2"])
def test_older_ops_are_the_newest_one(mode, op_name):
    x, weights, state, memory = operands(mode)
    arguments = dict(input=tf.transpose(x, [1, 0, 2]), input_h=state[None], input_c=memory[None], params=parameters(mode, *weights), rnn_mode=mode)
    with tf.device(PLUGIN):
        found = getattr(tf.raw_ops, op_name)(**arguments)
    outputs, last, _ = results_of_layer(mode)
    assert_close([tf.transpose(found.output, [1, 0, 2]), found.output_h[0]], [outputs, last])


def test_second_direction_reads_from_the_end():
    forward, backward = (results_of_layer("gru", reverse) for reverse in (False, True))
    x, weights, state, _ = operands("gru")
    one = parameters("gru", *weights)
    split = 3 * UNITS * (WIDTH + UNITS)
    params = tf.concat([one[:split], one[:split], one[split:], one[split:]], axis=0)
    states = tf.stack([state, state], axis=1)
    with tf.device(PLUGIN):
        outputs, last, *_ = op("gru", x, states, tf.zeros_like(states), params, direction="bidirectional")
    assert_close([outputs[..., :UNITS], last[:, 0]], list(forward[:2]))
    assert_close([outputs[:, ::-1, UNITS:], last[:, 1]], list(backward[:2]))


def test_dropout_is_between_layers_and_in_training_only():
    def run(dropout, is_training):
        layers, size = 2, 4 * UNITS * (UNITS + UNITS)
        params = tf.concat([tf.random.stateless_uniform([2 * size], [1, 2], -0.4, 0.4), tf.zeros([layers * 2 * 4 * UNITS])], axis=0)
        x = tf.random.stateless_normal([BATCH, TIME, UNITS], [3, 4])
        states = tf.zeros([BATCH, layers, UNITS])
        with tf.device(PLUGIN):
            return op("lstm", x, states, states, params, dropout=dropout, seed=7, is_training=is_training).output

    without = run(0.0, True)
    assert_close(run(0.5, False), without)
    dropped = run(0.5, True)
    assert np.abs(dropped - without).max() > 1e-3
    # Without an input the second layer's state is that of its biases, which are 0.
    assert not np.any(run(1.0, True))


@pytest.mark.parametrize("version", ["", "V2"])
@pytest.mark.parametrize("direction, mode", [("unidirectional", "lstm"), ("bidirectional", "gru")])
def test_parameters_and_their_parts(version, direction, mode):
    sizes = dict(num_layers=2, num_units=3, input_size=5)
    attributes = dict(rnn_mode=mode, direction=direction)
    directions = 2 if direction == "bidirectional" else 1
    gates, parts = MODES[mode], 2 * 2 * directions * MODES[mode]
    counts = dict(num_params=parts) if not version else dict(num_params_weights=parts, num_params_biases=parts)
    with tf.device(PLUGIN):
        size = tf.raw_ops.CudnnRNNParamsSize(**sizes, **attributes, T=tf.float32, S=tf.int64)
        widths = [5 + 3, 3 * directions + 3]
        assert size.numpy().tolist() == [directions * gates * 3 * (sum(widths) + 4)]
        params = tf.range(float(size[0]))
        to_parts, to_params = (getattr(tf.raw_ops, f"CudnnRNN{it}{version}") for it in ("ParamsToCanonical", "CanonicalToParams"))
        weights, biases = to_parts(**sizes, params=params, **counts, **attributes)
        assert [it.shape.as_list() for it in weights[: 2 * gates]] == [[3, 5]] * gates + [[3, 3]] * gates
        assert {tuple(it.shape) for it in biases} == {(3,)}
        again = to_params(**sizes, weights=weights, biases=biases, **attributes)
    np.testing.assert_array_equal(again, params)


@pytest.mark.parametrize("change, message", [
    (dict(params=tf.zeros([7])), "params must be a vector of 288 elements"),
    (dict(input_h=tf.zeros([BATCH, UNITS])), "input_h must be rank 3"),
    (dict(input_h=tf.zeros([BATCH + 1, 1, UNITS])), "does not match the batch"),
    (dict(input_c=tf.zeros([BATCH, 1, UNITS + 1])), "input_c must have shape"),
    (dict(sequence_lengths=[1, 2, TIME + 1]), "sequence_lengths must be"),
    (dict(sequence_lengths=[1, 2]), "sequence_lengths must be"),
    (dict(input_mode="skip_input"), "there is no network"),
])  # fmt: skip
def test_wrong_arguments_are_errors(change, message):
    x, weights, state, memory = operands("lstm")
    arguments = dict(input=x, input_h=state[:, None], input_c=memory[:, None], params=parameters("lstm", *weights), sequence_lengths=[TIME] * BATCH)
    with tf.device(PLUGIN), pytest.raises(tf.errors.InvalidArgumentError, match=message):
        tf.raw_ops.CudnnRNNV3(**{**arguments, **change}, time_major=False)


@pytest.mark.parametrize("batch, time, units", [(0, 2**30, 6), (3, 0, 6), (3, 5, 0)])
def test_networks_without_outputs_end(batch, time, units):
    x, state = tf.zeros([batch, time, WIDTH]), tf.ones([batch, 1, units])
    params = tf.ones([4 * units * (WIDTH + units + 2)])
    with tf.device(PLUGIN), tf.GradientTape() as tape:
        tape.watch([params, x])
        outputs, last, *_ = op("lstm", x, state, state, params, lengths=tf.fill([batch], time if batch else 0))
        total = tf.reduce_sum(last) + tf.reduce_sum(outputs)
    assert outputs.shape == [batch, time, units]
    np.testing.assert_array_equal(last, state)
    for gradient in tape.gradient(total, [params, x]):
        assert not np.any(gradient)


def test_projection_is_an_error():
    x, weights, state, memory = operands("lstm")
    with tf.device(PLUGIN), pytest.raises(tf.errors.UnimplementedError, match="num_proj is 2"):
        op("lstm", x, state[:, None], memory[:, None], parameters("lstm", *weights), num_proj=2)
