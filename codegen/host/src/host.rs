//! A loaded plugin with one device and the four streams that TensorFlow creates.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use crate::core::{self, KernelBuilder};
use crate::error::NO_DEVICES;
use crate::executor::{Executor, StreamHandle};
use crate::graph::GraphDef;
use crate::objects::ObjectReport;
use crate::optimizer::RegisteredOptimizer;
use crate::plugin::{LoadedPlugin, RegisteredPlatform};
use crate::profiler::RegisteredProfiler;
use crate::quirks::{Quirk, Quirks};
use crate::registration::RegisteredKernel;
use crate::release::EmulatedRelease;
use crate::{Error, StatusCode, fault, requirements};

/// The environment variable that selects the asynchronous mode, with `1`.
const ASYNC: &str = "SP_HOST_ASYNC";

/// Serializes loading, because kernels are registered with the process.
static OPENING: Mutex<()> = Mutex::new(());

/// A test host: a small TensorFlow core with one plugin.
///
/// Kernels may run on several threads, as in TensorFlow. With `SP_HOST_ASYNC=1` each kernel is called before its inputs are
/// copied to the device, on a device with queues. A kernel that does not compute in the order of its stream gives wrong
/// results. Dropping a host destroys the device and the platform, which TensorFlow never does; [`Host::close`] returns
/// errors of that.
pub struct Host {
    pub(crate) platform: RegisteredPlatform,
    pub(crate) executor: Arc<Executor>,
    pub(crate) streams: Streams,
    pub(crate) kernels: Vec<KernelBuilder>,
    pub(crate) quirks: Quirks,
    /// True if kernels are called before their inputs are copied.
    pub(crate) is_async: bool,
    optimizer: Option<RegisteredOptimizer>,
    pub(crate) profiler: Option<RegisteredProfiler>,
    open: bool,
}

/// The streams that TensorFlow creates for a device.
pub(crate) struct Streams {
    pub compute: StreamHandle,
    pub host_to_device: StreamHandle,
    pub device_to_host: StreamHandle,
    pub device_to_device: StreamHandle,
}

impl Streams {
    fn new(executor: &Executor) -> Result<Self, Error> {
        Ok(Self {
            compute: executor.create_stream()?,
            host_to_device: executor.create_stream()?,
            device_to_host: executor.create_stream()?,
            device_to_device: executor.create_stream()?,
        })
    }

    fn all(&self) -> [StreamHandle; 4] {
        [
            self.compute,
            self.host_to_device,
            self.device_to_host,
            self.device_to_device,
        ]
    }
}

impl Host {
    /// Loads `plugin` as TensorFlow `release` does, and creates its first device.
    ///
    /// # Errors
    /// Returns an error with all reasons if TensorFlow would reject the plugin or crash, if a function of the
    /// plugin reports an error, or if the plugin has no device.
    pub fn open<'a>(release: impl Into<EmulatedRelease<'a>>, plugin: &Path) -> Result<Self, Error> {
        let _opening = OPENING.lock().unwrap_or_else(PoisonError::into_inner);
        core::take_registered_kernels();
        let plugin = LoadedPlugin::load(release.into(), plugin)?;
        let platform = register_platform(&plugin)?;
        let (mut optimizer, mut profiler) = (None, None);
        for name in plugin.entry_points() {
            match name {
                "TF_InitKernel" => plugin.register_kernels(),
                "TF_InitGraph" => optimizer = Some(register_checked_optimizer(&plugin)?),
                "TF_InitProfiler" => profiler = Some(register_checked_profiler(&plugin)?),
                _ => {}
            }
        }
        let kernels = core::take_registered_kernels();
        let executor = Arc::new(device(&platform, plugin.quirks)?);
        let streams =
            Streams::new(&executor).map_err(|error| stream_error(plugin.quirks, error))?;
        Ok(Self {
            platform,
            executor,
            streams,
            kernels,
            quirks: plugin.quirks,
            is_async: std::env::var_os(ASYNC).is_some_and(|value| value == "1"),
            optimizer,
            profiler,
            open: true,
        })
    }

    /// Returns the kernels that the plugin registered, in their order.
    pub fn kernels(&self) -> impl Iterator<Item = RegisteredKernel> {
        self.kernels.iter().map(RegisteredKernel::from)
    }

    /// Returns the entries of the graph optimizer's configuration that are off (1) or on (2), at the offsets of
    /// this release. Empty without an optimizer.
    pub fn graph_switches(&self) -> Vec<(String, u64)> {
        let optimizer = self.optimizer.as_ref();
        optimizer.map_or_else(Vec::new, RegisteredOptimizer::non_default_entries)
    }

    /// Runs the plugin's graph optimizer on a serialized `GraphDef` and returns the optimized graph. The nodes in
    /// `fetch` must be preserved.
    ///
    /// # Errors
    /// Returns an error if the plugin has no optimizer or the optimizer fails.
    pub fn optimize(&self, graph: &[u8], fetch: &[&str]) -> Result<Vec<u8>, Error> {
        let none = || Error::Misuse("the plugin registered no graph optimizer".into());
        let optimizer = self.optimizer.as_ref().ok_or_else(none)?;
        optimizer.optimize(&GraphDef::parse(graph, fetch), graph)
    }

    /// Runs `body` in a session of the plugin's profiler and returns the profile, a serialized `XSpace`.
    ///
    /// # Errors
    /// Returns an error if the plugin has no profiler or the profiler fails.
    pub fn profile(&self, body: impl FnOnce()) -> Result<Vec<u8>, Error> {
        let none = || Error::Misuse("the plugin registered no profiler".into());
        let profiler = self.profiler.as_ref().ok_or_else(none)?;
        profiler.start()?;
        body();
        profiler.stop()?;
        profiler.collect()
    }

    /// Returns the device type that the plugin registered, such as `GPU`.
    pub fn device_type(&self) -> String {
        self.platform.device_type()
    }

    /// Destroys streams, device and platform, and returns the objects that the plugin did not delete.
    ///
    /// # Errors
    /// Returns an error if a destroy function of the plugin is missing or synchronization fails.
    pub fn close(mut self) -> Result<ObjectReport, Error> {
        self.release()?;
        Ok(ObjectReport::now())
    }

    fn release(&mut self) -> Result<(), Error> {
        if !std::mem::replace(&mut self.open, false) {
            return Ok(());
        }
        self.executor.synchronize()?;
        for stream in self.streams.all() {
            self.executor.destroy_stream(stream)?;
        }
        self.platform.destroy_device(self.executor.device())?;
        self.platform.destroy()
    }
}

/// Registers the platform of the plugin. Fails if TensorFlow would reject it.
pub(crate) fn register_platform(plugin: &LoadedPlugin) -> Result<RegisteredPlatform, Error> {
    let quirks = plugin.quirks;
    let registration = plugin.register()?;
    requirements::reject(&registration.rejections(quirks))?;
    let platform = registration.into_loaded(&plugin.shapes)?;
    requirements::reject(&platform.rejections(quirks))?;
    if quirks.has(Quirk::RequestsTimers)
        && let Some(timer_fns) = platform.timer_fns()?
    {
        requirements::reject(&requirements::rejections(quirks, &timer_fns))?;
    }
    Ok(platform)
}

/// Creates the platform's first device.
fn device(platform: &RegisteredPlatform, quirks: Quirks) -> Result<Executor, Error> {
    if platform.visible_devices()? < 1 {
        return Err(Error::Declined(NO_DEVICES.into()));
    }
    let device = platform.create_device(0);
    let device = device.map_err(|error| device_error(quirks, error))?;
    requirements::reject(&requirements::rejections(quirks, &device))?;
    let executor = platform.executor(device);
    let unknown = Error::Status {
        call: "device_memory_usage".into(),
        code: StatusCode::UNKNOWN,
        message: "Failed to query available memory for PluggableDevice 0".into(),
    };
    executor.usage()?.map(|_| executor).ok_or(unknown)
}

/// Returns the error that TensorFlow reports if a device cannot be created.
fn device_error(quirks: Quirks, error: Error) -> Error {
    match error {
        Error::Status {
            call,
            code,
            message,
        } if quirks.has(Quirk::DeviceErrorIsFatal) => {
            Error::Refused(format!("{code}: {message}; reported by {call}"))
        }
        other => other,
    }
}

/// Returns the error that TensorFlow reports for a device without streams, which is that of the first copy.
fn stream_error(quirks: Quirks, error: Error) -> Error {
    match quirks.has(Quirk::CopyErrorIsFatal) {
        true => Error::Refused(format!("CPU->PluggableDevice Memcpy failed.; {error}")),
        false => Error::Status {
            call: "create_stream".into(),
            code: StatusCode::INTERNAL,
            message: format!("No PluggableDevice stream is available.; {error}"),
        },
    }
}

/// Registers the graph optimizer of the plugin. Fails if TensorFlow would reject it.
pub(crate) fn register_checked_optimizer(
    plugin: &LoadedPlugin,
) -> Result<RegisteredOptimizer, Error> {
    let optimizer = plugin.register_optimizer()?;
    requirements::reject(&optimizer.rejections(plugin.quirks))?;
    Ok(optimizer.into_loaded())
}

/// Registers the profiler of the plugin. Fails if TensorFlow would reject it.
pub(crate) fn register_checked_profiler(
    plugin: &LoadedPlugin,
) -> Result<RegisteredProfiler, Error> {
    let profiler = plugin.register_profiler()?;
    requirements::reject(&profiler.rejections(plugin.quirks))?;
    profiler.into_loaded()
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Host of {}", self.device_type())
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        if let Err(error) = self.release() {
            fault::report(&format!("closing the host failed: {error}"));
        }
    }
}
