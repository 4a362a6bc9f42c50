//! Tests that every signature that this crate writes by hand is that of each release's headers: the
//! functions that the host defines, and the slots that it calls.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use sp_ir::{Api, Item, Signature, Struct, Type};

use crate::call::HostCallback;
use crate::core;
use crate::core::signature::{CSignature, CallType, ForeignType};
use crate::plugin::{ENTRY_POINTS, FillingEntryPoint, KernelEntryPoint};
use crate::quirks::FIRST_MINOR;
use crate::release::EMULATED_APIS;

const SNAPSHOTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../generated/ir");
const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src");

/// Number of functions that the host defines. A lower number means that a family is not compared.
const FUNCTIONS: usize = 156;

/// Number of slots that the host calls.
const SLOTS: usize = 58;

/// Functions and slots whose signature a release changed, with the last release that has the older one.
/// The host has a second form of each.
const BREAKS: [(&str, u32); 2] = [("TF_AssignVariable", 9), ("optimize_func", 5)];

/// The items of one release.
#[derive(Default)]
struct ReleaseItems {
    minor: u32,
    items: BTreeMap<String, Item>,
    /// Structs of the APIs that the host emulates.
    structs: Vec<Struct>,
}

impl ReleaseItems {
    fn all() -> Vec<Self> {
        let folders = folder(Path::new(SNAPSHOTS));
        let mut releases: BTreeMap<u32, Self> = BTreeMap::new();
        for path in folders.iter().flat_map(|path| folder(path)) {
            let text = std::fs::read_to_string(&path).unwrap();
            let api = Api::from_json(&text).unwrap();
            let minor = api.release.trim_start_matches("2.").parse().unwrap();
            releases.entry(minor).or_default().add(minor, api);
        }
        releases.split_off(&FIRST_MINOR).into_values().collect()
    }

    fn add(&mut self, minor: u32, api: Api) {
        self.minor = minor;
        if EMULATED_APIS.contains(&api.name.as_str()) {
            let structs = api.items.values().filter_map(Item::as_struct);
            self.structs.extend(structs.cloned());
        }
        self.items.extend(api.items);
    }

    fn c_type(&self, ty: &Type) -> CallType {
        match ty {
            Type::Void => CallType::Void,
            Type::Int { bits, signed } => CallType::Int {
                bits: usize::from(*bits),
                signed: *signed,
            },
            Type::Float { bits } => CallType::Float {
                bits: usize::from(*bits),
            },
            Type::Bool => bool::c_type(),
            Type::Char => i8::c_type(),
            Type::Size => usize::c_type(),
            Type::Address { signed } => CallType::Int {
                bits: usize::BITS as usize,
                signed: *signed,
            },
            Type::Named(name) => self.named(name),
            Type::Pointer { pointee, .. } => CallType::pointer(self.c_type(pointee)),
            Type::Array { elem, .. } => CallType::pointer(self.c_type(elem)),
            Type::Function(signature) => CallType::Function(Box::new(self.signature(signature))),
        }
    }

    fn named(&self, name: &str) -> CallType {
        // `TSL_Status` is another name for `TF_Status`.
        let opaque = || CallType::Opaque(name.replacen("TSL_", "TF_", 1));
        match self.items.get(name) {
            Some(Item::Enum(body)) => self.c_type(&body.repr),
            Some(Item::Alias(body)) => self.c_type(&body.ty),
            Some(Item::Callback(body)) => {
                CallType::Function(Box::new(self.signature(&body.signature)))
            }
            Some(Item::Handle(body)) if body.pointer => CallType::pointer(opaque()),
            Some(Item::Struct(body)) => CallType::Struct {
                name: name.to_owned(),
                size: body.layout.size as usize,
            },
            _ => opaque(),
        }
    }

    fn signature(&self, signature: &Signature) -> CSignature {
        let parameters = signature.params.iter();
        CSignature {
            parameters: parameters.map(|it| self.c_type(&it.ty)).collect(),
            result: self.c_type(&signature.ret),
        }
    }

    /// Returns the declared signature of the function with this symbol.
    fn function(&self, symbol: &str) -> Option<CSignature> {
        let mut functions = self.items.values().filter_map(Item::as_function);
        let function = functions.find(|function| function.symbol == symbol)?;
        Some(self.signature(&function.signature))
    }

    /// Returns the declared signature of the slot with this name. Slot names are unique in a release.
    fn slot(&self, name: &str) -> Option<CSignature> {
        let fields = self.structs.iter().flat_map(|body| &body.fields);
        let slots = fields.filter(|field| field.name == name);
        let mut signatures = slots.filter_map(|field| match self.c_type(&field.ty) {
            CallType::Function(signature) => Some(*signature),
            _ => None,
        });
        let found = signatures.next();
        assert!(signatures.next().is_none(), "two slots are called {name}");
        found
    }

    /// Returns true if the release has the older signature of `name`.
    fn is_before_break(&self, name: &str) -> bool {
        let mut breaks = BREAKS.iter();
        breaks.any(|(broken, last)| *broken == name && self.minor <= *last)
    }
}

fn folder(path: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(path).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// Returns the difference between a hand-written signature and a release's, or `None`.
fn difference(
    name: &str,
    own: &CSignature,
    headers: &ReleaseItems,
    declared: &CSignature,
) -> Option<String> {
    (!own.accepts(declared)).then(|| {
        let minor = headers.minor;
        format!("{name}: sp-host has {own}, TensorFlow 2.{minor} declares {declared}")
    })
}

#[test]
fn functions_have_the_signatures_of_every_release() {
    let functions = core::signatures();
    assert_eq!(functions.len(), FUNCTIONS);
    let mut undeclared: BTreeSet<&str> = functions.iter().map(|function| function.name).collect();
    let mut differences = vec![];
    for headers in ReleaseItems::all() {
        for function in &functions {
            let other_name = function.name.replacen("TF_", "TSL_", 1);
            for symbol in [function.name, &other_name] {
                let Some(declared) = headers.function(symbol) else {
                    continue;
                };
                undeclared.remove(function.name);
                let arguments = declared.parameters.len();
                let older = core::older_signature(symbol, arguments);
                assert_eq!(older.is_some(), headers.is_before_break(symbol), "{symbol}");
                let own = older.as_ref().unwrap_or(&function.signature);
                differences.extend(difference(symbol, own, &headers, &declared));
            }
        }
    }
    assert!(differences.is_empty(), "{differences:#?}");
    assert!(undeclared.is_empty(), "no release declares {undeclared:?}");
}

/// A call of a slot, as this crate's sources write it.
struct SlotCall {
    slot: String,
    signature: CSignature,
}

/// Returns the slot calls in `source`: `call!(table, "slot", (arguments): (types) -> result)`. `device_call!` adds the
/// device and the status to the types.
fn slot_calls(source: &str) -> Vec<SlotCall> {
    let calls = source.match_indices("call!(");
    let calls = calls.map(|(at, name)| (&source[..at], &source[at + name.len()..]));
    let calls = calls.filter(|(_, call)| !call.trim_start().starts_with('$'));
    let calls = calls.map(|(before, call)| {
        let mut call = slot_call(call);
        if before.ends_with("device_") {
            let pointer = <*mut std::ffi::c_void>::c_type();
            call.signature.parameters.insert(0, pointer.clone());
            call.signature.parameters.push(pointer);
        }
        call
    });
    calls.collect()
}

fn slot_call(call: &str) -> SlotCall {
    let (_, rest) = call.split_once('"').expect("a slot's name");
    let (slot, rest) = rest.split_once('"').expect("the name's end");
    let (_, rest) = rest.split_once("):").expect("the types");
    let (types, rest) = rest
        .trim_start()
        .trim_start_matches('(')
        .split_once(')')
        .expect("the types' end");
    let types = types.split(',').map(str::trim).filter(|ty| !ty.is_empty());
    let result = rest.trim_start().strip_prefix("->");
    let result = result.and_then(|result| result.split([')', ';']).next());
    SlotCall {
        slot: slot.to_owned(),
        signature: CSignature {
            parameters: types.map(rust_type).collect(),
            result: result.map_or(CallType::Void, |result| rust_type(result.trim())),
        },
    }
}

/// Returns the C type of a Rust type by its name in the sources.
fn rust_type(name: &str) -> CallType {
    match name {
        "Ptr" => <*mut std::ffi::c_void>::c_type(),
        "u8" => u8::c_type(),
        "u32" => u32::c_type(),
        "i32" => i32::c_type(),
        "u64" => u64::c_type(),
        "i64" => i64::c_type(),
        "f64" => f64::c_type(),
        "HostCallback" => HostCallback::c_type(),
        _ => match name.strip_prefix("*mut ").or(name.strip_prefix("*const ")) {
            Some("usize") => <*mut usize>::c_type(),
            Some(pointee) => CallType::pointer(rust_type(pointee)),
            None => panic!("the test does not know the type {name}"),
        },
    }
}

/// Returns all files below a folder of sources.
fn sources(path: &Path) -> Vec<std::path::PathBuf> {
    let entries = folder(path).into_iter();
    let files = entries.flat_map(|path| match path.is_dir() {
        true => sources(&path),
        false => vec![path],
    });
    files
        .filter(|path| !path.ends_with("signatures.rs") && !path.ends_with("src/call.rs"))
        .collect()
}

#[test]
fn slot_signatures_match_every_release() {
    let texts = sources(Path::new(SOURCES)).into_iter();
    let texts: Vec<String> = texts
        .map(|path| std::fs::read_to_string(path).unwrap())
        .collect();
    let calls: Vec<SlotCall> = texts.iter().flat_map(|text| slot_calls(text)).collect();
    let slots: BTreeSet<&str> = calls.iter().map(|call| call.slot.as_str()).collect();
    assert_eq!(slots.len(), SLOTS, "{slots:?}");
    let mut undeclared = slots;
    let mut differences = vec![];
    for headers in ReleaseItems::all() {
        for call in &calls {
            let Some(declared) = headers.slot(&call.slot) else {
                continue;
            };
            undeclared.remove(call.slot.as_str());
            let is_other_form = call.signature.parameters.len() != declared.parameters.len();
            if is_other_form && BREAKS.iter().any(|(broken, _)| *broken == call.slot) {
                continue;
            }
            differences.extend(difference(&call.slot, &call.signature, &headers, &declared));
        }
    }
    assert!(differences.is_empty(), "{differences:#?}");
    assert!(undeclared.is_empty(), "no release declares {undeclared:?}");
}

#[test]
fn entry_point_signatures_match_every_release() {
    let mut undeclared = BTreeSet::from(ENTRY_POINTS);
    for headers in ReleaseItems::all() {
        for name in ENTRY_POINTS {
            let Some(declared) = headers.function(name) else {
                continue;
            };
            undeclared.remove(name);
            let own = match name {
                "TF_InitKernel" => KernelEntryPoint::c_type(),
                _ => FillingEntryPoint::c_type(),
            };
            let declared = CallType::Function(Box::new(declared));
            assert!(own.accepts(&declared), "{name}: {own}, not {declared}");
        }
    }
    assert!(undeclared.is_empty(), "no release declares {undeclared:?}");
}
