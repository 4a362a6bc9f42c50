//! The libraries that a plugin expects TensorFlow to have loaded: small objects with TensorFlow's
//! SONAMEs, written to a temporary folder and opened for all to see. One set serves the process,
//! because plugins keep the addresses that they look up.

use std::collections::BTreeSet;
use std::ffi::c_void;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use sp_ir::{Api, Function, Item, Side, Type};

use crate::core::{self, Arg, Status};
use crate::dl::{Library, Scope};
use crate::elf::{Export, Machine, Object, TABLE};
use crate::{Error, ledger};

const FRAMEWORK: &str = "libtensorflow_framework.so.2";
const CC: &str = "libtensorflow_cc.so.2";
const VERSION: &str = "TF_Version";

/// Names of the framework's functions, in the order of its table.
static EXPORTED: OnceLock<Vec<String>> = OnceLock::new();

/// The release whose libraries this process has.
static LOADED: Mutex<Option<Loaded>> = Mutex::new(None);

struct Loaded {
    release: String,
    symbols: BTreeSet<String>,
}

/// Makes the libraries of the release of `apis` visible to every library opened later.
///
/// # Errors
/// Where this process already has those of another release, or of fewer functions.
pub(crate) fn load(apis: &[Api]) -> Result<(), Error> {
    let machine = Machine::native()
        .ok_or_else(|| Error::Load("this host knows x86_64 and aarch64 only".into()))?;
    let release = release(apis)?;
    let exports = exports(apis, machine);
    let symbols: BTreeSet<String> = exports.iter().map(|export| export.symbol.clone()).collect();
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    match &*loaded {
        Some(old) if old.release == release && symbols.is_subset(&old.symbols) => Ok(()),
        Some(old) => Err(Error::Load(format!(
            "this process already plays TensorFlow {}; start another for {release} or for more APIs",
            old.release
        ))),
        None => {
            load_all(machine, &release, exports)?;
            *loaded = Some(Loaded { release, symbols });
            Ok(())
        }
    }
}

/// The one release that all of `apis` belong to.
fn release(apis: &[Api]) -> Result<String, Error> {
    let releases: BTreeSet<&str> = apis.iter().map(|api| api.release.as_str()).collect();
    match releases.into_iter().collect::<Vec<_>>()[..] {
        [release] => Ok(release.to_owned()),
        [] => Err(Error::Load("no API was handed to the host".into())),
        ref many => Err(Error::Load(format!(
            "the APIs are of several releases: {many:?}"
        ))),
    }
}

fn load_all(machine: Machine, release: &str, exports: Vec<Export>) -> Result<(), Error> {
    let folder = Folder::new()?;
    let names = exports.iter().map(|export| export.symbol.clone()).collect();
    EXPORTED.set(names).expect("loaded once, under the lock");
    let version = core::version(release);
    let find = |symbol: &str| core::find(symbol);
    open(
        &folder,
        &Object {
            machine,
            soname: FRAMEWORK,
            needed: &[],
            exports: &exports,
        },
        find,
    )?;
    let exports = [Export {
        symbol: VERSION.into(),
        status: None,
    }];
    let cc = Object {
        machine,
        soname: CC,
        needed: &[FRAMEWORK],
        exports: &exports,
    };
    open(&folder, &cc, |_| Some(version))
}

/// Writes the object, opens it, and fills its table.
fn open(
    folder: &Folder,
    object: &Object<'_>,
    find: impl Fn(&str) -> Option<NonNull<c_void>>,
) -> Result<(), Error> {
    let image = object.image();
    let path = folder.path.join(object.soname);
    std::fs::write(&path, &image.bytes)
        .map_err(|error| Error::Load(format!("{}: {error}", path.display())))?;
    let library = Library::open(&path, Scope::Global)?;
    let table = library
        .symbol(TABLE)
        .ok_or_else(|| Error::Load(format!("{}: its table is missing", object.soname)))?;
    for (index, export) in object.exports.iter().enumerate() {
        let stub = table
            .as_ptr()
            .wrapping_byte_offset(image.stubs[index] as isize);
        fill(
            table,
            index,
            find(&export.symbol).map_or(stub, NonNull::as_ptr),
        );
    }
    fill(table, object.exports.len(), missing as *mut c_void);
    Ok(())
}

fn fill(table: NonNull<c_void>, index: usize, function: *mut c_void) {
    let slots = table.cast::<AtomicPtr<c_void>>();
    // SAFETY: the object that `open` wrote has one slot per export and one more, aligned to words,
    // in a writable part; it is never unloaded.
    unsafe { slots.add(index).as_ref() }.store(function, Ordering::Release);
}

/// What every function comes to that the host does not implement.
extern "C" fn missing(index: u32, status: Arg<Status>) -> u128 {
    let name = EXPORTED.get().and_then(|names| names.get(index as usize));
    let name = name.map_or("a function without a name", String::as_str);
    ledger::missing(name);
    if let Some(status) = status.quiet() {
        status.set(
            crate::Code::UNIMPLEMENTED,
            &format!("{name} is not implemented by sp-host"),
        );
    }
    0
}

/// The functions that core exports to plugins by `apis` and that this host does not implement. A
/// plugin that calls one is told so: by its status where it passes one, and in the report.
pub fn unimplemented(apis: &[Api]) -> Vec<String> {
    let symbols: BTreeSet<&str> = functions(apis)
        .map(|function| function.symbol.as_str())
        .filter(|symbol| core::find(symbol).is_none())
        .collect();
    symbols.into_iter().map(str::to_owned).collect()
}

/// The functions of `apis` that core defines.
fn exports(apis: &[Api], machine: Machine) -> Vec<Export> {
    let mut seen = BTreeSet::new();
    functions(apis)
        .filter(|function| seen.insert(function.symbol.as_str()))
        .map(|function| Export {
            symbol: function.symbol.clone(),
            status: status_register(apis, function, machine),
        })
        .collect()
}

fn functions(apis: &[Api]) -> impl Iterator<Item = &Function> {
    apis.iter()
        .flat_map(|api| api.items.values())
        .filter_map(|item| match item {
            Item::Function(function) if !function.inline && core_defines(function) => {
                Some(function)
            }
            _ => None,
        })
}

fn core_defines(function: &Function) -> bool {
    function
        .exported_by
        .as_ref()
        .is_none_or(|side| side.value == Side::Core)
}

/// The integer register that carries the last parameter, where that is a `TF_Status*` and all
/// before it are plain words.
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

/// A folder that is gone when the libraries in it are mapped.
struct Folder {
    path: PathBuf,
}

impl Folder {
    /// The loader runs what lies here, so nobody else may write into it, and it must be new.
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
        Ok(Self { path })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A folder left behind harms nothing, and there is nobody to tell.
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sp_ir::{Loc, Param, Signature};

    fn api(params: Vec<Type>, ret: Type) -> Api {
        let params = params
            .into_iter()
            .map(|ty| Param {
                name: String::new(),
                ty,
                direction: None,
                transfer: None,
                scope: None,
            })
            .collect();
        let function = Function {
            doc: None,
            signature: Signature {
                params,
                ret,
                ret_transfer: None,
            },
            exported_by: None,
            instead: None,
            inline: false,
            symbol: "TF_Demo".into(),
            loc: Loc {
                file: "demo.h".into(),
                line: 1,
            },
        };
        Api {
            schema: sp_ir::SCHEMA,
            name: "demo".into(),
            release: "2.21".into(),
            version: None,
            items: [("TF_Demo".to_owned(), Item::Function(function))].into(),
            imports: Default::default(),
            targets: Default::default(),
        }
    }

    fn status() -> Type {
        Type::Pointer {
            pointee: Box::new(Type::Named("TF_Status".into())),
            mutable: true,
        }
    }

    fn register(params: Vec<Type>, ret: Type) -> Option<u8> {
        exports(&[api(params, ret)], Machine::X86_64)[0].status
    }

    #[test]
    fn a_trailing_status_is_found_in_its_register() {
        assert_eq!(register(vec![Type::Size, status()], Type::Void), Some(1));
        assert_eq!(register(vec![status()], Type::Bool), Some(0));
    }

    #[test]
    fn no_register_is_guessed() {
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
    fn apis_of_two_releases_are_refused() {
        let mut other = api(vec![], Type::Void);
        other.release = "2.12".into();
        let error = release(&[api(vec![], Type::Void), other]).unwrap_err();
        assert!(error.to_string().contains("several releases"), "{error}");
    }
}
