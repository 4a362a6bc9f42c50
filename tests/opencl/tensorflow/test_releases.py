"""A plugin over OpenCL releases no object but events while a user event has no status, for which OpenCL defines no behaviour.

Waits between devices create user events. The tests' OpenCL delays their status, and counts the releases in the meantime.
The plugin is one with an allocation for each tensor: `tests/opencl/in_tensorflow` builds it for all tests, and for this file.
"""

import os
import subprocess

import pytest
from test_several_devices import COPIES, several  # noqa: F401 (a fixture)
from test_opencl import run

PER_TENSOR = os.environ.get("SP_OPENCL_PER_TENSOR")

LIBRARY = """
#include <dlfcn.h>
#include <stdatomic.h>
#include <unistd.h>

// Other functions are those of libOpenCL.so.1, which this library needs.
static atomic_int pending, events, releases, overlaps;

int count_events(void) { return events; }
int count_releases(void) { return releases; }
int count_overlaps(void) { return overlaps; }

static void *next(const char *name) {
    return dlsym(dlopen("libOpenCL.so.1", RTLD_NOW), name);
}

void *clCreateUserEvent(void *context, int *status) {
    pending++, events++;
    return ((void *(*)(void *, int *))next("clCreateUserEvent"))(context, status);
}

int clSetUserEventStatus(void *event, int status) {
    usleep(2000);
    int result = ((int (*)(void *, int))next("clSetUserEventStatus"))(event, status);
    pending--;
    return result;
}

static int release(const char *name, void *object) {
    int before = pending, result = ((int (*)(void *))next(name))(object);
    releases++, overlaps += before || pending;
    return result;
}

int clReleaseMemObject(void *object) { return release("clReleaseMemObject", object); }
int clReleaseCommandQueue(void *object) { return release("clReleaseCommandQueue", object); }
int clReleaseContext(void *object) { return release("clReleaseContext", object); }
int clReleaseProgram(void *object) { return release("clReleaseProgram", object); }
int clReleaseKernel(void *object) { return release("clReleaseKernel", object); }
"""


@pytest.fixture
def driver(tmp_path):
    """An OpenCL that counts the releases while a user event is pending."""
    (tmp_path / "releases.c").write_text(LIBRARY)
    library = tmp_path / "libreleases.so"
    command = ["cc", "-shared", "-fPIC", "-o", library, tmp_path / "releases.c", "-Wl,--no-as-needed", "-l:libOpenCL.so.1"]
    subprocess.run(command, check=True)
    return str(library)


@pytest.mark.skipif(PER_TENSOR is None, reason="SP_OPENCL_PER_TENSOR names no plugin")
def test_releases_no_memory_while_a_user_event_is_pending(several, driver):  # noqa: F811
    counts = """
import ctypes
library = ctypes.CDLL(os.environ["CLPLUGIN_DRIVER"])
print(json.dumps([library.count_events(), library.count_releases(), library.count_overlaps()]))
"""
    variables = {**several, "CLPLUGIN_DRIVER": driver, "SP_OPENCL": PER_TENSOR}
    (events, releases, overlaps), _ = run(COPIES + counts, **variables)
    assert events > 0 and releases > 0
    assert overlaps == 0
