//! A loaded plugin: its table, and calls by the names of its functions.

use std::path::Path;

use sp_host::child_checks::{OpenLibrary, Stop, SymbolScope, report_loaded};
use sp_ir::Api;

use crate::args::Args;
use crate::demand::HostDemand;
use crate::hosts::PjrtHost;
use crate::{call, layout, memory};

/// The entry point of a PJRT plugin.
pub const ENTRY_POINT: &str = "GetPjrtApi";

/// The code of an error that states that a function is not implemented.
pub(crate) const UNIMPLEMENTED: i32 = 12;

/// An error that the plugin has returned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PluginError {
    pub code: i32,
    pub message: String,
}

/// The result of a call of the plugin, or its error.
pub(crate) type Called<'a> = Result<Args<'a>, PluginError>;

/// The plugin's table, as a host reads it.
pub(crate) struct Plugin<'a> {
    /// The host that calls.
    pub host: &'static PjrtHost,
    /// Its demands.
    pub demand: &'a HostDemand,
    /// The layouts of the host's header.
    pub api: &'a Api,
    /// The address of the table.
    pub table: u64,
    /// The `struct_size` of the table.
    pub size: usize,
}

impl<'a> Plugin<'a> {
    /// Loads the library and reads its table.
    ///
    /// # Errors
    /// Returns a failure if that is not possible.
    pub fn load(
        host: &'static PjrtHost,
        demand: &'a HostDemand,
        api: &'a Api,
        path: &Path,
    ) -> Result<Self, Stop> {
        let table = load_table(path)?;
        let size = memory::words(table, 1, "the table of GetPjrtApi")?[0] as usize;
        let plugin = Self {
            host,
            demand,
            api,
            table,
            size,
        };
        plugin.field("pjrt_api_version.minor_version")?;
        Ok(plugin)
    }

    /// Returns a field of the table, or 0 if the table ends before it.
    pub fn field(&self, path: &str) -> Result<u64, Stop> {
        let unknown = || Stop::Skip(format!("this host's header has no PJRT_Api.{path}"));
        let place = layout::place(self.api, "PJRT_Api", path).ok_or_else(unknown)?;
        if place.offset + place.size > self.size {
            return Ok(0);
        }
        let what = format!("PJRT_Api.{path}");
        let bytes = memory::bytes(self.table + place.offset as u64, place.size.min(8), &what)?;
        let mut value = [0; 8];
        value[..bytes.len()].copy_from_slice(&bytes);
        Ok(u64::from_le_bytes(value))
    }

    /// Returns the minor version of the plugin.
    pub fn minor(&self) -> Result<u32, Stop> {
        Ok(self.field("pjrt_api_version.minor_version")? as u32)
    }

    /// Returns the address in the slot of `function`, which is named without `PJRT_`, or 0.
    pub fn slot(&self, function: &str) -> Result<u64, Stop> {
        self.field(&format!("PJRT_{function}"))
    }

    /// Returns true if host and plugin have the function.
    pub fn has(&self, function: &str) -> bool {
        self.slot(function).is_ok_and(|address| address != 0)
    }

    /// Returns the struct of arguments of `function` with the inputs `set`.
    pub fn args(&self, function: &str, set: &[(&str, u64)]) -> Result<Args<'a>, Stop> {
        let args = Args::new(self.api, &format!("PJRT_{function}_Args"))?;
        set.iter()
            .try_fold(args, |args, (path, value)| args.set(path, *value))
    }

    /// Calls `function` with the inputs `set`, and returns the struct with its outputs.
    ///
    /// # Errors
    /// Returns a failure if the plugin reports an error, and a skip if the plugin or the host lacks the function, or the
    /// plugin does not implement it. A host requires some functions: those fail.
    pub fn call(&self, function: &str, set: &[(&str, u64)]) -> Result<Args<'a>, Stop> {
        self.require(function, self.try_call(function, set)?)
    }

    /// Returns the outputs of a call of `function`, or its error as a failure or skip.
    pub fn require(&self, function: &str, called: Called<'a>) -> Result<Args<'a>, Stop> {
        called.map_err(|error| match (error.code, self.demand.error(function)) {
            (UNIMPLEMENTED, None) => {
                Stop::Skip(format!("the plugin does not implement PJRT_{function}"))
            }
            (UNIMPLEMENTED, Some(measured)) => {
                Stop::Fail(format!("PJRT_{function} failed: {error} ({measured})"))
            }
            _ => Stop::Fail(format!("PJRT_{function} failed: {error}")),
        })
    }

    /// Returns what was measured if the slot of a function is null, or `None` if the host does not call it then. The host calls no
    /// function after the table of a version that it runs.
    pub fn lacks(&self, function: &str) -> Result<Option<String>, Stop> {
        let slot = format!("PJRT_{function}");
        let Some(place) = layout::place(self.api, "PJRT_Api", &slot) else {
            return Ok(None);
        };
        let is_after_table = place.offset + place.size > self.size;
        let is_called = !is_after_table || !self.demand.runs_header(self.minor()?);
        let is_null = self.slot(function)? == 0;
        Ok(self.demand.null(function).filter(|_| is_null && is_called))
    }

    /// Returns the result for a null slot: a failure if the host calls it, or else a skip.
    fn missing(&self, function: &str) -> Stop {
        let text = format!("PJRT_{function} is null or not in the plugin's table");
        match self.lacks(function) {
            Ok(Some(measured)) => Stop::Fail(format!("{text} ({measured})")),
            Ok(None) => Stop::Skip(text),
            Err(stop) => stop,
        }
    }

    /// Calls `function`, which may fail.
    pub fn try_call(&self, function: &str, set: &[(&str, u64)]) -> Result<Called<'a>, Stop> {
        self.call_with(function, self.args(function, set)?)
    }

    /// Calls `function` with `args`, which may fail.
    pub fn call_with(&self, function: &str, mut args: Args<'a>) -> Result<Called<'a>, Stop> {
        let address = self.slot(function)?;
        if address == 0 {
            return Err(self.missing(function));
        }
        let name = format!("PJRT_{function}");
        // SAFETY: each slot but two, which this function is not called for, takes a pointer to its struct of arguments and returns a
        // `PJRT_Error*`. The struct is alive, and callers keep alive what it points to.
        let error = unsafe { call::with_pointer(address, args.address(), &name) };
        args.check_bounds()?;
        match error {
            0 => Ok(Ok(args)),
            error => Ok(Err(self.take_error(error)?)),
        }
    }

    /// Calls a function whose slot returns nothing: that of an error.
    pub fn call_void(&self, function: &str, mut args: Args<'a>) -> Result<Args<'a>, Stop> {
        let address = self.slot(function)?;
        if address == 0 {
            return Err(self.missing(function));
        }
        let name = format!("PJRT_{function}");
        // SAFETY: the slots of PJRT_Error_Destroy and PJRT_Error_Message take a pointer to their struct, which is alive.
        unsafe { call::with_pointer(address, args.address(), &name) };
        args.check_bounds()?;
        Ok(args)
    }

    /// Calls a function that the plugin has returned to free `object`.
    pub fn call_deleter(&self, deleter: u64, object: u64, name: &str) -> Result<(), Stop> {
        if deleter == 0 {
            return Err(Stop::Fail(format!("the deleter {name} is null")));
        }
        // SAFETY: the plugin has returned this function with the object that it takes.
        unsafe { call::with_pointer(deleter, object, name) };
        Ok(())
    }

    /// Reads an error and destroys it.
    pub fn take_error(&self, error: u64) -> Result<PluginError, Stop> {
        let read = self.read_error(error);
        self.destroy_error(error)?;
        read
    }

    /// Reads the code and the message of an error.
    pub fn read_error(&self, error: u64) -> Result<PluginError, Stop> {
        let set = [("error", error)];
        let args = self.args("Error_GetCode", &set)?;
        let code = match self.call_raw("Error_GetCode", args)? {
            (0, args) => args.int("code")?,
            _ => return Err(Stop::Fail("PJRT_Error_GetCode returned an error".into())),
        };
        let args = self.call_void("Error_Message", self.args("Error_Message", &set)?)?;
        let (at, len) = (args.get("message")?, args.get("message_size")? as usize);
        if at == 0 {
            return Err(Stop::Fail(format!(
                "the message of an error with code {code} is null"
            )));
        }
        let message = memory::text(at, len, "the message of an error")?;
        Ok(PluginError { code, message })
    }

    /// Destroys an error.
    pub fn destroy_error(&self, error: u64) -> Result<(), Stop> {
        let args = self.args("Error_Destroy", &[("error", error)])?;
        self.call_void("Error_Destroy", args).map(drop)
    }

    /// Calls `function` and returns its error without reading it.
    pub fn call_raw(&self, function: &str, mut args: Args<'a>) -> Result<(u64, Args<'a>), Stop> {
        let address = self.slot(function)?;
        if address == 0 {
            return Err(self.missing(function));
        }
        let name = format!("PJRT_{function}");
        // SAFETY: as in `call_with`.
        let error = unsafe { call::with_pointer(address, args.address(), &name) };
        args.check_bounds()?;
        Ok((error, args))
    }

    /// Returns the text in two fields of `args`: `field` and its size.
    pub fn text(&self, args: &Args<'_>, field: &str) -> Result<String, Stop> {
        let size = format!("{field}_size");
        memory::text(args.get(field)?, args.get(&size)? as usize, field)
    }

    /// Returns the value of an enumerator of the host's header.
    pub fn value(&self, name: &str) -> Result<u64, Stop> {
        let found = layout::enumerator(self.api, name);
        let found = found.ok_or_else(|| Stop::Skip(format!("this host's header has no {name}")))?;
        Ok(found as u64)
    }
}

/// Loads the library and returns the address of its table.
fn load_table(path: &Path) -> Result<u64, Stop> {
    let library = OpenLibrary::open(path, SymbolScope::Local)?;
    report_loaded();
    let function = library.symbol(ENTRY_POINT);
    let function =
        function.ok_or_else(|| Stop::Fail(format!("the library does not export {ENTRY_POINT}")))?;
    // SAFETY: GetPjrtApi has no parameters and returns a pointer, in every version of the header.
    let table = unsafe { call::entry_point(function.as_ptr(), ENTRY_POINT) };
    // SAFETY: as above.
    let again = unsafe { call::entry_point(function.as_ptr(), ENTRY_POINT) };
    match table {
        0 => Err(Stop::Fail(format!("{ENTRY_POINT} returned null"))),
        table if table != again => Err(Stop::Fail(format!(
            "{ENTRY_POINT} returned {table:#x}, then {again:#x}"
        ))),
        table => Ok(table),
    }
}

impl std::fmt::Display for PluginError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{}: {}",
            sp_host::StatusCode(self.code as u32),
            self.message
        )
    }
}
