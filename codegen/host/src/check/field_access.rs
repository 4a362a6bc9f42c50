//! Checks the writes of every slot: each is called once, and each call is watched.

use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::session::CheckSession;
use crate::Error;
use crate::channel::Breaches;
use crate::contract_watch::breaches;
use crate::executor::{DeviceMemoryBlock, Executor, StreamHandle};
use crate::graph::GraphDef;
use crate::host_bytes::HostBytes;
use crate::outcome::{CheckResult, Stop};
use crate::plugin::RegisteredPlatform;

const SIZE: usize = 4096;

/// The id of the check that reports for all others, too.
pub(crate) const FIELD_ACCESS: &str = "field_access";

/// Each call writes the plugin's own fields only, and its results are values that TensorFlow can use.
pub(super) fn fields(session: &CheckSession<'_>) -> CheckResult {
    let walked = [device(session), graph(session), profiler(session)];
    let found = breaches();
    if !found.is_empty() {
        return Err(breaches_failure(&found));
    }
    let stopped = walked.into_iter().find_map(Result::err);
    match stopped {
        None => Ok("each call wrote the plugin's own fields only".into()),
        // Another check reports it.
        Some(Stop::Fail(text) | Stop::Skip(text)) => {
            Err(Stop::Skip(format!("stopped by another failure: {text}")))
        }
    }
}

/// Returns the failure of these breaches.
pub(crate) fn breaches_failure(found: &Breaches) -> Stop {
    let found: Vec<&str> = found.values().map(String::as_str).collect();
    Stop::Fail(found.join("; "))
}

/// Returns true if the release looks for the entry point and the plugin has it.
fn has(session: &CheckSession<'_>, entry_point: &str) -> Result<bool, Stop> {
    Ok(session.load()?.entry_points().contains(&entry_point))
}

fn device(session: &CheckSession<'_>) -> Result<(), Stop> {
    if !has(session, "SE_InitPlugin")? {
        return Ok(());
    }
    let platform = session.platform()?;
    for ordinal in 0..platform.device_count()? {
        let executor = platform.executor(platform.create_device(ordinal)?);
        platform.describe(&executor)?;
        memory(&executor)?;
        streams(&executor, &platform)?;
        copies(&executor)?;
        platform.destroy_device(executor.device())?;
    }
    Ok(platform.destroy()?)
}

fn memory(executor: &Executor) -> Result<(), Error> {
    executor.usage()?;
    executor.stats()?;
    executor.free(executor.allocate(SIZE as u64)?)?;
    executor.host_deallocate(executor.host_allocate(SIZE as u64)?)?;
    if executor.has("unified_memory_allocate") && executor.has("unified_memory_deallocate") {
        executor.unified_deallocate(executor.unified_allocate(SIZE as u64)?)?;
    }
    Ok(())
}

fn streams(executor: &Executor, platform: &RegisteredPlatform) -> Result<(), Error> {
    let (stream, other) = (executor.create_stream()?, executor.create_stream()?);
    let event = executor.create_event()?;
    executor.depend(other, stream)?;
    executor.stream_status(stream)?;
    executor.record_event(stream, event)?;
    executor.wait_for_event(other, event)?;
    executor.block_for_event(event)?;
    executor.event_status(event)?;
    host_callback(executor, stream)?;
    if executor.has("block_host_until_done") {
        executor.block_until_done(stream)?;
    }
    executor.synchronize()?;
    timer(executor, platform, stream)?;
    executor.destroy_event(event)?;
    executor.destroy_stream(other)?;
    executor.destroy_stream(stream)
}

unsafe extern "C" fn on_call(argument: *mut c_void, _: *mut c_void) {
    // SAFETY: `host_callback` passes the address of a static counter.
    unsafe { &*argument.cast::<AtomicUsize>() }.fetch_add(1, Ordering::Relaxed);
}

fn host_callback(executor: &Executor, stream: StreamHandle) -> Result<(), Error> {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    let argument = (&raw const CALLS).cast_mut().cast();
    // SAFETY: the argument is a static counter, which `on_call` changes.
    unsafe { executor.host_callback(stream, on_call, argument) }?;
    executor.poll(stream)
}

fn timer(
    executor: &Executor,
    platform: &RegisteredPlatform,
    stream: StreamHandle,
) -> Result<(), Error> {
    let slots = ["create_timer", "start_timer", "stop_timer", "destroy_timer"];
    let functions = platform.timer_fns()?;
    let Some(functions) = functions.filter(|_| slots.iter().all(|slot| executor.has(slot))) else {
        return Ok(());
    };
    let timer = executor.create_timer()?;
    executor.start_timer(stream, timer)?;
    executor.stop_timer(stream, timer)?;
    executor.poll(stream)?;
    executor.nanoseconds(&functions, timer)?;
    executor.destroy_timer(timer)?;
    platform.destroy_timer_fns(&functions)
}

fn copies(executor: &Executor) -> Result<(), Error> {
    let stream = executor.create_stream()?;
    let (first, second) = (sized(executor)?, sized(executor)?);
    let (source, mut back) = (vec![7; SIZE], vec![0; SIZE]);
    let size = SIZE as u64;
    executor.sync_htod(first, &source)?;
    executor.sync_dtoh(&mut back, first)?;
    if executor.has("sync_memcpy_dtod") {
        executor.sync_dtod(second, first, size)?;
    }
    executor.htod(stream, first, HostBytes::new(&source))?;
    executor.dtod(stream, second, first, size)?;
    executor.dtoh(stream, HostBytes::poisoned(SIZE), second)?;
    executor.poll(stream)?;
    fills(executor, stream, first)?;
    executor.free(first)?;
    executor.free(second)?;
    executor.destroy_stream(stream)
}

fn sized(executor: &Executor) -> Result<DeviceMemoryBlock, Error> {
    let block = executor.allocate(SIZE as u64)?;
    match block.opaque.is_null() {
        false => Ok(block),
        true => Err(Error::Refused(format!(
            "allocate of {SIZE} bytes returned null"
        ))),
    }
}

fn fills(
    executor: &Executor,
    stream: StreamHandle,
    target: DeviceMemoryBlock,
) -> Result<(), Error> {
    if executor.has("mem_zero") {
        executor.mem_zero(stream, target, SIZE as u64)?;
    }
    if executor.has("memset") {
        executor.memset(stream, target, 1, SIZE as u64)?;
    }
    if executor.has("memset32") {
        executor.memset32(stream, target, 1, SIZE as u64)?;
    }
    executor.poll(stream)
}

fn graph(session: &CheckSession<'_>) -> Result<(), Stop> {
    if !has(session, "TF_InitGraph")? {
        return Ok(());
    }
    let optimizer = crate::host::register_checked_optimizer(&session.load()?)?;
    let graph = GraphDef::sample();
    optimizer.optimize(&graph, &graph.to_bytes())?;
    Ok(())
}

fn profiler(session: &CheckSession<'_>) -> Result<(), Stop> {
    if !has(session, "TF_InitProfiler")? {
        return Ok(());
    }
    let profiler = crate::host::register_checked_profiler(&session.load()?)?;
    profiler.start()?;
    profiler.stop()?;
    profiler.collect()?;
    Ok(())
}
