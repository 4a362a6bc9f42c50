"""Plugins in a real TensorFlow: what becomes of each, a line for each step.

Reads lines `PATH USE` and answers each with `== PATH USE` and lines `STEP: OUTCOME`. TensorFlow is loaded
once; each plugin gets a fork of this process, since most of them end it.
"""

import os
import re
import signal
import sys
import tempfile
import time

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "0"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"

# What is installed for other tests stays out of this one.
exists = os.path.exists
os.path.exists = lambda path: not str(path).endswith("tensorflow-plugins") and exists(path)
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from tensorflow.python.framework import errors_impl  # noqa: E402
from tensorflow.python.framework.load_library import load_pluggable_device_library  # noqa: E402

os.path.exists = exists
SECONDS = 10
CODES = {code: name.removesuffix("Error") for code, name in
         ((code, error.__name__) for code, error in errors_impl._CODE_TO_EXCEPTION_CLASS.items())}


def here(work):
    """On the plugin's device, or not at all."""
    tf.config.set_soft_device_placement(False)
    with tf.device("/device:TEST:0"):
        return work()


def ones(count):
    return tf.constant(np.ones(count, np.float32))


def add(count=3):
    return here(lambda: tf.raw_ops.AddV2(x=ones(3), y=ones(count))).numpy().tolist()


def total(keep=False):
    return here(lambda: tf.raw_ops.Sum(input=ones(3), axis=[0], keep_dims=keep)).numpy().tolist()


def negate():
    return here(lambda: tf.raw_ops.Neg(x=ones(3))).numpy().tolist()


def trace():
    traced = tf.function(lambda x, y: tf.raw_ops.AddV2(x=x, y=y))
    return here(lambda: traced(ones(3), ones(3))).numpy().tolist()


def profile():
    for _ in range(2):
        with tempfile.TemporaryDirectory() as folder:
            tf.profiler.experimental.start(folder)
            add()
            tf.profiler.experimental.stop()
    return "done"


def negate_if_known():
    """The plugin registers this kernel where the release has the function for it."""
    return negate() if tuple(map(int, tf.__version__.split(".")[:2])) >= (2, 13) else "done"


USES = {
    "life": [("add", add), ("sum", total), ("neg", negate_if_known), ("function", trace), ("profile", profile)],
    "differ": [("add", lambda: add(4))],
    "keep": [("sum", lambda: total(True))],
}


def message(error):
    """As the plugin or core said it: without where, which the runtime adds around it."""
    code = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", CODES.get(error.error_code, "?")).upper()
    text = re.sub(r"\{\{function_node [^}]*\}\} ", "", error.message)
    text = re.sub(r" \[Op:.*|:?\s*\[\[\{\{node .*", "", text, flags=re.S)
    text = re.sub(r"^Failed copying input tensor from \S+ to \S+ in order to run \w+: ", "", text)
    # A word that newer releases vary on purpose, and what follows at length from the op.
    text = re.sub(r"goo\.gle/\w+ +|: Op<name=.*|, KernelDef: .*", "", text, flags=re.S)
    return f"{code}: {text}"


def live(path, use, say):
    def step(name, work):
        try:
            done = work()
        except errors_impl.OpError as error:
            say(f"{name}: raises {message(error)}")
            return False
        say(f"{name}: {done}")
        return True

    if not step("load", lambda: load_pluggable_device_library(path) or "done"):
        return
    if not tf.config.list_physical_devices("TEST"):
        return say("devices: none")
    all(step(name, work) for name, work in USES[use])


def lines(log, level):
    """What was logged at a level, as (file, text); the releases write it in two ways."""
    head = rf"^(?:{level}\d{{4}} \S+ +\d+ |[-\d]+ [\d:.]+: {level} )"
    return re.findall(head + r"(?:\S*/)?(\w+)\.cc:\d+\] ([^\n]*)", log, flags=re.M)


def logged(log):
    """Errors of optimizers and profilers, which TensorFlow writes down and lives with."""
    parts = {"meta_optimizer": "function", "pluggable_profiler": "profile", "profiler_session": "profile"}
    said = [(parts[file], re.sub(r"^\w+ failed: ", "", text)) for file, text in lines(log, "E") if file in parts]
    return [f"{part}: logs {text}" for part, text in said]


def ending(status, log):
    """What ended the process, with the words that TensorFlow had for it."""
    if status is None:
        return "hangs"
    if not os.WIFSIGNALED(status):
        return None
    if os.WTERMSIG(status) != signal.SIGABRT:
        return "crashes"
    said = [text for _, text in lines(log, "F")][-1:]
    said = [text.removeprefix("Attempting to fetch value instead of handling error ") for text in said]
    status = re.search(r"(?:is OK \(|status: )([A-Z_]+: .*?)\)?\s*$", "".join(said))
    return f"ends {status[1] if status else ''.join(said)}".strip()


def wait(pid):
    end = time.time() + SECONDS
    while time.time() < end:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return status
        time.sleep(0.02)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return None


def judge(path, use):
    steps, log = tempfile.TemporaryFile(), tempfile.TemporaryFile()
    pid = os.fork()
    if pid == 0:
        os.dup2(log.fileno(), 2)
        live(path, use, lambda line: os.write(steps.fileno(), (" ".join(line.split()) + "\n").encode()))
        os._exit(0)
    status = wait(pid)
    steps.seek(0)
    log.seek(0)
    words = log.read().decode(errors="replace")
    if os.environ.get("SP_LOG"):
        sys.stderr.write(words)
    said = steps.read().decode().splitlines() + logged(words)
    if end := ending(status, words):
        said.append(f"then: {end}")
    return [line.replace(path, "PLUGIN") for line in said]


if __name__ == "__main__":
    for request in sys.stdin:
        plugin, wanted = request.split()
        print(f"== {plugin} {wanted}")
        print("\n".join(judge(plugin, wanted)), flush=True)
