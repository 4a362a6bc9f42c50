//! Loading of a plugin as TensorFlow does it: the library, `SE_InitPlugin` and the tables, then copies of the
//! platform and of each device at new addresses.

use std::ffi::c_void;
use std::path::Path;
use std::ptr::NonNull;
use std::sync::Arc;

use crate::call::{self, Ptr, call, call_with_status, status_call};
use crate::channel::{self, kind};
use crate::contract_watch::{CallWatch, record_breach};
use crate::dl::{OpenLibrary, SymbolScope};
use crate::executor::{Executor, Settings};
use crate::plugin_settings::{self, SETTINGS_FUNCTION, SettingsFunction};
use crate::quirks::{Quirk, Quirks};
use crate::record::{GuardedStruct, StructShapes};
use crate::release::EmulatedRelease;
use crate::requirements;
use crate::{Error, fake_library, fault, objects};

/// The entry points that any release looks for.
pub const ENTRY_POINTS: [&str; 4] = [
    "SE_InitPlugin",
    "TF_InitKernel",
    "TF_InitGraph",
    "TF_InitProfiler",
];

/// An entry point that fills the struct in its first argument; the second is a `TF_Status*`.
pub(crate) type FillingEntryPoint = unsafe extern "C" fn(Ptr, Ptr);

/// `TF_InitKernel`.
pub(crate) type KernelEntryPoint = unsafe extern "C" fn();

/// The entry points that a release looks for, in the order in which it calls them.
pub(crate) fn entry_points(release: EmulatedRelease<'_>) -> Vec<&'static str> {
    let (kernel, graph) = (["TF_InitKernel"], ["TF_InitGraph"]);
    let second = match release.quirks().has(Quirk::GraphBeforeKernels) {
        true => [graph, kernel],
        false => [kernel, graph],
    };
    let profiler = release
        .has("pluggable_profiler")
        .then_some("TF_InitProfiler");
    ["SE_InitPlugin"]
        .into_iter()
        .chain(second.concat())
        .chain(profiler)
        .collect()
}

/// A loaded plugin.
pub(crate) struct LoadedPlugin {
    library: OpenLibrary,
    pub shapes: StructShapes,
    entry_points_of_release: Vec<&'static str>,
    pub versions: ApiVersions,
    pub quirks: Quirks,
}

/// The versions of the APIs, from their macros.
pub(crate) struct ApiVersions {
    device: [u64; 3],
    pub graph: [u64; 3],
    pub profiler: [u64; 3],
}

impl ApiVersions {
    fn new(release: EmulatedRelease<'_>) -> Self {
        let version = |prefix: &str| {
            ["MAJOR", "MINOR", "PATCH"].map(|part| release.number(&format!("{prefix}_{part}")))
        };
        Self {
            device: version("SE"),
            graph: version("GO"),
            profiler: version("TP"),
        }
    }
}

/// The structs that `SE_InitPlugin` filled.
pub(crate) struct Registration {
    pub params: GuardedStruct,
    pub platform: GuardedStruct,
    pub platform_fns: GuardedStruct,
    quirks: Quirks,
}

/// A platform with its tables.
pub(crate) struct RegisteredPlatform {
    registration: Registration,
    pub quirks: Quirks,
    pub device_fns: GuardedStruct,
    pub table: Arc<GuardedStruct>,
    shapes: StructShapes,
}

impl LoadedPlugin {
    /// Opens the library after the fake libraries of TensorFlow.
    pub fn load(release: EmulatedRelease<'_>, path: &Path) -> Result<Self, Error> {
        fake_library::load(release)?;
        fault::set_current_call(&"the plugin's constructors");
        let library = OpenLibrary::open(path, SymbolScope::Local)?;
        fault::set_current_call(&"no function yet");
        channel::send(kind::LOADED, "");
        Ok(Self {
            library,
            shapes: StructShapes::new(release.apis()),
            entry_points_of_release: entry_points(release),
            versions: ApiVersions::new(release),
            quirks: release.quirks(),
        })
    }

    /// Returns the entry points that the plugin exports.
    pub fn entry_points(&self) -> Vec<&'static str> {
        let found = |name: &&str| self.library.symbol(name).is_some();
        let entry_points_of_release = self.entry_points_of_release.iter().copied().filter(found);
        entry_points_of_release.collect()
    }

    /// Calls `SE_InitPlugin`.
    pub fn register(&self) -> Result<Registration, Error> {
        let mut params = self.shapes.record("SE_PlatformRegistrationParams")?;
        let platform = self.shapes.record("SP_Platform")?;
        let platform_fns = self.shapes.record("SP_PlatformFns")?;
        params.set_version(self.versions.device);
        params.set_pointer("platform", platform.address());
        params.set_pointer("platform_fns", platform_fns.address());
        self.call_entry_point(&"SE_InitPlugin", &params)?;
        Ok(Registration {
            quirks: self.quirks,
            params,
            platform,
            platform_fns,
        })
    }

    /// Calls an entry point that fills `params`.
    pub fn call_entry_point(
        &self,
        name: &'static &'static str,
        params: &GuardedStruct,
    ) -> Result<(), Error> {
        let entry = self.library.symbol(name);
        let entry = entry.ok_or_else(|| Error::Load(format!("the plugin exports no {name}")))?;
        call_with_status(name, |status| {
            let arguments = [params.address() as usize, status as usize];
            let watch = CallWatch::new(name, self.shapes.parameters(name), &arguments);
            fault::set_current_call(name);
            // SAFETY: the entry points that fill a struct have this signature in every release
            // (`signatures.rs`), and all records are alive.
            unsafe {
                let entry: FillingEntryPoint = std::mem::transmute(entry);
                entry(params.address(), status);
            }
            watch.report(call::is_ok(status), &[]);
            Ok(())
        })
    }

    /// Calls `TF_InitKernel`, if the plugin has it.
    pub fn register_kernels(&self) {
        if let Some(entry) = self.library.symbol("TF_InitKernel") {
            fault::set_current_call(&"TF_InitKernel");
            // SAFETY: `TF_InitKernel` has this signature in every release (`signatures.rs`).
            unsafe { std::mem::transmute::<NonNull<c_void>, KernelEntryPoint>(entry)() }
        }
    }

    /// Returns the text of the plugin's settings; empty if the plugin does not export the function.
    pub fn settings(&self) -> String {
        let Some(function) = self.library.symbol(SETTINGS_FUNCTION) else {
            return String::new();
        };
        fault::set_current_call(&SETTINGS_FUNCTION);
        // SAFETY: `plugin!` defines the function of this name with this signature and effect.
        unsafe {
            plugin_settings::read(std::mem::transmute::<NonNull<c_void>, SettingsFunction>(
                function,
            ))
        }
    }
}

impl Registration {
    /// Returns the reasons for which TensorFlow would reject the registration.
    pub fn rejections(&self, quirks: Quirks) -> Vec<String> {
        let records = [&self.params, &self.platform, &self.platform_fns];
        let names = ["name", "type"]
            .iter()
            .filter_map(|field| requirements::name_defect(&self.platform, field));
        records
            .into_iter()
            .flat_map(|record| requirements::rejections(quirks, record))
            .chain(names)
            .collect()
    }

    /// Requests the tables whose functions are set, and drops them.
    pub fn tables(&self, shapes: &StructShapes) -> Result<(), Error> {
        if self.platform_fns.get("create_device_fns") != Some(0) {
            self.device_fns(shapes)?;
        }
        if self.platform_fns.get("create_stream_executor") != Some(0) {
            self.table(shapes)?;
        }
        Ok(())
    }

    /// Requests the tables, then moves the platform to a new address.
    pub fn into_loaded(self, shapes: &StructShapes) -> Result<RegisteredPlatform, Error> {
        let device_fns = self.device_fns(shapes)?;
        let table = Arc::new(self.table(shapes)?);
        let quirks = self.quirks;
        let registration = Self {
            quirks,
            platform: relocate(self.platform),
            platform_fns: relocate(self.platform_fns),
            params: self.params,
        };
        Ok(RegisteredPlatform {
            registration,
            quirks,
            device_fns,
            table,
            shapes: shapes.clone(),
        })
    }

    fn device_fns(&self, shapes: &StructShapes) -> Result<GuardedStruct, Error> {
        let mut params = shapes.record("SE_CreateDeviceFnsParams")?;
        let filled = shapes.record("SP_DeviceFns")?;
        params.set_pointer("device_fns", filled.address());
        status_call!(
            self.platform_fns, "create_device_fns",
            (self.platform.address(), params.address()): (Ptr, Ptr, Ptr)
        )?;
        Ok(relocate(filled))
    }

    fn table(&self, shapes: &StructShapes) -> Result<GuardedStruct, Error> {
        let mut params = shapes.record("SE_CreateStreamExecutorParams")?;
        let filled = shapes.record("SP_StreamExecutor")?;
        params.set_pointer("stream_executor", filled.address());
        status_call!(
            self.platform_fns, "create_stream_executor",
            (self.platform.address(), params.address()): (Ptr, Ptr, Ptr)
        )?;
        Ok(relocate(filled))
    }
}

/// Copies the record to a new address and makes the old address inaccessible.
pub(crate) fn relocate(record: GuardedStruct) -> GuardedStruct {
    requirements::underrun(&record)
        .into_iter()
        .for_each(objects::record_fault);
    let copy = record.clone_to_new_address();
    record.retire();
    copy
}

impl RegisteredPlatform {
    /// Returns the reasons for which TensorFlow would reject the tables.
    pub fn rejections(&self, quirks: Quirks) -> Vec<String> {
        let unified =
            requirements::missing_unified_memory_slots(&self.registration.platform, &self.table);
        let records = [&self.device_fns, &*self.table];
        records
            .into_iter()
            .flat_map(|record| requirements::rejections(quirks, record))
            .chain(unified)
            .collect()
    }

    /// Returns the `SP_Platform` struct.
    pub fn record(&self) -> &GuardedStruct {
        &self.registration.platform
    }

    pub fn has_unified_memory(&self) -> bool {
        let value = self.record().get("supports_unified_memory");
        value.is_some_and(|value| value != 0)
    }

    /// Returns the device type, such as `GPU`.
    pub fn device_type(&self) -> String {
        self.registration.platform.text("type").unwrap_or_default()
    }

    fn address(&self) -> Ptr {
        self.registration.platform.address()
    }

    fn fns(&self) -> &GuardedStruct {
        &self.registration.platform_fns
    }

    pub fn device_count(&self) -> Result<i32, Error> {
        let mut count = 0i32;
        call_with_status("get_device_count", |status| {
            call!(self.fns(), "get_device_count", (self.address(), &mut count, status): (Ptr, *mut i32, Ptr));
            if count < 0 && call::is_ok(status) {
                let text = format!("SP_PlatformFns.get_device_count returned {count} devices");
                record_breach("SP_PlatformFns.get_device_count", text);
            }
            Ok(count)
        })
    }

    /// Returns the number of devices that TensorFlow sees. An error of the plugin means none.
    pub fn visible_devices(&self) -> Result<i32, Error> {
        self.device_count().map_err(|error| match error {
            Error::Status { .. } => {
                Error::Declined(format!("{error}, and TensorFlow sees no device"))
            }
            other => other,
        })
    }

    /// Creates the device, and moves it to a new address.
    pub fn create_device(&self, ordinal: i32) -> Result<GuardedStruct, Error> {
        let mut params = self.shapes.record("SE_CreateDeviceParams")?;
        let device = self.shapes.record("SP_Device")?;
        params.set("ordinal", ordinal as u32 as u64);
        params.set_pointer("device", device.address());
        status_call!(
            self.fns(), "create_device",
            (self.address(), params.address()): (Ptr, Ptr, Ptr)
        )?;
        Ok(relocate(device))
    }

    /// Calls the slots of `SP_DeviceFns` that the plugin sets.
    pub fn describe(&self, executor: &Executor) -> Result<(), Error> {
        let (fns, device) = (&self.device_fns, executor.device());
        if fns.get("get_numa_node").unwrap_or(0) != 0 {
            call!(fns, "get_numa_node", (device): (Ptr) -> i32);
        }
        if fns.get("get_memory_bandwidth").unwrap_or(0) != 0 {
            call!(fns, "get_memory_bandwidth", (device): (Ptr) -> i64);
        }
        if fns.get("get_gflops").unwrap_or(0) != 0 {
            call!(fns, "get_gflops", (device): (Ptr) -> f64);
        }
        Ok(())
    }

    pub fn destroy_device(&self, device: Ptr) -> Result<(), Error> {
        call!(self.fns(), "destroy_device", (self.address(), device): (Ptr, Ptr));
        Ok(())
    }

    /// Returns the executor of `device`.
    pub fn executor(&self, device: GuardedStruct) -> Executor {
        let settings = Settings {
            uses_bfc: self.uses_bfc(),
            host_alignment: self.quirks.host_alignment(),
        };
        Executor::new(
            device,
            Arc::clone(&self.table),
            self.shapes.clone(),
            settings,
        )
    }

    /// Returns true if the host puts its BFC allocator over the device's memory.
    pub fn uses_bfc(&self) -> bool {
        let platform = &self.registration.platform;
        platform.get("use_bfc_allocator").unwrap_or(0) != 0
    }

    /// Requests the timer functions, or returns `None` if the plugin has none.
    pub fn timer_fns(&self) -> Result<Option<GuardedStruct>, Error> {
        if self.fns().get("create_timer_fns").unwrap_or(0) == 0 {
            return Ok(None);
        }
        let filled = self.shapes.record("SP_TimerFns")?;
        status_call!(
            self.fns(), "create_timer_fns",
            (self.address(), filled.address()): (Ptr, Ptr, Ptr)
        )?;
        Ok(Some(filled))
    }

    pub fn destroy_timer_fns(&self, timer_fns: &GuardedStruct) -> Result<(), Error> {
        call!(self.fns(), "destroy_timer_fns", (self.address(), timer_fns.address()): (Ptr, Ptr));
        Ok(())
    }

    /// Destroys the tables, then the platform.
    pub fn destroy(&self) -> Result<(), Error> {
        let Registration {
            params,
            platform,
            platform_fns,
            ..
        } = &self.registration;
        let table = self.table.address();
        call!(self.fns(), "destroy_stream_executor", (self.address(), table): (Ptr, Ptr));
        let device_fns = self.device_fns.address();
        call!(self.fns(), "destroy_device_fns", (self.address(), device_fns): (Ptr, Ptr));
        call!(params, "destroy_platform_fns", (platform_fns.address()): (Ptr));
        call!(params, "destroy_platform", (platform.address()): (Ptr));
        Ok(())
    }
}
