//! The checks, in the order of a report. One function per check; each runs in a process of its own.

mod copy;
mod kernel;
mod load;
mod memory;
mod stream;

use std::path::Path;
use std::sync::Arc;

use sp_ir::Api;

use crate::Error;
use crate::core::Stream;
use crate::executor::{Block, Executor};
use crate::host::adopt;
use crate::outcome::{Seen, Stop};
use crate::plugin::{Platform, Plugin};

/// One question to a plugin.
pub(crate) struct Check {
    /// Its name; programs read it, so it stays.
    pub id: &'static str,
    pub run: fn(&Session<'_>) -> Seen,
}

const fn check(id: &'static str, run: fn(&Session<'_>) -> Seen) -> Check {
    Check { id, run }
}

/// Every check.
pub(crate) const ALL: &[Check] = &[
    check("entry_points", load::entry_points),
    check("required_fields", load::required_fields),
    check("struct_sizes", load::struct_sizes),
    check("struct_bounds", load::struct_bounds),
    check("names", load::names),
    check("devices", load::devices),
    check("memory_usage", memory::usage),
    check("allocate", memory::allocate),
    check("allocate_refused", memory::refused),
    check("deallocate", memory::deallocate),
    check("host_memory", memory::host_memory),
    check("allocator_stats", memory::stats),
    check("copies_sync", copy::sync),
    check("copies_async", copy::async_copies),
    check("copies_threads", copy::threads),
    check("fills", copy::fills),
    check("streams", stream::streams),
    check("stream_order", stream::order),
    check("stream_dependency", stream::dependency),
    check("events", stream::events),
    check("waits", stream::waits),
    check("host_callbacks", stream::host_callbacks),
    check("timers", stream::timers),
    check("kernels_registered", kernel::registered),
    check("given_back", kernel::given_back),
];

/// What a check is handed.
pub(crate) struct Session<'a> {
    pub apis: &'a [Api],
    pub plugin: &'a Path,
}

/// A device of the plugin's, with the platform that it belongs to.
pub(crate) struct Device {
    pub platform: Platform,
    pub executor: Arc<Executor>,
}

impl Session<'_> {
    fn load(&self) -> Result<Plugin, Error> {
        Plugin::load(self.apis, self.plugin)
    }

    fn platform(&self) -> Result<Platform, Stop> {
        let plugin = self.load()?;
        if !plugin.entry_points().contains(&"SE_InitPlugin") {
            return Err(Stop::Skip("the plugin has no SE_InitPlugin".into()));
        }
        Ok(adopt(&plugin)?)
    }

    fn device(&self) -> Result<Device, Stop> {
        let platform = self.platform()?;
        if platform.device_count()? < 1 {
            return Err(Stop::Skip("the plugin reports 0 devices".into()));
        }
        let executor = Arc::new(platform.executor(platform.create_device(0)?));
        Ok(Device { platform, executor })
    }
}

impl Device {
    /// Device memory of `size` bytes; the check ends where there is none.
    fn block(&self, size: usize) -> Result<Block, Stop> {
        block(&self.executor, size)
    }

    fn stream(&self) -> Result<Stream, Stop> {
        Ok(self.executor.create_stream()?)
    }

    /// The bytes of `block`.
    fn read(&self, block: Block, size: usize) -> Result<Vec<u8>, Stop> {
        let mut bytes = vec![0; size];
        self.executor.sync_dtoh(&mut bytes, block)?;
        Ok(bytes)
    }
}

fn block(executor: &Executor, size: usize) -> Result<Block, Stop> {
    let block = executor.allocate(size as u64)?;
    ensure(!block.opaque.is_null(), || {
        format!("allocate of {size} bytes gave nothing")
    })?;
    Ok(block)
}

/// Stops the check, unless `good`.
fn ensure(good: bool, text: impl FnOnce() -> String) -> Result<(), Stop> {
    match good {
        true => Ok(()),
        false => Err(Stop::Fail(text())),
    }
}

/// Bytes that differ from place to place and from `seed` to `seed`.
fn pattern(size: usize, seed: u8) -> Vec<u8> {
    let byte = |at: usize| (at as u8).wrapping_mul(31) ^ (at >> 8) as u8 ^ seed;
    (0..size).map(byte).collect()
}

/// Stops the check where the bytes differ, with the first place.
fn same(what: &str, found: &[u8], wanted: &[u8]) -> Result<(), Stop> {
    let differ = found
        .iter()
        .zip(wanted)
        .position(|(found, wanted)| found != wanted);
    match differ {
        None => Ok(()),
        Some(at) => Err(Stop::Fail(format!(
            "{what} of {} bytes: byte {at} is {:#04x}, not {:#04x}",
            wanted.len(),
            found[at],
            wanted[at]
        ))),
    }
}
