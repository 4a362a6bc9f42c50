//! The plugin under test, its device, and comparisons, for all checks.

use std::path::Path;
use std::sync::Arc;

use crate::error::NO_DEVICES;
use crate::executor::{DeviceMemoryBlock, Executor, StreamHandle};
use crate::host::register_platform;
use crate::outcome::Stop;
use crate::plugin::{LoadedPlugin, RegisteredPlatform, entry_points};
use crate::release::EmulatedRelease;
use crate::{Error, Host};

/// The release and the plugin of a check.
pub(crate) struct CheckSession<'a> {
    pub release: EmulatedRelease<'a>,
    pub plugin: &'a Path,
}

/// A device of the plugin with its platform.
pub(crate) struct CheckedDevice {
    pub platform: RegisteredPlatform,
    pub executor: Arc<Executor>,
}

impl CheckSession<'_> {
    /// Loads the plugin. If that fails, the check is skipped, since `entry_points` reports it.
    pub(super) fn load(&self) -> Result<LoadedPlugin, Stop> {
        let loaded = LoadedPlugin::load(self.release, self.plugin);
        loaded.map_err(|_| Stop::Skip("the plugin does not load: see entry_points".into()))
    }

    /// Loads the plugin, and skips the check unless the plugin and the release have the entry point.
    pub(super) fn with(&self, entry_point: &str) -> Result<LoadedPlugin, Stop> {
        let plugin = self.load()?;
        match plugin.entry_points().contains(&entry_point) {
            true => Ok(plugin),
            false if !entry_points(self.release).contains(&entry_point) => Err(Stop::Skip(
                format!("this release looks for no {entry_point}"),
            )),
            false => Err(Stop::Skip(format!("the plugin has no {entry_point}"))),
        }
    }

    pub(super) fn platform(&self) -> Result<RegisteredPlatform, Stop> {
        register_platform(&self.with("SE_InitPlugin")?).map_err(skip_unregistered)
    }

    /// Loads the plugin with kernels, optimizer and profiler.
    pub(super) fn host(&self) -> Result<Host, Stop> {
        self.with("SE_InitPlugin")?;
        Host::open(self.release, self.plugin).map_err(skip_unregistered)
    }

    pub(super) fn device(&self) -> Result<CheckedDevice, Stop> {
        let platform = self.platform()?;
        if platform.device_count()? < 1 {
            return Err(Stop::Skip(NO_DEVICES.into()));
        }
        let executor = CheckedDevice::first(&platform)?;
        Ok(CheckedDevice { platform, executor })
    }
}

/// Skips a check because registration failed, which other checks report.
pub(super) fn skip_unregistered(error: Error) -> Stop {
    match error {
        Error::Declined(text) => Stop::Skip(text),
        other => Stop::Skip(format!("not registered: {other}")),
    }
}

impl CheckedDevice {
    /// Creates the first device.
    pub(super) fn first(platform: &RegisteredPlatform) -> Result<Arc<Executor>, Error> {
        Ok(Arc::new(platform.executor(platform.create_device(0)?)))
    }

    /// Allocates device memory, or fails the check.
    pub(super) fn block(&self, size: usize) -> Result<DeviceMemoryBlock, Stop> {
        block(&self.executor, size)
    }

    pub(super) fn stream(&self) -> Result<StreamHandle, Stop> {
        Ok(self.executor.create_stream()?)
    }

    /// Copies `size` bytes of `block` to the host.
    pub(super) fn read(&self, block: DeviceMemoryBlock, size: usize) -> Result<Vec<u8>, Stop> {
        let mut bytes = vec![0; size];
        self.executor.sync_dtoh(&mut bytes, block)?;
        Ok(bytes)
    }
}

pub(super) fn block(executor: &Executor, size: usize) -> Result<DeviceMemoryBlock, Stop> {
    let block = executor.allocate(size as u64)?;
    ensure(!block.opaque.is_null(), || {
        format!("allocate of {size} bytes returned null")
    })?;
    Ok(block)
}

/// Runs `work` on eight threads at once.
pub(super) fn run_on_threads(work: impl Fn(u8) -> Result<(), Stop> + Sync) -> Result<(), Stop> {
    std::thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = (0..8).map(|seed| scope.spawn(move || work(seed))).collect();
        let mut joined = threads.into_iter().map(|thread| thread.join());
        let panicked = |_| Stop::Fail("a thread panicked".into());
        joined.try_for_each(|result| result.map_err(panicked)?)
    })
}

/// Fails the check unless `is_good`.
pub(super) fn ensure(is_good: bool, text: impl FnOnce() -> String) -> Result<(), Stop> {
    match is_good {
        true => Ok(()),
        false => Err(Stop::Fail(text())),
    }
}

/// Returns bytes that depend on their position and on `seed`.
pub(super) fn pattern(size: usize, seed: u8) -> Vec<u8> {
    let byte = |at: usize| (at as u8).wrapping_mul(31) ^ (at >> 8) as u8 ^ seed;
    (0..size).map(byte).collect()
}

/// Fails the check if the bytes differ, with the first position.
pub(super) fn expect_equal(what: &str, found: &[u8], wanted: &[u8]) -> Result<(), Stop> {
    if found == wanted {
        return Ok(());
    }
    let mut pairs = found.iter().zip(wanted);
    match pairs.position(|(found, wanted)| found != wanted) {
        None => Ok(()),
        Some(at) => Err(Stop::Fail(format!(
            "{what} of {} bytes: byte {at} is {:#04x}, not {:#04x}",
            wanted.len(),
            found[at],
            wanted[at]
        ))),
    }
}
