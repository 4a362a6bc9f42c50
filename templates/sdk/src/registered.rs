//! The plugins of sp-gen that are registered in this process. TensorFlow ends the process if two platforms or two device
//! types have one name, as when a plugin is loaded from a second path: the later one declines the host.

use std::ffi::{CStr, CString, c_char};
use std::ptr;
use std::sync::{Mutex, OnceLock, PoisonError};

use sp_runtime::loaded_library::{LoadedLibrary, loaded_libraries, path_of_address};
use sp_runtime::symbol::is_exported;

use crate::plugin_info::PluginInfo;
use crate::{Code, Error, Result};

/// `PLATFORM DEVICE_TYPE` of this library once it is registered.
static NAMES: OnceLock<CString> = OnceLock::new();

/// The function that `plugin!` exports.
type PlatformFunction = unsafe extern "C" fn() -> *const c_char;

/// Returns `PLATFORM DEVICE_TYPE` if this library has registered them, else null: the body of `sp_plugin_platform`.
pub fn platform() -> *const c_char {
    NAMES.get().map_or(ptr::null(), |names| names.as_ptr())
}

/// Another library of the process, which is a plugin of sp-gen and has registered its names.
struct OtherPlugin {
    path: String,
    names: String,
}

impl OtherPlugin {
    /// Returns true if its platform or its device type has the name.
    fn has_name(&self, name: &CStr) -> bool {
        let mut names = self.names.split(' ');
        names.any(|it| it.as_bytes() == name.to_bytes())
    }
}

/// Registers the names, for later plugins.
///
/// # Errors
/// Returns an error if another plugin of the process has one of them.
pub(crate) fn claim(info: &PluginInfo) -> Result<()> {
    let taken = [info.platform_name, info.device_type];
    let others = match has_several_registries() {
        true => Vec::new(),
        false => other_plugins(),
    };
    let other = others.iter().find_map(|other| {
        let name = taken.into_iter().find(|name| other.has_name(name))?;
        Some((other, name))
    });
    match other {
        Some((other, name)) => Err(taken_error(other, name)),
        None => {
            set_names(info.platform_name, info.device_type);
            Ok(())
        }
    }
}

fn taken_error(other: &OtherPlugin, name: &CStr) -> Error {
    let (name, path, own) = (name.to_string_lossy(), &other.path, own_path());
    let message = format!("{path} has registered {name}, and this is {own}: load one of them");
    Error::new(Code::ALREADY_EXISTS, message)
}

/// A name of this library that is registered without devices.
struct DeclinedName {
    name: &'static CStr,
    declined: CString,
    /// The number of times that the library was loaded before.
    loads: usize,
}

/// Returns the name of a device type or platform that is registered without devices, `NAME_DECLINED`: one that no other
/// plugin of the process has, nor this one since it was loaded before.
pub(crate) fn declined_name(name: &'static CStr) -> &'static CStr {
    static GIVEN: Mutex<Vec<&'static DeclinedName>> = Mutex::new(Vec::new());
    let mut given = GIVEN.lock().unwrap_or_else(PoisonError::into_inner);
    let loads = match has_several_registries() {
        true => 0,
        false => calls("").saturating_sub(1),
    };
    let is_same = |it: &&&DeclinedName| it.name == name && it.loads == loads;
    if let Some(known) = given.iter().find(is_same) {
        return &known.declined;
    }
    let others = other_plugins();
    let is_free = |text: &CString| {
        let is_given = given
            .iter()
            .any(|it| it.declined == *text && it.loads != loads);
        !is_given && !others.iter().any(|it| it.has_name(text))
    };
    let declined = declined_names(name).find(is_free).unwrap_or_default();
    // TensorFlow has the name for the life of the process.
    let known: &'static DeclinedName = Box::leak(Box::new(DeclinedName {
        name,
        declined,
        loads,
    }));
    given.push(known);
    &known.declined
}

/// Returns `NAME_DECLINED`, `NAME_DECLINED_AGAIN` and so on.
fn declined_names(name: &CStr) -> impl Iterator<Item = CString> {
    let name = [name.to_bytes(), b"_DECLINED"].concat();
    (0..).filter_map(move |count| CString::new([&name[..], &b"_AGAIN".repeat(count)].concat()).ok())
}

/// Registers the names of a declined platform, for later plugins.
pub(crate) fn set_names(platform: &CStr, device_type: &CStr) {
    let names = [platform.to_bytes(), b" ", device_type.to_bytes()].concat();
    // Neither part contains a NUL.
    NAMES.get_or_init(|| CString::new(names).unwrap_or_default());
}

fn other_plugins() -> Vec<OtherPlugin> {
    let own = own_path();
    let find = |library: LoadedLibrary| {
        let address = library.symbol(c"sp_plugin_platform")?;
        let path = library.path();
        if path == own || path_of_address(address.addr())? == own {
            return None;
        }
        // SAFETY: only plugins of sp-gen export the name, and all with this signature.
        let function = unsafe { std::mem::transmute::<*mut _, PlatformFunction>(address) };
        // SAFETY: the function has no preconditions. Its result is null or a C string of the library's static memory, which
        // stays loaded: TensorFlow does not unload plugins.
        let names = unsafe { function().as_ref().map(|it| CStr::from_ptr(it)) }?;
        let names = names.to_string_lossy().into_owned();
        Some(OtherPlugin { path, names })
    };
    loaded_libraries().into_iter().filter_map(find).collect()
}

/// Returns the path of this library.
fn own_path() -> String {
    path_of_address((&raw const NAMES).addr()).unwrap_or_default()
}

/// The calls of entry points, by part.
static CALLS: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());

/// Returns true if this is the first call for the part, such as the kernels. TensorFlow calls an entry point again if a
/// program loads the library again, also by the same path.
pub(crate) fn is_first_call(part: &'static str) -> bool {
    CALLS
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(part);
    calls(part) == 1 || has_several_registries()
}

/// Returns the number of calls for the part.
fn calls(part: &str) -> usize {
    let calls = CALLS.lock().unwrap_or_else(PoisonError::into_inner);
    calls.iter().filter(|it| **it == part).count()
}

/// Returns true in sp-host, where each host of a process has platforms of its own.
fn has_several_registries() -> bool {
    is_exported(c"sp_host_has_several_registries")
}

/// Reports that the library is loaded again.
pub(crate) fn report_loaded_again() {
    sp_runtime::report!(Warn, "{} is loaded again, which has no effect", own_path());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_of_another_plugin_is_taken_as_a_whole() {
        let other = OtherPlugin {
            path: "/a/liba.so".to_owned(),
            names: "MYACCEL GPU".to_owned(),
        };
        assert!(other.has_name(c"MYACCEL") && other.has_name(c"GPU"));
        assert!(!other.has_name(c"MY") && !other.has_name(c"MYACCEL_DECLINED"));
        let error = taken_error(&other, c"GPU").to_string();
        assert!(
            error.contains("/a/liba.so has registered GPU, and this is "),
            "{error}"
        );
    }
}
