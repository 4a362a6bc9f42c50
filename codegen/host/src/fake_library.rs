//! Fake libraries: small shared objects with TensorFlow's SONAMEs, written to a temporary folder and opened
//! globally. A process has one set of them, because plugins store the addresses that they look up.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_void;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use sp_ir::{Api, Function, Item, Side, Type};

use crate::core::{self, Arg};
use crate::dl::{OpenLibrary, SymbolScope};
use crate::elf::{Export, Machine, SharedObject, TABLE, Version};
use crate::quirks::Quirk;
use crate::release::EmulatedRelease;
use crate::status_object::StatusObject;
use crate::{Error, fault, objects, requirements};

const FRAMEWORK: &str = "libtensorflow_framework.so.2";
const PYWRAP: &str = "_pywrap_tensorflow_internal.so";
const CC: &str = "libtensorflow_cc.so.2";
const VERSION: &str = "TF_Version";
/// A symbol from which sp-plugin knows that each host of a process has platforms of its own. TensorFlow ends the process if
/// two have one name. The symbol is never called.
const SEVERAL_REGISTRIES: &str = "sp_host_has_several_registries";
/// Returns a struct of C++ functions by value.
const RENDEZVOUS: &str = "TF_GetRendezvous";

/// Names of all functions of all libraries, in the order of their numbers.
static EXPORTED: OnceLock<Vec<String>> = OnceLock::new();

/// The release whose libraries this process has.
static LOADED: Mutex<Option<Loaded>> = Mutex::new(None);

/// SONAME to functions.
type Libraries = BTreeMap<&'static str, BTreeSet<String>>;

struct Loaded {
    release: String,
    libraries: Libraries,
}

/// Makes the libraries of `release` visible to every library opened later.
///
/// # Errors
/// Returns an error if this process has the libraries of another release, or with fewer functions.
pub(crate) fn load(release: EmulatedRelease<'_>) -> Result<(), Error> {
    release.check()?;
    let machine = Machine::native()
        .ok_or_else(|| Error::Load("sp-host runs on x86_64 and aarch64 only".into()))?;
    let libraries = libraries(release);
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    match &*loaded {
        Some(old) if old.release == release.name() && contains_all(&old.libraries, &libraries) => {
            Ok(())
        }
        Some(old) => Err(Error::Load(format!(
            "this process already emulates TensorFlow {}: start another process for {} or for more APIs",
            old.release,
            release.name()
        ))),
        None => {
            load_all(machine, release, &libraries)?;
            let release = release.name().to_owned();
            *loaded = Some(Loaded { release, libraries });
            Ok(())
        }
    }
}

fn contains_all(old: &Libraries, new: &Libraries) -> bool {
    new.iter().all(|(library, functions)| {
        old.get(library)
            .is_some_and(|known| functions.is_subset(known))
    })
}

/// Returns the SONAMEs of the release's libraries, each after those that it needs.
fn library_names(release: EmulatedRelease<'_>) -> &'static [&'static str] {
    let quirks = release.quirks();
    let has_module = quirks.has(Quirk::ExtensionModuleHasSoname);
    match (quirks.has(Quirk::NoCcLibrary), has_module) {
        (true, _) => &[FRAMEWORK, PYWRAP],
        (false, true) => &[FRAMEWORK, CC, PYWRAP],
        (false, false) => &[FRAMEWORK, CC],
    }
}

/// Returns the symbol version that a library defines. The linker copies a symbol's version into the plugin;
/// the framework's C functions have the base version in most releases.
fn version(release: EmulatedRelease<'_>, library: &str) -> Option<Version> {
    let (name, in_base) = match library {
        FRAMEWORK if !release.quirks().has(Quirk::VersionedFramework) => ("VERS_1.0", true),
        _ => ("tensorflow", false),
    };
    let has = !in_base || release.quirks().has(Quirk::VersionedSymbols);
    has.then_some(Version { name, in_base })
}

/// Returns the functions that each library of the release exports.
fn libraries(release: EmulatedRelease<'_>) -> Libraries {
    let assumed = || release.assumed().cloned();
    let all = || {
        let declared = functions(release.apis()).map(|function| function.symbol.clone());
        let others = [VERSION, SEVERAL_REGISTRIES].map(str::to_owned);
        declared.chain(others).chain(assumed())
    };
    let exported = |library: &str| -> BTreeSet<String> {
        let Some(exports) = release.exports() else {
            return all().collect();
        };
        let here = exports.iter().filter(|(_, found)| found.contains(library));
        let here = here.map(|(function, _)| function.clone());
        here.chain([SEVERAL_REGISTRIES.to_owned()])
            .chain(assumed())
            .collect()
    };
    let names = library_names(release).iter();
    names.map(|name| (*name, exported(name))).collect()
}

fn load_all(
    machine: Machine,
    release: EmulatedRelease<'_>,
    libraries: &Libraries,
) -> Result<(), Error> {
    let folder = match release.installation() {
        Some(installation) => LibraryFolder {
            path: installation.folder.to_owned(),
            is_temporary: false,
        },
        None => LibraryFolder::new()?,
    };
    let messages = messages(release);
    core::set_version(release.version());
    let all = libraries.values().flatten().cloned().collect();
    EXPORTED.set(all).expect("loaded once, under the lock");
    let signatures = signatures(release.apis());
    let mut first = 0;
    let order = library_names(release);
    let numbered = libraries.iter().map(|(name, functions)| {
        let number = first;
        first += functions.len() as u32;
        (*name, number)
    });
    let numbers: BTreeMap<&str, u32> = numbered.collect();
    for (at, name) in order.iter().enumerate() {
        let exports: Vec<Export> = libraries[name]
            .iter()
            .map(|symbol| Export {
                symbol: symbol.clone(),
                status: signatures
                    .get(symbol.as_str())
                    .and_then(|function| status_register(release.apis(), function, machine)),
            })
            .collect();
        let object = SharedObject {
            machine,
            soname: name,
            needed: &order[..at],
            version: version(release, name),
            exports: &exports,
            first: numbers[name],
        };
        let data = if *name == FRAMEWORK {
            messages.as_str()
        } else {
            ""
        };
        open(&folder, &object, data, scope(release), |symbol| {
            let function = signatures.get(symbol);
            core::find_function(symbol, function.map(|it| it.signature.params.len()))
        })?;
    }
    Ok(())
}

/// Returns the visibility of the libraries. A plugin that names no library and leaves `TF_NewStatus`
/// undefined does not load in 2.12 and loads in 2.21.
fn scope(release: EmulatedRelease<'_>) -> SymbolScope {
    match release.quirks().has(Quirk::LocalLibraries) {
        true => SymbolScope::Local,
        false => SymbolScope::Global,
    }
}

/// Returns the messages about required fields, if the release's installation has them.
fn messages(release: EmulatedRelease<'_>) -> String {
    let has_messages = release.installation().is_some_and(|it| it.has_messages);
    let structs = release.apis().iter().flat_map(|api| &api.items);
    let required = structs.flat_map(|(name, item)| match item {
        Item::Struct(body) if has_messages => {
            requirements::missing_field_messages(release.quirks(), name, body)
        }
        _ => Vec::new(),
    });
    required.map(|message| message + "\0").collect()
}

/// Writes the object followed by `data`, opens it, and fills its table.
fn open(
    folder: &LibraryFolder,
    object: &SharedObject<'_>,
    data: &str,
    scope: SymbolScope,
    find: impl Fn(&str) -> Option<NonNull<c_void>>,
) -> Result<(), Error> {
    let image = object.image();
    let path = folder.path.join(object.soname);
    let bytes = [&image.bytes, data.as_bytes()].concat();
    std::fs::write(&path, bytes)
        .map_err(|error| Error::Load(format!("{}: {error}", path.display())))?;
    let library = OpenLibrary::open(&path, scope)?;
    let table = library
        .symbol(TABLE)
        .ok_or_else(|| Error::Load(format!("{}: its table is missing", object.soname)))?;
    for (index, export) in object.exports.iter().enumerate() {
        let stub = table
            .as_ptr()
            .wrapping_byte_offset(image.stubs[index] as isize);
        let function = find(&export.symbol).map_or(stub, NonNull::as_ptr);
        // SAFETY: the table is that of the object above, which has a slot for each export and is never unloaded. The function
        // is the object's own stub, or has the signature of the release (`signatures.rs`).
        unsafe { fill(table, index, function) };
    }
    let function = unimplemented_function as *mut c_void;
    // SAFETY: as above; the table has one more slot, for this function, which the stubs call.
    unsafe { fill(table, object.exports.len(), function) };
    Ok(())
}

/// Stores a function in a slot of an object's table.
///
/// # Safety
/// - `table` is the table of an object that is never unloaded, and has a slot with this index.
/// - `function` has the C signature of the slot's export.
unsafe fn fill(table: NonNull<c_void>, index: usize, function: *mut c_void) {
    let slots = table.cast::<AtomicPtr<c_void>>();
    // SAFETY: the caller guarantees that the slot exists. Slots are aligned to words, in a writable part of the object.
    unsafe { slots.add(index).as_ref() }.store(function, Ordering::Release);
}

/// Stub for C API functions that the test host does not implement.
extern "C" fn unimplemented_function(index: u32, status: Arg<StatusObject>) -> u128 {
    let name = EXPORTED.get().and_then(|names| names.get(index as usize));
    let name = name.map_or("a function without a name", String::as_str);
    objects::record_unimplemented(name);
    if name.starts_with("_Z") || name == RENDEZVOUS {
        // No return value is valid for a C++ function.
        // SAFETY: `_exit` takes a number and does not return.
        unsafe { libc::_exit(fault::UNSUPPORTED_STATUS) }
    }
    if let Some(status) = status.find() {
        status.set(
            crate::StatusCode::UNIMPLEMENTED,
            &format!("{name} is not implemented by sp-host"),
        );
    }
    0
}

/// Returns the functions of `apis` that core exports and this host does not implement.
///
/// A plugin that calls one gets `TF_UNIMPLEMENTED` in its status argument, if it has one, and a line in the
/// report.
pub fn unimplemented(apis: &[Api]) -> Vec<String> {
    let missing = functions(apis).filter(|function| {
        core::find_function(&function.symbol, Some(function.signature.params.len())).is_none()
    });
    let symbols: BTreeSet<&str> = missing.map(|function| function.symbol.as_str()).collect();
    symbols.into_iter().map(str::to_owned).collect()
}

/// Returns the functions of `apis` that core defines, by symbol.
fn signatures(apis: &[Api]) -> BTreeMap<&str, &Function> {
    functions(apis)
        .map(|function| (function.symbol.as_str(), function))
        .collect()
}

fn functions(apis: &[Api]) -> impl Iterator<Item = &Function> {
    apis.iter()
        .flat_map(|api| api.items.values())
        .filter_map(|item| match item {
            Item::Function(function) if !function.inline => {
                let exporter = function.exported_by.as_ref();
                let is_core = exporter.is_none_or(|side| side.value == Side::Core);
                is_core.then_some(function)
            }
            _ => None,
        })
}

/// Returns the integer register of the last parameter if it is a `TF_Status*` and all parameters before it
/// are in integer registers too.
fn status_register(apis: &[Api], function: &Function, machine: Machine) -> Option<u8> {
    let (last, before) = function.signature.params.split_last()?;
    let is_status = last.ty.points_to("TF_Status") || last.ty.points_to("TSL_Status");
    let plain = is_word(apis, &function.signature.ret) || function.signature.ret == Type::Void;
    let words = before.iter().all(|param| is_word(apis, &param.ty));
    let register = u8::try_from(before.len()).ok()?;
    (is_status && plain && words && register < machine.argument_registers()).then_some(register)
}

fn is_word(apis: &[Api], ty: &Type) -> bool {
    match ty {
        Type::Void | Type::Float { .. } | Type::Array { .. } => false,
        Type::Named(name) => match apis.iter().find_map(|api| api.items.get(name)) {
            Some(Item::Enum(_) | Item::Handle(_) | Item::Callback(_)) => true,
            Some(Item::Alias(alias)) => is_word(apis, &alias.ty),
            _ => false,
        },
        _ => true,
    }
}

/// The folder of the libraries: a temporary one is removed when they are mapped.
struct LibraryFolder {
    path: PathBuf,
    is_temporary: bool,
}

impl LibraryFolder {
    /// Creates a new folder that only this user can write to, since the loader runs its files.
    fn new() -> Result<Self, Error> {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let name = format!("sp-host-{}-{}", std::process::id(), since.as_nanos());
        let path = std::env::temp_dir().join(name);
        DirBuilder::new()
            .mode(0o700)
            .create(&path)
            .map_err(|error| Error::Load(format!("{}: {error}", path.display())))?;
        Ok(Self {
            path,
            is_temporary: true,
        })
    }
}

impl Drop for LibraryFolder {
    fn drop(&mut self) {
        if self.is_temporary {
            // A folder that cannot be removed is harmless, and a destructor cannot report it.
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sp_ir::{Loc, Param, Signature};

    fn api(params: Vec<Type>, ret: Type) -> Api {
        let params = params.into_iter().map(|ty| Param::new("", ty)).collect();
        let signature = Signature::new(params, ret);
        let function = Function::new(signature, "TF_Demo", Loc::new("demo.h", 1));
        let items = [("TF_Demo".to_owned(), Item::Function(function))];
        Api::new("demo", "2.21", items.into())
    }

    fn status() -> Type {
        Type::pointer(Type::Named("TF_Status".into()), true)
    }

    fn register(params: Vec<Type>, ret: Type) -> Option<u8> {
        let apis = [api(params, ret)];
        let function = functions(&apis).next().unwrap();
        status_register(&apis, function, Machine::X86_64)
    }

    #[test]
    fn finds_register_of_trailing_status() {
        assert_eq!(register(vec![Type::Size, status()], Type::Void), Some(1));
        assert_eq!(register(vec![status()], Type::Bool), Some(0));
    }

    #[test]
    fn finds_no_register_for_other_signatures() {
        assert_eq!(register(vec![Type::Size], Type::Void), None);
        assert_eq!(
            register(vec![Type::Float { bits: 32 }, status()], Type::Void),
            None
        );
        assert_eq!(
            register(vec![Type::Named("Unknown".into()), status()], Type::Void),
            None
        );
        assert_eq!(
            register(
                vec![Type::Size; 6].into_iter().chain([status()]).collect(),
                Type::Void
            ),
            None
        );
    }

    #[test]
    fn library_names_depend_on_release() {
        let mut apis = [api(vec![], Type::Void)];
        let names = |apis: &[Api]| libraries(apis.into()).into_keys().collect::<Vec<_>>();
        assert_eq!(names(&apis), [CC, FRAMEWORK]);
        apis[0].release = "2.15".into();
        assert_eq!(names(&apis), [PYWRAP, CC, FRAMEWORK]);
        apis[0].release = "2.11".into();
        assert_eq!(names(&apis), [PYWRAP, FRAMEWORK]);
    }

    #[test]
    fn libraries_export_only_listed_functions() {
        let apis = [api(vec![], Type::Void)];
        let exports = [(VERSION.to_owned(), [CC.to_owned()].into())].into();
        let libraries = libraries(EmulatedRelease::new(&apis).with_exports(&exports));
        let mark = SEVERAL_REGISTRIES.to_owned();
        assert_eq!(libraries[CC], [VERSION.to_owned(), mark.clone()].into());
        assert_eq!(libraries[FRAMEWORK], [mark].into());
    }
}
