//! A loaded plugin with one device and TensorFlow's four streams, ready to run kernels.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use crate::core::{self, Builder};
use crate::executor::{Executor, Stream};
use crate::graph::Graph;
use crate::objects::Tally;
use crate::optimizer::Optimizer;
use crate::plugin::{Platform, Plugin};
use crate::profiler::Profiler;
use crate::quirks::{Quirk, Quirks};
use crate::release::Release;
use crate::{Code, DType, Error, fault, requirements};

/// Plugins register kernels with the process, so one is loaded at a time.
static OPENING: Mutex<()> = Mutex::new(());

/// A TensorFlow core with one plugin.
///
/// Kernels may be run from several threads, as TensorFlow does. Dropping a host gives the device and
/// the platform back to the plugin, which TensorFlow never does; [`Host::close`] says how that went.
pub struct Host {
    pub(crate) platform: Platform,
    pub(crate) executor: Arc<Executor>,
    pub(crate) streams: Streams,
    pub(crate) kernels: Vec<Builder>,
    pub(crate) quirks: Quirks,
    optimizer: Option<Optimizer>,
    profiler: Option<Profiler>,
    open: bool,
}

/// The streams that TensorFlow makes for a device.
pub(crate) struct Streams {
    pub compute: Stream,
    pub host_to_device: Stream,
    pub device_to_host: Stream,
    pub device_to_device: Stream,
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

    fn all(&self) -> [Stream; 4] {
        [
            self.compute,
            self.host_to_device,
            self.device_to_host,
            self.device_to_device,
        ]
    }
}

/// What a kernel was registered for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registered {
    /// The op.
    pub op: String,
    /// The device type.
    pub device: String,
    /// Type attributes and what they must be.
    pub constraints: Vec<(String, DType)>,
    /// Arguments that stand in host memory.
    pub host_memory: Vec<String>,
    /// Of kernels that match, the one of the highest priority serves.
    pub priority: i32,
}

impl Host {
    /// Loads `plugin` as TensorFlow `release` does, and creates its first device.
    ///
    /// # Errors
    /// Where TensorFlow would refuse the plugin or crash on it, with every reason at once; where the
    /// plugin itself says no; and where it reports no device.
    pub fn open<'a>(release: impl Into<Release<'a>>, plugin: &Path) -> Result<Self, Error> {
        let _opening = OPENING.lock().unwrap_or_else(PoisonError::into_inner);
        core::recorded();
        let plugin = Plugin::load(release.into(), plugin)?;
        let platform = adopt(&plugin)?;
        let (mut optimizer, mut profiler) = (None, None);
        for name in plugin.entry_points() {
            match name {
                "TF_InitKernel" => plugin.register_kernels(),
                "TF_InitGraph" => optimizer = Some(adopt_optimizer(&plugin)?),
                "TF_InitProfiler" => profiler = Some(adopt_profiler(&plugin)?),
                _ => {}
            }
        }
        let kernels = core::recorded();
        let executor = Arc::new(device(&platform, plugin.quirks)?);
        let streams = Streams::new(&executor).map_err(|error| unstreamed(plugin.quirks, error))?;
        Ok(Self {
            platform,
            executor,
            streams,
            kernels,
            quirks: plugin.quirks,
            optimizer,
            profiler,
            open: true,
        })
    }

    /// The kernels that the plugin registered, in its order.
    pub fn kernels(&self) -> impl Iterator<Item = Registered> {
        self.kernels.iter().map(|kernel| Registered {
            op: kernel.op.clone(),
            device: kernel.device.clone(),
            constraints: kernel.constraints.clone(),
            host_memory: kernel.host_memory.clone(),
            priority: kernel.priority,
        })
    }

    /// The entries of the graph optimizer's configuration that it switched off (1) or on (2), as this
    /// release reads them; none without an optimizer.
    pub fn graph_switches(&self) -> Vec<(String, u64)> {
        let optimizer = self.optimizer.as_ref();
        optimizer.map_or_else(Vec::new, Optimizer::switched)
    }

    /// What the plugin's graph optimizer makes of a serialized `GraphDef` whose nodes `fetch` somebody
    /// wants.
    ///
    /// # Errors
    /// Where the plugin has no optimizer, or it fails.
    pub fn optimize(&self, graph: &[u8], fetch: &[&str]) -> Result<Vec<u8>, Error> {
        let none = || Error::Misuse("the plugin registered no graph optimizer".into());
        let optimizer = self.optimizer.as_ref().ok_or_else(none)?;
        optimizer.optimize(&Graph::read(graph, fetch), graph)
    }

    /// What the plugin's profiler gives of the time that `body` takes: a serialized `XSpace`.
    ///
    /// # Errors
    /// Where the plugin has no profiler, or it fails.
    pub fn profile(&self, body: impl FnOnce()) -> Result<Vec<u8>, Error> {
        let none = || Error::Misuse("the plugin registered no profiler".into());
        let profiler = self.profiler.as_ref().ok_or_else(none)?;
        profiler.start()?;
        body();
        profiler.stop()?;
        profiler.collect()
    }

    /// The device type that the plugin registered: `GPU`, or its own.
    pub fn device_type(&self) -> String {
        self.platform.device_type()
    }

    /// Gives everything back to the plugin, and says what is left.
    ///
    /// # Errors
    /// Where the plugin does not give a stream, the device or the platform back.
    pub fn close(mut self) -> Result<Tally, Error> {
        self.shut()?;
        Ok(Tally::now())
    }

    fn shut(&mut self) -> Result<(), Error> {
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

/// The platform that the plugin registers, if TensorFlow would take it.
pub(crate) fn adopt(plugin: &Plugin) -> Result<Platform, Error> {
    let quirks = plugin.quirks;
    let registration = plugin.register()?;
    requirements::refuse(&registration.refusals(quirks))?;
    let platform = registration.adopt(&plugin.shapes)?;
    requirements::refuse(&platform.refusals(quirks))?;
    if quirks.has(Quirk::RequestsTimers)
        && let Some(timer_fns) = platform.timer_fns()?
    {
        requirements::refuse(&requirements::refusals(quirks, &timer_fns))?;
    }
    Ok(platform)
}

/// The platform's first device.
fn device(platform: &Platform, quirks: Quirks) -> Result<Executor, Error> {
    if platform.visible_devices()? < 1 {
        return Err(Error::Declined("the plugin reports 0 devices".into()));
    }
    let device = platform.create_device(0);
    let device = device.map_err(|error| uncreated(quirks, error))?;
    requirements::refuse(&requirements::refusals(quirks, &device))?;
    let executor = platform.executor(device);
    let unknown = Error::Status {
        call: "device_memory_usage".into(),
        code: Code::UNKNOWN,
        message: "Failed to query available memory for PluggableDevice 0".into(),
    };
    executor.usage()?.map(|_| executor).ok_or(unknown)
}

/// What becomes of a device that cannot be created.
fn uncreated(quirks: Quirks, error: Error) -> Error {
    match error {
        Error::Status {
            call,
            code,
            message,
        } if quirks.has(Quirk::DeviceErrorIsFatal) => {
            Error::Refused(format!("{code}: {message}; {call} said so"))
        }
        other => other,
    }
}

/// What becomes of a device without streams: TensorFlow asks for them once, and first misses them as
/// it copies.
fn unstreamed(quirks: Quirks, error: Error) -> Error {
    match quirks.has(Quirk::CopyErrorIsFatal) {
        true => Error::Refused(format!("CPU->PluggableDevice Memcpy failed.; {error}")),
        false => Error::Status {
            call: "create_stream".into(),
            code: Code::INTERNAL,
            message: format!("No PluggableDevice stream is available.; {error}"),
        },
    }
}

/// The graph optimizer that the plugin registers, if TensorFlow would take it.
pub(crate) fn adopt_optimizer(plugin: &Plugin) -> Result<Optimizer, Error> {
    let optimizer = plugin.register_optimizer()?;
    requirements::refuse(&optimizer.refusals(plugin.quirks))?;
    Ok(optimizer.adopt())
}

/// The profiler that the plugin registers, if TensorFlow would take it.
pub(crate) fn adopt_profiler(plugin: &Plugin) -> Result<Profiler, Error> {
    let profiler = plugin.register_profiler()?;
    requirements::refuse(&profiler.refusals(plugin.quirks))?;
    profiler.adopt()
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Host of {}", self.device_type())
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        if let Err(error) = self.shut() {
            fault::note(&format!("on closing: {error}"));
        }
    }
}
