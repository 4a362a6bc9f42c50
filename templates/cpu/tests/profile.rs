//! Sessions of the recorder with the device layer: the reference device with queues, in processes of their own.

use std::ptr;
use std::time::{Duration, SystemTime};

use sp_abi::stream_executor::{SP_AllocatorStats, SP_DeviceMemoryBase, StreamExecutor};
use sp_cpu::CpuDevice;
use sp_plugin::Device;
use sp_plugin::profiler::DevicePlane;
use sp_plugin::trace::{self, ActivityKind, Clock, CommandKind, Direction, Recording};
use sp_runtime::{Prefix, PrefixMut, Versioned};

const BYTES: u64 = 1 << 16;

/// Runs a test in a process whose device has opaque memory and queues with threads.
fn in_child(name: &str, body: impl FnOnce()) {
    const VARIABLE: &str = "PROFILE_TEST_CHILD";
    if std::env::var_os(VARIABLE).is_some() {
        return body();
    }
    let program = std::env::current_exe().unwrap();
    let mut command = std::process::Command::new(program);
    command.args([name, "--exact", "--nocapture"]);
    command.envs([
        (VARIABLE, "1"),
        ("SP_CPU_STREAMS", "async"),
        ("SP_CPU_MEMORY", "opaque"),
    ]);
    let output = command.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
}

fn allocate(device: &CpuDevice) -> SP_DeviceMemoryBase {
    let mut memory = SP_DeviceMemoryBase {
        struct_size: SP_DeviceMemoryBase::STRUCT_SIZE,
        ext: ptr::null_mut(),
        opaque: ptr::null_mut(),
        size: 0,
        payload: 0,
    };
    // SAFETY: the struct is live.
    unsafe { device.allocate(BYTES, 0, PrefixMut::from_mut(&mut memory)) };
    assert!(!memory.opaque.is_null());
    memory
}

fn deallocate(device: &CpuDevice, mut memory: SP_DeviceMemoryBase) {
    // SAFETY: the struct is live, and the memory is freed once.
    unsafe { device.deallocate(PrefixMut::from_mut(&mut memory)) };
}

fn peak(device: &CpuDevice) -> u64 {
    // SAFETY: the struct is plain data.
    let mut stats: SP_AllocatorStats = unsafe { std::mem::zeroed() };
    stats.struct_size = SP_AllocatorStats::STRUCT_SIZE;
    assert_eq!(
        device.get_allocator_stats(PrefixMut::from_mut(&mut stats)),
        1
    );
    stats.peak_bytes_in_use.try_into().unwrap()
}

/// Copies to the device and back on two streams, of which one waits for the other.
fn work(device: &CpuDevice) {
    let memory = allocate(device);
    let [first, second] = [(); 2].map(|()| device.create_stream().unwrap());
    let (region, mut bytes) = (Prefix::from_ref(&memory), vec![7_u8; BYTES as usize]);
    let host = bytes.as_mut_ptr();
    // SAFETY: memory and vector are live until the synchronization.
    unsafe {
        device
            .memcpy_htod(&first, region, host.cast(), BYTES)
            .unwrap();
        device.memset32(&first, region, 1, BYTES / 2).unwrap();
        device.create_stream_dependency(&second, &first).unwrap();
        device
            .memcpy_dtoh(&second, host.cast(), region, BYTES)
            .unwrap();
    }
    device.block_host_until_done(&second).unwrap();
    assert_eq!((bytes[1], bytes[BYTES as usize - 1]), (0, 7));
    device.synchronize_all_activity().unwrap();
    deallocate(device, memory);
}

fn record(device: &CpuDevice) -> Recording {
    trace::start();
    work(device);
    trace::stop();
    trace::take()
}

#[test]
fn commands_have_times_of_queue_between_those_of_host() {
    in_child("commands_have_times_of_queue_between_those_of_host", || {
        let device = CpuDevice::open(0).unwrap();
        let start = SystemTime::now();
        let recorded = record(&device);
        let end = SystemTime::now();
        let kinds: Vec<_> = recorded.commands.iter().map(|it| it.kind).collect();
        for kind in [
            CommandKind::Copy(Direction::ToDevice, BYTES),
            CommandKind::Fill(BYTES / 2),
            CommandKind::Wait,
            CommandKind::Copy(Direction::ToHost, BYTES),
        ] {
            assert!(kinds.contains(&kind), "{kind:?}: {kinds:?}");
        }
        // The clocks are read with some uncertainty.
        let slack = Duration::from_millis(20);
        for command in &recorded.commands {
            assert_eq!(command.clock, Clock::DeviceTime, "{command:?}");
            assert!(command.start + slack >= command.enqueued, "{command:?}");
            assert!(command.start + slack >= start, "{command:?}");
            assert!(
                command.start + command.duration <= end + slack,
                "{command:?}"
            );
        }
        let streams: Vec<_> = recorded.commands.iter().map(|it| it.stream).collect();
        assert!(streams.iter().any(|it| *it != streams[0]), "{streams:?}");
        let is_wait = |kind: &ActivityKind| matches!(kind, ActivityKind::Wait(_));
        assert!(recorded.activities.iter().any(|it| is_wait(&it.kind)));
    });
}

#[test]
fn memory_has_address_size_and_peak_of_statistics() {
    in_child("memory_has_address_size_and_peak_of_statistics", || {
        let device = CpuDevice::open(0).unwrap();
        let before = allocate(&device);
        let recorded = record(&device);
        let [first, last] = &recorded.memory[..] else {
            panic!("{:?}", recorded.memory)
        };
        assert_eq!((first.is_allocation, last.is_allocation), (true, false));
        assert_eq!((first.bytes, last.bytes), (BYTES, BYTES));
        assert_eq!(first.address, last.address);
        assert_eq!((first.in_use, last.in_use), (2 * BYTES, BYTES));
        assert_eq!(last.peak, peak(&device));
        assert!(last.total > last.peak);
        deallocate(&device, before);
    });
}

#[test]
fn nothing_is_recorded_outside_of_a_session() {
    in_child("nothing_is_recorded_outside_of_a_session", || {
        let device = CpuDevice::open(0).unwrap();
        work(&device);
        assert!(trace::take().is_empty());
        assert!(!record(&device).is_empty());
        work(&device);
        let recorded = trace::take();
        assert!(recorded.is_empty(), "{recorded:?}");
        let space = recorded.to_space(DevicePlane::Gpu);
        assert_eq!(space.to_bytes(), []);
    });
}

#[test]
fn session_that_ends_before_its_commands_has_them() {
    in_child("session_that_ends_before_its_commands_has_them", || {
        let device = CpuDevice::open(0).unwrap();
        let (memory, stream) = (allocate(&device), device.create_stream().unwrap());
        trace::start();
        for _ in 0..50 {
            // SAFETY: the memory is live.
            unsafe { device.memset(&stream, Prefix::from_ref(&memory), 1, BYTES) }.unwrap();
        }
        trace::stop();
        let recorded = trace::take();
        let fills = recorded.commands.iter();
        let fills =
            fills.filter(|it| it.kind == CommandKind::Fill(BYTES) && it.clock == Clock::DeviceTime);
        assert_eq!(fills.count(), 50);
        device.block_host_until_done(&stream).unwrap();
        deallocate(&device, memory);
    });
}

#[test]
fn planes_have_names_of_choice() {
    in_child("planes_have_names_of_choice", || {
        let device = CpuDevice::open(0).unwrap();
        let recorded = record(&device);
        for (plane, name) in [
            (DevicePlane::Gpu, "/device:GPU:0"),
            (DevicePlane::Custom, "/device:CUSTOM:DEVICE:0"),
        ] {
            let bytes = recorded.to_space(plane).to_bytes();
            let text = String::from_utf8_lossy(&bytes);
            for part in [
                name,
                "MemcpyHToD",
                "MemcpyDToH",
                "Memset",
                "WaitForStream",
                "Stream #",
            ] {
                assert!(text.contains(part), "{part}: {text}");
            }
        }
    });
}
