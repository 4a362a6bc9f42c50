//! From a recording to planes: what TensorBoard's tools read.
//!
//! - A plane for each device. Its lines are streams; work of a device without queues, and kernels that compute on the host, are on
//!   lines of the threads that compute.
//! - A plane of the host with the calls that enqueue, waits, changes of device memory and graph passes. TensorFlow adds each line
//!   to the line of the same thread in its own plane. An event of a device belongs to the step in which the call with its number
//!   is.

use std::collections::HashSet;
use std::time::{Duration, SystemTime};

use sp_runtime::{Host, Release, Releases};

use super::device_plane::device_type;
use super::{DevicePlane, Line, Space, Stat};
use crate::trace::{
    self, Activity, ActivityKind, Clock, Command, CommandKind, Direction, KernelCall, MemoryChange,
    Recording,
};

/// A plane whose lines TensorFlow adds to those of its own plane of the host.
const HOST_PLANE: &str = "/host:CUPTI";

/// The first id of lines of streams, then of threads: TensorBoard has lines of its own with small ids.
const STREAM_LINES: u64 = 1_000;
const THREAD_LINES: u64 = 1_000_000;

impl Recording {
    /// Returns the planes of a profile, empty if nothing was recorded.
    pub fn to_space(&self, plane: DevicePlane) -> Space {
        let mut space = Space::default();
        let queued = self.commands.iter();
        let queued = queued.filter(|it| it.kind == CommandKind::Kernel);
        let queued: HashSet<_> = queued.map(|it| it.correlation).collect();
        for call in &self.kernels {
            if !queued.contains(&call.correlation) {
                add_host_kernel(&mut space, plane, call);
            }
            add_launch(&mut space, call);
        }
        self.add_commands(&mut space, plane);
        self.activities
            .iter()
            .for_each(|it| add_activity(&mut space, it));
        self.memory.iter().for_each(|it| add_memory(&mut space, it));
        self.add_properties(&mut space, plane);
        space
    }

    fn add_commands(&self, space: &mut Space, plane: DevicePlane) {
        let calls = self.kernels.iter().map(|it| (it.correlation, it));
        let calls: std::collections::HashMap<_, _> = calls.collect();
        for command in &self.commands {
            match (command.kind, calls.get(&command.correlation)) {
                (CommandKind::Kernel, Some(call)) => {
                    let (start, duration) = (command.start, command.duration);
                    let mut line = device_line(space, plane, command);
                    add_kernel(&mut line, call, (start, duration, command.clock));
                }
                _ => add_command(space, plane, command),
            }
        }
    }

    /// Adds what the devices state of themselves, and the difference of the clocks.
    fn add_properties(&self, space: &mut Space, plane: DevicePlane) {
        let devices = self.kernels.iter().map(|it| it.device);
        let devices = devices.chain(self.commands.iter().map(|it| it.device));
        let devices: std::collections::BTreeSet<_> = devices.collect();
        for device in devices {
            let properties = trace::device::properties(device);
            let plane = space.plane(&plane.name(device));
            let (major, minor) = properties.compute_capability;
            for (name, value) in [
                ("compute_cap_major", u64::from(major)),
                ("compute_cap_minor", u64::from(minor)),
                ("core_count", u64::from(properties.core_count)),
                ("clock_rate", properties.clock_rate),
                ("memory_bandwidth", properties.memory_bandwidth),
                ("memory_size", properties.memory_size),
            ] {
                plane.add_stat(name, Stat::Number(value));
            }
            plane.add_stat("device_type", Stat::Interned(device_type()));
            let clock = self.clocks.iter().find(|it| it.device == device);
            if let Some(clock) = clock {
                let uncertainty = clock.first.uncertainty.max(clock.last.uncertainty);
                let uncertainty = u64::try_from(uncertainty.as_nanos()).unwrap_or(u64::MAX);
                plane.add_stat("clock_offset_ns", Stat::Signed(clock.offset()));
                plane.add_stat("clock_drift_ppm", Stat::Real((clock.rate() - 1.0) * 1e6));
                plane.add_stat("clock_uncertainty_ns", Stat::Number(uncertainty));
            }
        }
    }
}

/// Returns the line of a command: that of its stream, or of the thread if the host has measured it.
fn device_line<'s>(space: &'s mut Space, plane: DevicePlane, command: &Command) -> Line<'s> {
    let device = space.plane(&plane.name(command.device));
    match command.clock {
        Clock::DeviceTime => {
            let name = format!("Stream #{}", command.stream);
            device.line(STREAM_LINES + command.stream, &name)
        }
        Clock::HostTime => {
            let thread = command.thread.number;
            let name = match command.stream {
                0 => format!("Thread #{thread}"),
                stream => format!("Stream #{stream}, enqueued by thread #{thread}"),
            };
            device.line(THREAD_LINES + command.stream * THREAD_LINES + thread, &name)
        }
    }
}

/// Adds a kernel that has computed on the thread of its call.
fn add_host_kernel(space: &mut Space, plane: DevicePlane, call: &KernelCall) {
    let device = space.plane(&plane.name(call.device));
    let name = format!("Thread #{}", call.thread);
    let mut line = device.line(THREAD_LINES + call.thread, &name);
    add_kernel(
        &mut line,
        call,
        (call.start, call.duration, Clock::HostTime),
    );
}

fn add_kernel(line: &mut Line<'_>, call: &KernelCall, time: (SystemTime, Duration, Clock)) {
    let (start, duration, clock) = time;
    let op = format!("{}:{}", call.node, call.op);
    let mut stats = vec![
        ("tf_op", Stat::Interned(&op)),
        ("correlation_id", Stat::Number(call.correlation)),
        ("kernel_details", Stat::Interned(KERNEL_DETAILS)),
        ("tensor_shapes", Stat::Interned(&call.inputs)),
        ("bytes_accessed", Stat::Number(call.input_bytes)),
        ("kernel_source", Stat::Interned(call.source.name())),
        ("kernel_owner", Stat::Interned(call.owner)),
        ("clock", Stat::Interned(clock_name(clock))),
        ("run_id", Stat::Signed(call.step)),
    ];
    if call.copied_bytes > 0 {
        stats.push(("staged_bytes", Stat::Number(call.copied_bytes)));
        let staging = if call.is_behind { "behind" } else { "drained" };
        stats.push(("staging", Stat::Interned(staging)));
    }
    line.add_event_with(call.kernel, start, duration, &stats);
}

/// TensorBoard lists a kernel if it has these; they have no meaning for other devices than GPUs.
const KERNEL_DETAILS: &str =
    "regs:0 static_shared:0 dynamic_shared:0 grid:1,1,1 block:1,1,1 occ_pct:0";

fn clock_name(clock: Clock) -> &'static str {
    match clock {
        Clock::DeviceTime => "device",
        Clock::HostTime => "host",
    }
}

/// Adds a command that is no kernel's.
fn add_command(space: &mut Space, plane: DevicePlane, command: &Command) {
    let details = match command.kind {
        CommandKind::Copy(direction, bytes) => copy_details(direction, bytes),
        _ => String::new(),
    };
    let name = command_name(command.kind);
    let mut stats = vec![("clock", Stat::Interned(clock_name(command.clock)))];
    if let CommandKind::Copy(_, bytes) | CommandKind::Fill(bytes) = command.kind {
        stats.push(("bytes_transferred", Stat::Number(bytes)));
        let rate = bytes as f64 / command.duration.as_secs_f64().max(1e-9);
        stats.push(("bytes_per_second", Stat::Real(rate)));
    }
    if !details.is_empty() {
        stats.push(("memcpy_details", Stat::Interned(&details)));
    }
    if command.kind != CommandKind::Wait {
        stats.push(("correlation_id", Stat::Number(command.correlation)));
    }
    let mut line = device_line(space, plane, command);
    line.add_event_with(name, command.start, command.duration, &stats);
    let launch = [("correlation_id", Stat::Number(command.correlation))];
    let launch = if command.kind == CommandKind::Wait {
        &[][..]
    } else {
        &launch[..]
    };
    let mut line = host_line(space, command.thread.number, command.thread.line);
    line.add_event_with(name, command.enqueued, command.enqueue_duration, launch);
}

fn command_name(kind: CommandKind) -> &'static str {
    match kind {
        CommandKind::Kernel => "Kernel",
        CommandKind::Copy(Direction::ToDevice, _) => "MemcpyHToD",
        CommandKind::Copy(Direction::ToHost, _) => "MemcpyDToH",
        CommandKind::Copy(Direction::OnDevice, _) => "MemcpyDToD",
        CommandKind::Copy(Direction::ToPeer, _) => "MemcpyDToD to another device",
        CommandKind::Fill(_) => "Memset",
        CommandKind::Wait => "WaitForStream",
    }
}

fn copy_details(direction: Direction, bytes: u64) -> String {
    let (source, target) = match direction {
        Direction::ToDevice => ("pageable", "device"),
        Direction::ToHost => ("device", "pageable"),
        Direction::OnDevice | Direction::ToPeer => ("device", "device"),
    };
    format!("kind_src:{source} kind_dst:{target} size:{bytes} dest:0 async:1")
}

/// Adds the call of a kernel to the host's plane.
fn add_launch(space: &mut Space, call: &KernelCall) {
    let mut line = host_line(space, call.thread, call.line);
    let stats = [("correlation_id", Stat::Number(call.correlation))];
    line.add_event_with(call.kernel, call.start, call.duration, &stats);
}

fn add_activity(space: &mut Space, activity: &Activity) {
    let (name, before, behind) = match activity.kind {
        ActivityKind::Wait(stream) => (format!("Wait for stream #{stream}"), None, None),
        ActivityKind::GraphPass(before, behind) => {
            let name = format!("{} graph optimizer", device_type());
            (name, Some(before), Some(behind.unwrap_or(before)))
        }
    };
    let sizes = [("graph_bytes", before), ("optimized_graph_bytes", behind)];
    let stats = sizes.into_iter();
    let stats = stats.filter_map(|(name, size)| Some((name, Stat::Number(size? as u64))));
    let stats: Vec<_> = stats.collect();
    let mut line = host_line(space, activity.thread.number, activity.thread.line);
    line.add_event_with(&name, activity.start, activity.duration, &stats);
}

/// Adds a change of device memory, as TensorFlow's allocators record theirs.
fn add_memory(space: &mut Space, change: &MemoryChange) {
    let name = match change.is_allocation {
        true => "MemoryAllocation",
        false => "MemoryDeallocation",
    };
    let allocator = format!("{}_{}_driver", device_type(), change.device);
    let number = |value: u64| Stat::Signed(value.cast_signed());
    let stats = [
        ("allocator_name", Stat::Interned(&allocator)),
        ("bytes_reserved", number(0)),
        ("bytes_allocated", number(change.in_use)),
        (
            "bytes_available",
            number(change.total.saturating_sub(change.in_use)),
        ),
        ("fragmentation", Stat::Real(0.0)),
        ("peak_bytes_in_use", number(change.peak)),
        ("requested_bytes", number(change.bytes)),
        ("allocation_bytes", number(change.bytes)),
        ("addr", number(change.address as u64)),
    ];
    let mut line = host_line(space, change.thread.number, change.thread.line);
    line.add_event_with(name, change.time, Duration::ZERO, &stats);
}

/// Returns the line of a thread in the host's plane: that of TensorFlow's own events, if its id is known.
fn host_line(space: &mut Space, thread: u64, line: Option<u64>) -> Line<'_> {
    const WITH_LONG_IDS: Releases = Releases::from(Release::new(2, 19));
    let id = match (line, Host::running().is_in(WITH_LONG_IDS)) {
        (Some(line), Some(false)) => line & u64::from(u32::MAX),
        (Some(line), _) => line,
        (None, _) => THREAD_LINES + thread,
    };
    let name = format!("Thread #{thread} of {}", device_type());
    space.plane(HOST_PLANE).line(id, &name)
}
