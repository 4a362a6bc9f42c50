"""A plugin over OpenCL in TensorFlow, if the driver records no events: a synchronization waits for the commands all the same.

TensorFlow frees the host memory of copies after it.
"""

import subprocess

import pytest
from test_opencl import run

LIBRARY = """
#include <dlfcn.h>

// Other functions are those of libOpenCL.so.1, which this library needs.
static int fails, finishes;
typedef int marker(void *, unsigned, const void *, void **);
typedef int finish(void *);

void fail_markers(void) { fails = 1; }
int count_finishes(void) { return finishes; }

static void *next(const char *name) {
    return dlsym(dlopen("libOpenCL.so.1", RTLD_NOW), name);
}

int clEnqueueMarkerWithWaitList(void *queue, unsigned count, const void *events, void **event) {
    return fails ? -6 : ((marker *)next("clEnqueueMarkerWithWaitList"))(queue, count, events, event);
}

int clFinish(void *queue) {
    finishes += fails;
    return ((finish *)next("clFinish"))(queue);
}
"""

PROGRAM = """
import ctypes
library = ctypes.CDLL(os.environ["CLPLUGIN_DRIVER"])
with tf.device(DEVICES[1]):
    x = tf.constant(normal(1 << 20)) + 1
    library.fail_markers()
    try:
        x.numpy()
        is_error = False
    # From 2.22 on the error of the wait keeps its code.
    except (tf.errors.InternalError, tf.errors.ResourceExhaustedError):
        is_error = True
print(json.dumps([is_error, library.count_finishes()]))
"""


@pytest.fixture
def driver(tmp_path):
    """An OpenCL whose markers fail once `fail_markers` has been called."""
    (tmp_path / "markers.c").write_text(LIBRARY)
    library = tmp_path / "libmarkers.so"
    command = ["cc", "-shared", "-fPIC", "-o", library, tmp_path / "markers.c", "-Wl,--no-as-needed", "-l:libOpenCL.so.1"]
    subprocess.run(command, check=True)
    return str(library)


def test_waits_for_commands_without_events(driver):
    (is_error, finishes), lines = run(PROGRAM, CLPLUGIN_DRIVER=driver)
    assert is_error and any("clEnqueueMarkerWithWaitList: status -6" in line for line in lines), lines
    assert finishes > 0
