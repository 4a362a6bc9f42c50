//! Detection of writes that violate the contract of a call.
//!
//! The structs among the arguments of each call into the plugin, and those that they point to, are compared
//! with their bytes before the call. The IR states which writes are allowed: the direction of the parameter,
//! and the writer of the field.

use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use sp_ir::{Direction, Field, Param, Presence, Type, Writer};

use crate::channel::{self, Breaches};
use crate::lock;
use crate::record::{StructShape, read_live};
use crate::{objects, requirements};
use std::ffi::c_void;

/// One call and the structs that it passes.
pub(crate) struct CallWatch<'a> {
    /// The struct that has the slot; empty for an exported function.
    table: &'a str,
    function: &'a str,
    parameters: &'a [Param],
    /// True if TensorFlow uses the values that are stored in the arguments.
    is_used: bool,
    structs: Vec<PassedStruct>,
}

/// A struct as it was before the call.
struct PassedStruct {
    shape: &'static StructShape,
    address: usize,
    before: Vec<u8>,
    /// True if the callee may write to it.
    is_writable: bool,
}

impl<'a> CallWatch<'a> {
    /// Watches a call of the function in `slot` of a struct.
    pub fn for_slot(table: &'a StructShape, slot: &'a str, arguments: &[usize]) -> Self {
        let parameters = table.parameters(slot).unwrap_or_default();
        let watch = Self::new(slot, parameters, arguments);
        Self {
            table: table.name,
            is_used: !table.field(slot).is_some_and(is_optional),
            ..watch
        }
    }

    /// Watches a call with these arguments; 0 stands for an argument that is not an address.
    pub fn new(function: &'a str, parameters: &'a [Param], arguments: &[usize]) -> Self {
        let mut watch = Self {
            table: "",
            function,
            parameters,
            is_used: true,
            structs: vec![],
        };
        for (index, address) in arguments.iter().enumerate() {
            // A parameter that the release's headers do not declare is not checked.
            let parameter = parameters.get(index);
            let is_writable = parameter.is_none_or(|it| is_written(&it.ty, direction(it)));
            watch.add(*address, is_writable);
        }
        watch
    }

    /// Adds the struct at `address`, if the host created one there, and the structs that it points to.
    fn add(&mut self, address: usize, is_writable: bool) {
        let is_known = self.structs.iter().any(|it| it.address == address);
        // SAFETY: the structs that a call passes, directly or by pointer, are dropped after the call only.
        let found = unsafe { read_live(address) }.filter(|_| !is_known);
        let Some((shape, before)) = found else { return };
        let passed = PassedStruct {
            shape,
            address,
            before,
            is_writable,
        };
        let nested_addresses: Vec<usize> = passed.nested_addresses().collect();
        self.structs.push(passed);
        for address in nested_addresses {
            self.add(address, true);
        }
    }

    /// Records violations of the contract by the callee. `is_ok` is false if it reported an error.
    /// `stored_handles` has the handle that was stored through each argument.
    pub fn report(&self, is_ok: bool, stored_handles: &[Option<*mut c_void>]) {
        for passed in &self.structs {
            passed.report(self, is_ok);
        }
        let missing = stored_handles.iter().zip(self.parameters);
        for (_, parameter) in missing.filter(|(it, _)| it.is_some_and(<*mut c_void>::is_null)) {
            if is_ok && self.is_used {
                let name = &parameter.name;
                let text = format!("{self} reported no error and left its `{name}` null");
                record_breach(&format!("{self} {name}"), text);
            }
        }
    }
}

/// `SP_StreamExecutor.allocate`, or the name of a function.
impl fmt::Display for CallWatch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.table {
            "" => f.write_str(self.function),
            table => write!(f, "{table}.{}", self.function),
        }
    }
}

fn is_optional(field: &Field) -> bool {
    let presence = field.presence.as_ref().map(|it| it.value);
    presence == Some(Presence::Optional)
}

fn direction(parameter: &Param) -> Option<Direction> {
    parameter.direction.as_ref().map(|it| it.value)
}

/// Returns true if what a pointer of this type and direction points to may be written.
fn is_written(ty: &Type, direction: Option<Direction>) -> bool {
    let is_mutable = matches!(ty, Type::Pointer { mutable: true, .. });
    is_mutable && matches!(direction, Some(Direction::Out | Direction::InOut))
}

impl PassedStruct {
    /// Returns the addresses of the structs that the callee is to fill and this struct points to.
    fn nested_addresses(&self) -> impl Iterator<Item = usize> {
        let fields = self.shape.body.fields.iter();
        let filled = fields.filter(|field| {
            let direction = field.direction.as_ref().map(|it| it.value);
            is_written(&field.ty, direction)
        });
        filled.map(|field| value(field, &self.before) as usize)
    }

    fn report(&self, call: &CallWatch<'_>, is_ok: bool) {
        // SAFETY: the call has returned, and the caller drops the structs later.
        let Some((_, after)) = (unsafe { read_live(self.address) }) else {
            return;
        };
        let fields = self.shape.body.fields.iter().zip(&self.shape.writers);
        for (field, writer) in fields {
            if let Some(found) = self.field_defect(field, *writer, &after) {
                let place = format!("{call} {}.{}", self.shape.name, field.name);
                record_breach(&place, format!("{call} {found}"));
            }
        }
        // The same text as in other checks, so that it counts once.
        if let Some(text) = self.wrong_size(&after).filter(|_| is_ok) {
            record_breach(&text.clone(), text);
        }
    }

    /// Returns the defect of the `struct_size` after the call.
    fn wrong_size(&self, after: &[u8]) -> Option<String> {
        let field = self.shape.field("struct_size")?;
        let text = requirements::struct_size_defect(self.shape, value(field, after));
        text.filter(|_| self.is_writable)
    }

    /// Returns the defect of a field after the call.
    fn field_defect(&self, field: &Field, writer: Option<Writer>, after: &[u8]) -> Option<String> {
        let (old, new) = (value(field, &self.before), value(field, after));
        if old == new {
            return None;
        }
        let place = format!("{}.{}", self.shape.name, field.name);
        let change = change(field, old, new);
        match writer {
            _ if !self.is_writable => Some(format!("changed {place}{change}; it may only read it")),
            _ if field.name == "struct_size" => None,
            Some(Writer::Core) => Some(format!("changed {place}{change}; TensorFlow sets it")),
            // To replace a value of another call by null is not a breach.
            Some(Writer::Reserved) => {
                (new != 0).then(|| format!("left {place} non-null; the header reserves it"))
            }
            Some(Writer::Plugin) | None => None,
        }
    }
}

/// Returns ` from 0 to 7`. Addresses are omitted, since they differ from run to run.
fn change(field: &Field, old: u64, new: u64) -> String {
    match field.ty {
        Type::Int { .. } | Type::Size | Type::Bool => format!(" from {old} to {new}"),
        _ => String::new(),
    }
}

/// Returns the number in `field`, zero-extended; 0 for a field of more than 8 bytes.
fn value(field: &Field, bytes: &[u8]) -> u64 {
    let mut wide = [0; 8];
    let bytes = &bytes[field.offset as usize..][..field.size as usize];
    if let Some(low) = wide.get_mut(..bytes.len()) {
        low.copy_from_slice(bytes);
    }
    u64::from_le_bytes(wide)
}

/// True if breaches are reported to the parent process.
static FOR_PARENT: AtomicBool = AtomicBool::new(false);

static BREACHES: Mutex<Breaches> = Mutex::new(Breaches::new());

/// Records that a call wrote a field of TensorFlow's or left a value that TensorFlow cannot use.
///
/// A check's process sends it to the parent, which reports it once for all checks. Elsewhere it is a fault.
pub(crate) fn record_breach(place: &str, text: String) {
    let mut breaches = lock(&BREACHES);
    if breaches.contains_key(place) {
        return;
    }
    breaches.insert(place.to_owned(), text.clone());
    match FOR_PARENT.load(Ordering::Relaxed) {
        true => {
            channel::send_breach(place, &text);
        }
        false => objects::record_fault(text),
    }
}

/// Sends breaches to the parent from now on.
pub(crate) fn send_breaches() {
    FOR_PARENT.store(true, Ordering::Relaxed);
}

/// Returns the breaches that this process has recorded.
pub(crate) fn breaches() -> Breaches {
    lock(&BREACHES).clone()
}
