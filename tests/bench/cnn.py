"""A training step of a small CNN on the device of the installed plugin."""

# The begin of a program. `reduce` computes a layer from its input and its kernel, and halves the height and width of images.
STEP = """
import statistics, time
import tensorflow as tf
tf.random.set_seed(1)
device = [it for it in tf.config.list_physical_devices() if it.device_type != "CPU"][0].device_type

def create_step(batch, reduce):
    images, labels = tf.random.normal([batch, 28, 28, 1]), tf.one_hot(tf.range(batch) % 10, 10)
    shapes = [[3, 3, 1, 16], [3, 3, 16, 32], [7 * 7 * 32, 10]]
    weights = [tf.Variable(tf.random.normal(shape, stddev=0.1)) for shape in shapes]
    @tf.function
    def step():
        with tf.GradientTape() as tape:
            x = reduce(reduce(images, weights[0]), weights[1])
            x = tf.matmul(tf.reshape(x, [batch, -1]), weights[2])
            loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels, x))
        for weight, gradient in zip(weights, tape.gradient(loss, weights)):
            weight.assign_sub(0.01 * gradient)
        return loss
    return step

def tenth_percentile(step, count):
    times = []
    for _ in range(count):
        start = time.perf_counter()
        float(step())
        times.append(time.perf_counter() - start)
    return statistics.quantiles(times, n=10)[0]
"""
