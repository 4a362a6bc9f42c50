"""tf.strings: splits, joins, numbers, hashes, regular expressions, Unicode; counts of words that become features."""
# rtol: 1e-5

import tensorflow as tf
from report import report

s = tf.strings
lines = tf.constant(["the cat, the dog", "one 12 two", "Grüße aus Köln"])


@tf.function
def features(lines):
    words = s.split(s.regex_replace(s.lower(lines), "[^a-z0-9 ]", ""))
    buckets = s.to_hash_bucket_fast(words, 8)
    return words.to_tensor(), tf.reduce_sum(tf.one_hot(buckets.to_tensor(-1), 8), axis=1)


words, counts = features(lines)
weights = tf.Variable(tf.reshape(tf.range(24, dtype=tf.float32), [8, 3]) / 10)
ids, indices = tf.unique(tf.reshape(words, [-1]))
report(
    words=words,
    scores=tf.matmul(counts, weights),
    lengths=s.length(lines, unit="UTF8_CHAR"),
    parts=s.substr(lines, 0, 3),
    numbers=s.to_number(tf.constant(["1.5", "-2"])) * 2.0,
    texts=s.as_string(tf.constant([3, 4])) + "!",
    formatted=s.format("{} of {}", (tf.constant(1), tf.constant(2.5))),
    joined=s.reduce_join(words, axis=1, separator="-"),
    strong=s.to_hash_bucket_strong(lines, 100, [1, 2]),
    points=s.unicode_decode(lines, "UTF-8").to_tensor(),
    unique=ids,
    indices=indices,
    grams=s.ngrams(s.split(lines), 2).to_tensor(),
    matched=s.regex_full_match(lines, ".*12.*"),
)
