//! The place between TensorFlow and a plugin.
//!
//! TensorFlow finds the entry points of a plugin with `dlsym`. The layer's own `dlsym` returns stubs for them, and stores
//! the wrappers of core's functions in the plugin's import tables. A plugin that itself calls `dlsym` gets the wrappers
//! too. Core's own calls never pass through a wrapper.

use super::callback::intern;
use super::elf::{self, Library};
use super::host;
use super::report;
use super::settings::settings;
use super::signals;
use super::system;
use super::tables::tables;
use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};

/// A library that core has loaded as a plugin, or that it asked for an entry point of.
struct Plugin {
    base: usize,
    is_included: bool,
    libraries: Vec<Library>,
}

static PLUGINS: Mutex<Vec<Plugin>> = Mutex::new(Vec::new());

/// Returns the address that `dlsym(handle, name)` must return to a caller at the address `caller`, or 0 for that of the
/// dynamic loader.
///
/// # Safety
/// The arguments are those of a call of `dlsym`.
pub unsafe extern "C" fn find(handle: *mut c_void, name: *const c_char, caller: usize) -> usize {
    const PREFIXES: [&str; 4] = ["TF_", "TSL_", "SE_", "TFNPD"];
    let is_special = handle.is_null() || handle == system::RTLD_NEXT;
    if name.is_null() {
        return 0;
    }
    // SAFETY: the name is a C string.
    let name = unsafe { CStr::from_ptr(name) };
    let Ok(name) = name.to_str() else { return 0 };
    if !is_special {
        add_library(handle, name, caller);
    }
    if !PREFIXES.iter().any(|it| name.starts_with(it)) {
        return 0;
    }
    match tables().entry_point(name) {
        Some(_) if is_special => 0,
        Some(_) => entry_point(handle, name),
        None => host_function(handle, name, caller),
    }
}

/// Adds the library in which a plugin finds `name` to the plugin, with those that it needs. A plugin may be a small library that
/// loads another one.
fn add_library(handle: *mut c_void, name: &str, caller: usize) {
    let Some(base) = known_plugin(caller) else {
        return;
    };
    let found = host::find_in(handle, name);
    if found == 0 || known_plugin(found).is_some() {
        return;
    }
    // Others, such as a driver's or the program, call no function of TensorFlow.
    let mut libraries = plugin_libraries(found);
    libraries.retain(|it| exchange_imports(it) > 0);
    let mut plugins = PLUGINS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(plugin) = plugins.iter_mut().find(|it| it.base == base) {
        plugin.libraries.extend(libraries);
    }
}

/// Returns the stub of the entry point `name` of the library `handle`, or 0.
fn entry_point(handle: *mut c_void, name: &str) -> usize {
    let Some(callback) = tables().entry_point(name) else {
        return 0;
    };
    let original = host::find_in(handle, name);
    let Some((path, base)) = system::library_at(original).filter(|_| original != 0) else {
        return 0;
    };
    if !is_plugin(&path, base, original) {
        return 0;
    }
    callback.wrap(original, intern(&path))
}

/// Returns the wrapper of core's function `name` if the caller is a plugin, else 0.
fn host_function(handle: *mut c_void, name: &str, caller: usize) -> usize {
    let Some(found) = tables().function(name) else {
        return 0;
    };
    if !is_in_plugin(caller) {
        return 0;
    }
    let original = host::find_in(handle, name);
    if original == 0 {
        return 0;
    }
    let _ =
        found
            .function
            .original
            .compare_exchange(0, original, Ordering::AcqRel, Ordering::Acquire);
    found.wrapper as usize
}

/// Returns the path of the first plugin that is shown, checked or captured, or "".
pub fn first_plugin() -> String {
    let plugins = PLUGINS.lock().unwrap_or_else(PoisonError::into_inner);
    let mut plugins = plugins.iter().filter(|it| it.is_included);
    let path = plugins.next().and_then(|it| it.libraries.first());
    path.map_or_else(String::new, |it| it.path.clone())
}

/// Returns true if the library at `base` is a plugin that is shown or checked. The first time its imports are exchanged.
fn is_plugin(path: &str, base: usize, entry_point: usize) -> bool {
    let plugins = || PLUGINS.lock().unwrap_or_else(PoisonError::into_inner);
    let known = plugins()
        .iter()
        .find(|it| it.base == base)
        .map(|it| it.is_included);
    if let Some(is_included) = known {
        return is_included;
    }
    // Without the lock: the loader's own one is taken below, and a thread that has that one may wait for this one.
    let is_included = settings().includes_plugin(path);
    let mut libraries = Vec::new();
    if is_included {
        signals::install();
        libraries = plugin_libraries(entry_point);
        let count: usize = libraries.iter().map(exchange_imports).sum();
        if settings().is_live {
            report::line(&format!("{path}: {count} imported functions are shown"));
        }
    }
    let mut plugins = plugins();
    if plugins.iter().all(|it| it.base != base) {
        plugins.push(Plugin {
            base,
            is_included,
            libraries,
        });
    }
    is_included
}

/// Returns the library of the plugin and those that it needs, without TensorFlow's and those that everybody uses.
fn plugin_libraries(entry_point: usize) -> Vec<Library> {
    let all = elf::libraries();
    let mut found: Vec<Library> = all
        .iter()
        .filter(|it| it.contains(entry_point) && !is_of_core(it.file_name()))
        .cloned()
        .collect();
    let mut index = 0;
    while index < found.len() {
        for name in found[index].needed() {
            let name = name.rsplit('/').next().unwrap_or(&name).to_owned();
            let library = all
                .iter()
                .find(|it| it.file_name() == name && !is_of_core(&name));
            if let Some(library) =
                library.filter(|it| found.iter().all(|known| known.path != it.path))
            {
                found.push(library.clone());
            }
        }
        index += 1;
    }
    found
}

fn is_of_core(name: &str) -> bool {
    const PREFIXES: [&str; 6] = [
        "libtensorflow",
        "_pywrap",
        "libc.so",
        "libpython",
        "ld-linux",
        "libstdc++",
    ];
    PREFIXES.iter().any(|it| name.starts_with(it))
}

/// Stores the wrappers in the import tables of a library; returns their number.
fn exchange_imports(library: &Library) -> usize {
    let places = library.places(|name| tables().function(name).is_some());
    let mut count = 0;
    for place in &places {
        let Some(found) = tables().function(&place.symbol) else {
            continue;
        };
        if found.function.original() == 0 {
            let original = host::find(&place.symbol);
            let _ = found.function.original.compare_exchange(
                0,
                original,
                Ordering::AcqRel,
                Ordering::Acquire,
            );
        }
        // A function that this TensorFlow does not export stays unbound.
        if found.function.original() != 0 && library.store(place, found.wrapper as usize) {
            count += 1;
        }
    }
    count
}

/// Returns the load address of the plugin that is shown or checked, one of whose libraries contains `address`.
fn known_plugin(address: usize) -> Option<usize> {
    let plugins = PLUGINS.lock().unwrap_or_else(PoisonError::into_inner);
    let mut plugins = plugins.iter().filter(|it| it.is_included);
    plugins
        .find(|it| it.libraries.iter().any(|it| it.contains(address)))
        .map(|it| it.base)
}

/// Returns true if `address` is in a plugin that is shown or checked, or in a library that one needs. A plugin may call
/// before core asks for its entry points, when it is loaded.
fn is_in_plugin(address: usize) -> bool {
    if known_plugin(address).is_some() {
        return true;
    }
    let Some((path, base)) = system::library_at(address) else {
        return false;
    };
    let Ok(file) = std::ffi::CString::new(path.as_str()) else {
        return false;
    };
    let handle = system::loaded_library(&file);
    let name = |it: &&super::callback::Callback| it.function.name;
    let mut names = tables().entry_points.iter().map(name);
    let own = |name: &str| match host::find_in(handle, name) {
        0 => None,
        found => system::library_at(found)
            .filter(|it| it.1 == base)
            .map(|_| found),
    };
    match names.find_map(own).filter(|_| !handle.is_null()) {
        Some(entry_point) => is_plugin(&path, base, entry_point),
        None => false,
    }
}
