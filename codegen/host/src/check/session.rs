//! What all checks share: the plugin under test, its device, and comparisons.

use std::path::Path;
use std::sync::Arc;

use crate::executor::{Block, Executor, Stream};
use crate::host::adopt;
use crate::outcome::Stop;
use crate::plugin::{Platform, Plugin, entry_points};
use crate::release::Release;
use crate::{Error, Host};

/// What a check is handed.
pub(crate) struct Session<'a> {
    pub release: Release<'a>,
    pub plugin: &'a Path,
}

/// A device of the plugin's, with the platform that it belongs to.
pub(crate) struct Device {
    pub platform: Platform,
    pub executor: Arc<Executor>,
}

impl Session<'_> {
    /// The plugin's library. Where it does not load, that is the failure of `entry_points` alone.
    pub(super) fn load(&self) -> Result<Plugin, Stop> {
        let loaded = Plugin::load(self.release, self.plugin);
        loaded.map_err(|_| Stop::Skip("does not load, as entry_points says".into()))
    }

    /// The plugin, where it has the entry point and the release looks for it.
    pub(super) fn with(&self, entry_point: &str) -> Result<Plugin, Stop> {
        let plugin = self.load()?;
        match plugin.entry_points().contains(&entry_point) {
            true => Ok(plugin),
            false if !entry_points(self.release).contains(&entry_point) => Err(Stop::Skip(
                format!("this release looks for no {entry_point}"),
            )),
            false => Err(Stop::Skip(format!("the plugin has no {entry_point}"))),
        }
    }

    pub(super) fn platform(&self) -> Result<Platform, Stop> {
        adopt(&self.with("SE_InitPlugin")?).map_err(unregistered)
    }

    /// The plugin with all its parts, as TensorFlow has it.
    pub(super) fn host(&self) -> Result<Host, Stop> {
        self.with("SE_InitPlugin")?;
        Host::open(self.release, self.plugin).map_err(unregistered)
    }

    pub(super) fn device(&self) -> Result<Device, Stop> {
        let platform = self.platform()?;
        if platform.device_count()? < 1 {
            return Err(Stop::Skip("the plugin reports 0 devices".into()));
        }
        let executor = Device::of(&platform)?;
        Ok(Device { platform, executor })
    }
}

/// What keeps a plugin from being registered is the failure of the checks that ask for it.
pub(super) fn unregistered(error: Error) -> Stop {
    match error {
        Error::Declined(text) => Stop::Skip(text),
        other => Stop::Skip(format!("not registered: {other}")),
    }
}

impl Device {
    /// The first device's slots.
    pub(super) fn of(platform: &Platform) -> Result<Arc<Executor>, Error> {
        Ok(Arc::new(platform.executor(platform.create_device(0)?)))
    }

    /// Device memory of `size` bytes; the check ends where there is none.
    pub(super) fn block(&self, size: usize) -> Result<Block, Stop> {
        block(&self.executor, size)
    }

    pub(super) fn stream(&self) -> Result<Stream, Stop> {
        Ok(self.executor.create_stream()?)
    }

    /// The bytes of `block`.
    pub(super) fn read(&self, block: Block, size: usize) -> Result<Vec<u8>, Stop> {
        let mut bytes = vec![0; size];
        self.executor.sync_dtoh(&mut bytes, block)?;
        Ok(bytes)
    }
}

pub(super) fn block(executor: &Executor, size: usize) -> Result<Block, Stop> {
    let block = executor.allocate(size as u64)?;
    ensure(!block.opaque.is_null(), || {
        format!("allocate of {size} bytes gave nothing")
    })?;
    Ok(block)
}

/// Runs `work` on eight threads at once.
pub(super) fn at_once(work: impl Fn(u8) -> Result<(), Stop> + Sync) -> Result<(), Stop> {
    std::thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = (0..8).map(|seed| scope.spawn(move || work(seed))).collect();
        let mut joined = threads.into_iter().map(|thread| thread.join());
        let panicked = |_| Stop::Fail("a thread panicked".into());
        joined.try_for_each(|result| result.map_err(panicked)?)
    })
}

/// Stops the check, unless `good`.
pub(super) fn ensure(good: bool, text: impl FnOnce() -> String) -> Result<(), Stop> {
    match good {
        true => Ok(()),
        false => Err(Stop::Fail(text())),
    }
}

/// Bytes that differ from place to place and from `seed` to `seed`.
pub(super) fn pattern(size: usize, seed: u8) -> Vec<u8> {
    let byte = |at: usize| (at as u8).wrapping_mul(31) ^ (at >> 8) as u8 ^ seed;
    (0..size).map(byte).collect()
}

/// Stops the check where the bytes differ, with the first place.
pub(super) fn same(what: &str, found: &[u8], wanted: &[u8]) -> Result<(), Stop> {
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
