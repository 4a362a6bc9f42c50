//! One struct of the C API in guarded memory: it has the length of the release, ends at an inaccessible page, and
//! bytes outside of fields have a fill pattern. Fields are accessed by the offsets of the IR; no
//! Rust struct describes the layout.
//!
//! Invariant: reads and writes stay inside the field that the IR names.

use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_void};
use std::ptr::{NonNull, null_mut};
use std::sync::Mutex;

use sp_ir::{Api, Field, Item, Param, Presence, Struct, Type, Writer};

use crate::leak_exempt::leak_exempt;
use crate::lock;
use crate::memory::POISON;
use crate::{Error, fault};

/// The structs of one release, by name. They are leak-exempt, since reports of faults use their names.
#[derive(Debug, Clone)]
pub(crate) struct StructShapes {
    shapes: BTreeMap<String, &'static StructShape>,
    functions: BTreeMap<String, &'static [Param]>,
}

/// One struct of one release.
#[derive(Debug)]
pub(crate) struct StructShape {
    pub name: &'static str,
    pub body: Struct,
    /// The party that stores each field, if it is stated.
    pub writers: Vec<Option<Writer>>,
}

impl StructShapes {
    pub fn new(apis: &[Api]) -> Self {
        let items = || apis.iter().flat_map(|api| &api.items);
        let structs = items().filter_map(|(name, item)| {
            let shape = StructShape::leak_exempt(name, item.as_struct()?, apis);
            Some((name.clone(), shape))
        });
        let functions = items().filter_map(|(name, item)| {
            let params = leak_exempt(item.as_function()?.signature.params.clone());
            Some((name.clone(), params.as_slice()))
        });
        Self {
            shapes: structs.collect(),
            functions: functions.collect(),
        }
    }

    /// Returns the parameters of the function called `name`; none if the release has no such function.
    pub fn parameters(&self, name: &str) -> &'static [Param] {
        self.functions.get(name).copied().unwrap_or_default()
    }

    /// Returns the struct called `name`.
    pub fn get(&self, name: &str) -> Result<&'static StructShape, Error> {
        let none = || Error::Load(format!("the APIs passed to sp-host have no struct {name}"));
        self.shapes.get(name).copied().ok_or_else(none)
    }

    /// Returns an empty struct called `name` with its `struct_size`.
    pub fn record(&self, name: &str) -> Result<GuardedStruct, Error> {
        Ok(GuardedStruct::new(self.get(name)?))
    }
}

impl StructShape {
    fn leak_exempt(name: &str, body: &Struct, apis: &[Api]) -> &'static Self {
        let is_versioned = |ty: &Type| match ty {
            Type::Named(name) => apis.iter().any(|api| {
                let item = api.items.get(name);
                matches!(item, Some(Item::Struct(body)) if body.struct_size.is_some())
            }),
            _ => false,
        };
        let fields = body.fields.iter();
        leak_exempt(Self {
            name: leak_exempt(name.to_owned()),
            body: body.clone(),
            writers: fields.map(|it| body.writer(it, is_versioned)).collect(),
        })
    }

    /// Returns the field called `name`, if the release has it.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.body.fields.iter().find(|field| field.name == name)
    }

    /// Returns the number of parameters of the slot `name`, or `None` if the release does not have it.
    pub fn arguments(&self, name: &str) -> Option<usize> {
        self.parameters(name).map(<[Param]>::len)
    }

    /// Returns the parameters of the slot called `name`, if the release has it.
    pub fn parameters(&self, name: &str) -> Option<&[Param]> {
        match &self.field(name)?.ty {
            Type::Function(signature) => Some(&signature.params),
            _ => None,
        }
    }

    /// Returns the size without tail padding.
    pub fn struct_size(&self) -> u64 {
        let body = self.body.struct_size.as_ref();
        body.map_or(self.body.layout.size, |size| size.value)
    }

    /// Returns the required fields.
    pub fn required(&self) -> impl Iterator<Item = &Field> {
        self.body.fields.iter().filter(|field| {
            field
                .presence
                .as_ref()
                .is_some_and(|stated| stated.value == Presence::Required)
        })
    }
}

/// The records that plugins may be passed, by address.
static LIVE: Mutex<BTreeMap<usize, &'static StructShape>> = Mutex::new(BTreeMap::new());

/// Returns the struct of the live record at `address`, and its bytes.
///
/// # Safety
/// - The record is not dropped before this function returns.
pub(crate) unsafe fn read_live(address: usize) -> Option<(&'static StructShape, Vec<u8>)> {
    let shape = lock(&LIVE).get(&address).copied()?;
    let size = shape.body.layout.size as usize;
    let mut bytes = vec![0; size];
    // SAFETY: a live record has `size` bytes, all written once, and the caller does not drop it.
    unsafe { std::ptr::copy_nonoverlapping(address as *const u8, bytes.as_mut_ptr(), size) };
    Some((shape, bytes))
}

/// A struct in guarded memory.
#[derive(Debug)]
pub(crate) struct GuardedStruct {
    shape: &'static StructShape,
    map: NonNull<u8>,
    len: usize,
    start: NonNull<u8>,
    guard_slot: fault::GuardSlot,
    retired: bool,
}

// SAFETY: the record is the only owner of its memory, and the host never passes it to two calls at once.
unsafe impl Send for GuardedStruct {}
// SAFETY: as above; the host changes it only through `&mut`.
unsafe impl Sync for GuardedStruct {}

pub(crate) fn page() -> usize {
    // SAFETY: sysconf takes a number and accesses no memory of the caller.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096)
}

impl GuardedStruct {
    /// Returns a struct with all fields zero except `struct_size`, and with poisoned padding.
    pub fn new(shape: &'static StructShape) -> Self {
        let mut record = Self::mapped(shape);
        for field in &shape.body.fields {
            record.write(field, &vec![0; field.size as usize]);
        }
        record.set("struct_size", shape.struct_size());
        record
    }

    fn mapped(shape: &'static StructShape) -> Self {
        let size = shape.body.layout.size as usize;
        let room = size.next_multiple_of(page());
        let len = room + page();
        let map = map(len);
        let start = map.as_ptr().wrapping_add(room - size);
        let guard = map.as_ptr().wrapping_add(room);
        // SAFETY: the map has `room` bytes and a page after them.
        unsafe {
            map.write_bytes(POISON, room);
            libc::mprotect(guard.cast(), page(), libc::PROT_NONE);
        }
        let at = guard as usize;
        let guard_slot = fault::guard(at, at + page(), start as usize, &shape.name);
        let start = NonNull::new(start).expect("inside a map");
        lock(&LIVE).insert(start.as_ptr() as usize, shape);
        Self {
            shape,
            map,
            len,
            start,
            guard_slot,
            retired: false,
        }
    }

    /// Returns a copy of the struct at another address.
    pub fn clone_to_new_address(&self) -> Self {
        let copy = Self::mapped(self.shape);
        // SAFETY: both are as long as the struct.
        unsafe { copy.start.copy_from_nonoverlapping(self.start, self.size()) };
        copy
    }

    /// Makes the record inaccessible for the rest of the process: every access faults.
    pub fn retire(mut self) {
        self.retired = true;
        lock(&LIVE).remove(&(self.start.as_ptr() as usize));
        self.guard_slot.retire(self.map.as_ptr() as usize);
        // SAFETY: this record created the map, which is not unmapped, so no other memory gets its addresses.
        unsafe { libc::mprotect(self.map.as_ptr().cast(), self.len, libc::PROT_NONE) };
    }

    fn size(&self) -> usize {
        self.shape.body.layout.size as usize
    }

    pub fn shape(&self) -> &'static StructShape {
        self.shape
    }

    pub fn address(&self) -> *mut c_void {
        self.start.as_ptr().cast()
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: the struct's bytes are mapped and were all written once.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.size()) }
    }

    fn write(&mut self, field: &Field, bytes: &[u8]) {
        assert_eq!(
            bytes.len() as u64,
            field.size,
            "{}.{}",
            self.shape.name,
            field.name
        );
        assert!(field.offset + field.size <= self.shape.body.layout.size);
        // SAFETY: the field lies inside the struct, by the two lines above.
        unsafe {
            let at = self.start.add(field.offset as usize);
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), at.as_ptr(), bytes.len());
        }
    }

    /// Sets the number `field`, if the release has it.
    pub fn set(&mut self, field: &str, value: u64) {
        if let Some(field) = self.shape.field(field) {
            self.write(field, &value.to_le_bytes()[..field.size as usize]);
        }
    }

    /// Sets the pointer `field`, if the release has it.
    pub fn set_pointer(&mut self, field: &str, value: *mut c_void) {
        self.set(field, value as u64);
    }

    /// Sets the version fields.
    pub fn set_version(&mut self, version: [u64; 3]) {
        let fields = ["major_version", "minor_version", "patch_version"];
        for (field, part) in fields.into_iter().zip(version) {
            self.set(field, part);
        }
    }

    /// Returns the number in `field`, zero-extended, or `None` if the release has no such field.
    pub fn get(&self, field: &str) -> Option<u64> {
        let field = self.shape.field(field)?;
        let bytes = &self.bytes()[field.offset as usize..][..field.size as usize];
        let mut wide = [0; 8];
        wide.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(u64::from_le_bytes(wide))
    }

    /// Returns the signed 64-bit fields with negative values.
    pub fn negative(&self) -> impl Iterator<Item = &str> {
        let fields = self.shape.body.fields.iter();
        let signed = fields.filter(|field| field.ty == Type::int(64, true));
        let is_negative = |field: &&Field| self.get(&field.name).is_some_and(|it| (it as i64) < 0);
        signed.filter(is_negative).map(|field| field.name.as_str())
    }

    /// Returns the pointer in `field`, or null if the release has no such field.
    pub fn pointer(&self, field: &str) -> *mut c_void {
        self.get(field)
            .map_or(null_mut(), |value| value as *mut c_void)
    }

    /// Returns the C string that `field` points to.
    pub fn text(&self, field: &str) -> Option<String> {
        let pointer = self.pointer(field).cast_const().cast::<c_char>();
        if pointer.is_null() {
            return None;
        }
        // SAFETY: the C contract requires a NUL-terminated string that lives as long as the process.
        Some(
            unsafe { CStr::from_ptr(pointer) }
                .to_string_lossy()
                .into_owned(),
        )
    }

    /// Returns the function in `field`.
    pub fn slot(&self, field: &str) -> Result<*mut c_void, Error> {
        let name = self.shape.name;
        match self.get(field) {
            None => Err(Error::Load(format!(
                "{name} has no {field} in this release"
            ))),
            Some(0) => Err(Error::Refused(format!(
                "{name}.{field} is not set, and TensorFlow calls it"
            ))),
            Some(address) => Ok(address as *mut c_void),
        }
    }

    /// Returns the first written byte after the last field. Zeros do not count: a C compiler may write them when
    /// it assigns a whole struct.
    pub fn overrun(&self) -> Option<usize> {
        let end = self.shape.struct_size() as usize;
        let written = |byte: &u8| *byte != POISON && *byte != 0;
        let behind = self.bytes().get(end..)?;
        behind.iter().position(written).map(|at| end + at)
    }

    /// Returns the distance of the first written byte before the record.
    pub fn underrun(&self) -> Option<usize> {
        let room = self.start.as_ptr() as usize - self.map.as_ptr() as usize;
        // SAFETY: the bytes before the record are mapped and poisoned.
        let before = unsafe { std::slice::from_raw_parts(self.map.as_ptr(), room) };
        let before = before.iter().rposition(|&byte| byte != POISON);
        before.map(|at| room - at)
    }
}

pub(crate) fn map(len: usize) -> NonNull<u8> {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: a new anonymous map at an address of the kernel's choice affects no existing memory.
    let map = unsafe { libc::mmap(null_mut(), len, access, kind, -1, 0) };
    assert_ne!(map, libc::MAP_FAILED, "mmap of a struct failed");
    NonNull::new(map.cast()).expect("the kernel maps nothing at address 0")
}

impl Drop for GuardedStruct {
    fn drop(&mut self) {
        if !self.retired {
            self.guard_slot.release();
            lock(&LIVE).remove(&(self.start.as_ptr() as usize));
            // SAFETY: this record created the map, and no reference to it is left.
            unsafe { libc::munmap(self.map.as_ptr().cast(), self.len) };
        }
    }
}
