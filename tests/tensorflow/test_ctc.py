"""CTCLossV2, which TensorFlow's Python chooses for a device of type GPU, against the CPU's CTCLoss, whose blank is the last class."""

import numpy as np
import pytest
import tensorflow as tf

from conftest import DEVICE

pytestmark = pytest.mark.usefixtures("hard_placement")
TIME, BATCH, CLASSES = 7, 4, 5
LENGTHS = [7, 5, 4, 1]
# Of each sequence; 0 is the blank.
LABELS = [[1, 2, 2, 4], [3], [2, 2, 2], [4]]


def arguments(labels=LABELS, lengths=LENGTHS):
    indices = np.array([[sequence, at] for sequence, it in enumerate(labels) for at in range(len(it))], np.int64).reshape(-1, 2)
    values = np.array([it for sequence in labels for it in sequence], np.int32)
    return dict(labels_indices=indices, labels_values=values, sequence_length=np.array(lengths, np.int32))


def both(attributes, labels=LABELS):
    """Returns loss and gradient of the CPU and of the device, with the blank first."""
    logits = np.random.default_rng(3).normal(scale=2, size=(TIME, BATCH, CLASSES)).astype(np.float32)
    of_cpu = arguments(labels)
    of_cpu["labels_values"] = of_cpu["labels_values"] - 1
    with tf.device("CPU:0"):
        expected = tf.raw_ops.CTCLoss(inputs=np.roll(logits, -1, axis=2), **of_cpu, **attributes)
    with tf.device(f"{DEVICE}:0"):
        found = tf.raw_ops.CTCLossV2(inputs=logits, **arguments(labels), **attributes)
    return [expected.loss, np.roll(expected.gradient, 1, axis=2)], [found.loss, found.gradient]


@pytest.mark.parametrize("collapse", [False, True])
@pytest.mark.parametrize("merge", [False, True])
def test_loss_and_gradient_are_those_of_the_cpu(collapse, merge):
    expected, found = both(dict(preprocess_collapse_repeated=collapse, ctc_merge_repeated=merge))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)


def test_more_labels_than_steps_have_no_loss_if_they_are_ignored():
    labels = [*LABELS[:2], [1, 2, 3, 4, 1], [1]]
    expected, found = both(dict(ignore_longer_outputs_than_inputs=True), labels)
    assert found[0].numpy()[2] == 0
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("change, message", [
    (dict(labels=[[1] * 8]), "Not enough time for target transition sequence"),
    (dict(labels=[[0]]), "label 0 is not between 1 and 4"),
    (dict(labels=[[5]]), "label 5 is not between 1 and 4"),
    (dict(labels=[[], [], [], [], [1]]), "labels_indices has the sequence 4, of 4"),
    (dict(lengths=[8, 1, 1, 1]), "sequence_length must be between 0 and 7"),
    (dict(lengths=[1, 1]), "sequence_length must be a vector of 4 elements"),
])  # fmt: skip
def test_wrong_arguments_are_errors(change, message):
    with tf.device(f"{DEVICE}:0"), pytest.raises(tf.errors.InvalidArgumentError, match=message):
        tf.raw_ops.CTCLossV2(inputs=tf.zeros([TIME, BATCH, CLASSES]), **arguments(**change))


def test_inputs_without_classes_are_an_error():
    with tf.device(f"{DEVICE}:0"), pytest.raises(tf.errors.InvalidArgumentError, match="inputs must have one class or more"):
        tf.raw_ops.CTCLossV2(inputs=tf.zeros([TIME, BATCH, 0]), **arguments([[]] * BATCH))
