"""tf.random.Generator: numbers of each distribution, in a function, split, reset, and from a checkpoint."""
# rtol: 1e-5

import os
import tempfile

import tensorflow as tf
from report import report

generator = tf.random.Generator.from_seed(1234)
results = {
    "normal": generator.normal([4, 3]),
    "uniform": generator.uniform([5], minval=2.0, maxval=3.0),
    "integers": generator.uniform([6], maxval=100, dtype=tf.int32),
    "truncated": generator.truncated_normal([5], stddev=2.0),
    "bits": generator.uniform_full_int([3], dtype=tf.uint32),
}


@tf.function
def draw():
    return generator.normal([2, 2]), generator.uniform([2])


results["function"] = [draw() for _ in range(2)]
children = generator.split(3)
results["children"] = [it.normal([2]) for it in children]
path = tf.train.Checkpoint(generator=generator).write(os.path.join(tempfile.mkdtemp(), "generator"))
results["expected"] = generator.normal([3])
tf.train.Checkpoint(generator=generator).read(path)
results["restored"] = generator.normal([3])
generator.reset_from_seed(1)
results["reset"] = generator.normal([2])
tf.random.set_global_generator(tf.random.Generator.from_seed(9))
results["global"] = tf.random.get_global_generator().normal([4])
generator.skip(10)
report(**results, state=generator.state)
