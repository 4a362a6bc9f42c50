"""Checks of a profile with TensorBoard's own tools, for tests of several plugins."""

import json
import os
import pathlib
import subprocess
import sys

import pytest
import xspace

HERE = pathlib.Path(__file__).parent
STEPS = 3
# Of the ops that the tools list a rounded time of each is summed.
TOLERANCE = 0.1


def tools_python():
    """Returns the Python of the environment with the package `xprof`, or skips the test."""
    default = HERE.parents[1] / "target/made/xprof/bin/python"
    python = pathlib.Path(os.environ.get("SP_XPROF", default))
    if not python.exists():
        pytest.skip(f"no environment with xprof: {python} does not exist; `tests/run` creates it")
    return python


class Profile:
    """A profile of training steps, what the program has printed, and what the tools show."""

    def __init__(self, folder, environment):
        tools = tools_python()
        command = [sys.executable, HERE / "profile_program.py", folder, str(STEPS)]
        process = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment}, timeout=600)
        assert process.returncode == 0, process.stdout[-1000:] + process.stderr[-3000:]
        self.printed = json.loads(process.stdout.splitlines()[-1])
        (self.path,) = folder.glob("**/*.xplane.pb")
        self.planes = xspace.planes(self.path)
        self.plane = self.planes["/device:GPU:0"]
        self.events = list(xspace.events(self.plane))
        shown = subprocess.run([tools, HERE / "profile_tools.py", self.path], capture_output=True, text=True, timeout=300)
        assert shown.returncode == 0, shown.stderr[-3000:]
        self.tools = json.loads(shown.stdout)

    def kernels(self):
        """Returns duration in microseconds and statistics of each kernel."""
        return [(duration / 1000, stats) for _, _, _, duration, stats in self.events if "tf_op" in stats]

    def copies(self, direction):
        """Returns the copies whose names begin with `direction`."""
        return [event for event in self.events if event[1].startswith(direction)]

    def check_overview(self):
        """The device is no CPU, and each step is found, with the time of the device in it."""
        overview = self.tools["overview_page"]
        assert overview["device_type"] == "GPU" and overview["device_compute_32bit_percent"] == "100.0%"
        steps = self.tools["input_pipeline_analyzer"]["steps"]
        assert [step["stepnum"] for step in steps] == [str(number) for number in range(STEPS)]
        for step, seconds in zip(steps, self.printed["seconds"]):
            assert 0 < step["deviceComputeTimeMs"] <= step["stepTimeMs"]
            # The tool counts from the first event that it connects to the step.
            assert step["stepTimeMs"] <= 1.5 * seconds * 1000 + 1000

    def check_ops(self):
        """The tables have the device's time of each op, and names of nodes of the graph."""
        rows = [row for row in self.tools["framework_op_stats"] if row["host_or_device"] == "Device"]
        assert "IDLE" in [row["type"] for row in rows]
        ops = [row for row in rows if row["type"] != "IDLE"]
        own = sum(duration for duration, _ in self.kernels())
        assert sum(row["total_self_time"] for row in ops) == pytest.approx(own, rel=TOLERANCE)
        names = {row["operation"] for row in ops} & set(self.printed["nodes"])
        assert len(names) >= 20, sorted(names)
        kernels = self.tools["kernel_stats"]
        assert sum(row["total_duration_us"] for row in kernels) == pytest.approx(own, rel=TOLERANCE)
        assert {row["op_name"] for row in kernels} == {row["operation"] for row in ops}

    def check_op_profile(self):
        profile = self.tools["op_profile"]
        assert profile["device"] == "GPU" and "Conv2DBackpropFilter" in profile["categories"]

    def check_memory(self):
        """The memory viewer has the device, with the peak of TensorFlow's statistics."""
        (device,) = [it for name, it in self.tools["memory_profile"].items() if name.endswith("_bfc")]
        assert int(device["peakBytesUsageLifetime"]) == self.printed["memory"]["peak"]

    def check_trace_viewer(self):
        """The trace viewer has kernels and copies on lines of the device, and the calls that enqueue them on the host's."""
        processes = self.tools["trace_viewer"]
        (device,) = [names for name, names in processes.items() if "/device:GPU:0" in name]
        host = processes["/host:CPU"]
        for kernel in ("Conv2DBackpropFilter T=TF_FLOAT", "MemcpyDToH"):
            assert kernel in device and kernel in host

    def check_kernels(self):
        """Each kernel has its inputs, its bytes, its run and whose it is."""
        for _, stats in self.kernels():
            assert stats["bytes_accessed"] > 0 and stats["tensor_shapes"].endswith("]")
            assert stats["kernel_source"] in ("own", "reference", "staged") and stats["clock"] in ("device", "host")
        by_op = {stats["tf_op"].split(":")[-1]: stats["tensor_shapes"] for _, stats in self.kernels()}
        assert by_op["MaxPoolGrad"].startswith("float[64,28,28,16];float[64,14,14,16];")
        runs = {stats["run_id"] for _, stats in self.kernels()}
        assert len(runs) == STEPS

    def check_copies(self):
        """Copies have direction, bytes and rate; the loss of each step is copied to the host."""
        losses = [stats for _, _, _, _, stats in self.copies("MemcpyDToH") if stats["bytes_transferred"] == 4]
        assert len(losses) >= STEPS
        assert all(stats["bytes_per_second"] > 0 and "size:4 " in stats["memcpy_details"] for stats in losses)

    def check(self):
        self.check_overview()
        self.check_ops()
        self.check_op_profile()
        self.check_memory()
        self.check_trace_viewer()
        self.check_kernels()
        self.check_copies()

    def check_clock(self):
        """The clock of the device has measured its commands, in the time of the host."""
        measured = [event for event in self.events if event[4]["clock"] == "device"]
        assert any("tf_op" in stats for *_, stats in measured) and all(line.startswith("Stream #") for line, *_ in measured)
        properties = xspace.plane_stats(self.plane)
        # The session takes at least two seconds.
        uncertainty = properties["clock_uncertainty_ns"]
        assert abs(properties["clock_drift_ppm"]) < 10_000 + 2e6 * uncertainty / 2e9 and uncertainty < 1_000_000_000
        by_call = {event[4]["correlation_id"]: event for event in xspace.events(self.planes["/host:CPU"]) if "correlation_id" in event[4]}
        slack = properties["clock_uncertainty_ns"] + 1_000_000
        for _, name, start, _, stats in measured:
            if "correlation_id" in stats:
                _, launch, enqueued, _, _ = by_call[stats["correlation_id"]]
                assert launch == name and start >= enqueued - slack
        for line in {event[0] for event in measured}:
            ends = sorted((start, start + duration) for found, _, start, duration, _ in measured if found == line)
            assert all(end <= following + 1_000 for (_, end), (following, _) in zip(ends, ends[1:])), line
