//! Registry of the objects that core passes to plugins, by address.
//!
//! A pointer from a plugin is looked up here before it is dereferenced. So a second delete or a wild pointer is
//! reported, and objects that were never deleted are counted.
//!
//! Invariant: `create` made the object at a recorded address, with the recorded type.

use std::any::TypeId;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::mem::ManuallyDrop;
use std::sync::{LazyLock, Mutex};
use std::thread::{self, ThreadId};

use crate::channel::{self, kind};
use crate::fault;
use crate::lock;

/// Defines [`ObjectKind`] with the C type of each kind.
macro_rules! object_kinds {
    ($($kind:ident: $name:literal,)*) => {
        /// The kinds of object that core passes to plugins.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum ObjectKind {
            $(#[doc = concat!("`", $name, "`.")] $kind,)*
        }

        impl fmt::Display for ObjectKind {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $(Self::$kind => $name,)* })
            }
        }
    };
}

object_kinds! {
    Status: "TF_Status",
    Tensor: "TF_Tensor",
    KernelBuilder: "TF_KernelBuilder",
    Buffer: "TF_Buffer",
    Construction: "TF_OpKernelConstruction",
    Context: "TF_OpKernelContext",
    Done: "TF_AsyncOpKernelDoneCallback",
    GrapplerItem: "TF_GrapplerItem",
    GraphProperties: "TF_GraphProperties",
    FunctionLibrary: "TF_FunctionLibraryDefinition",
    OpDefinitionBuilder: "TF_OpDefinitionBuilder",
    ShapeInference: "TF_ShapeInferenceContext",
    Shape: "TF_ShapeHandle",
    Dimension: "TF_DimensionHandle",
    VariableLock: "TF_VariableInputLockHolder",
}

/// The party that must delete an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    Host,
    Plugin,
}

/// A type that plugins hold by pointer.
pub(crate) trait HostObject: Send + Sync + 'static {
    const KIND: ObjectKind;
}

/// The entry of an object.
struct LiveObject {
    type_id: TypeId,
    kind: ObjectKind,
    owner: Owner,
    /// The thread that created it.
    thread: ThreadId,
}

#[derive(Default)]
struct ObjectRegistry {
    live: HashMap<usize, LiveObject>,
    faults: BTreeSet<String>,
    missing: BTreeSet<String>,
}

impl ObjectRegistry {
    /// Returns true if the object at `pointer` is live and has this type.
    fn has<T: HostObject>(&self, pointer: *mut T) -> bool {
        let entry = self.live.get(&pointer.addr());
        entry.is_some_and(|it| it.type_id == TypeId::of::<T>())
    }
}

static REGISTRY: LazyLock<Mutex<ObjectRegistry>> = LazyLock::new(Mutex::default);

/// Puts `object` on the heap and records it.
pub(crate) fn create<T: HostObject>(object: T, owner: Owner) -> *mut T {
    let pointer = Box::into_raw(Box::new(object));
    let entry = LiveObject {
        type_id: TypeId::of::<T>(),
        kind: T::KIND,
        owner,
        thread: thread::current().id(),
    };
    lock(&REGISTRY).live.insert(pointer.addr(), entry);
    pointer
}

/// Removes the object at `pointer` from the registry, or returns `None` if it is not a live object of this type.
///
/// # Safety
/// - No reference that [`find`] returned for the object is used afterwards.
pub(crate) unsafe fn take<T: HostObject>(pointer: *mut T) -> Option<Box<T>> {
    let mut registry = lock(&REGISTRY);
    if !registry.has(pointer) {
        return None;
    }
    registry.live.remove(&pointer.addr());
    drop(registry);
    // SAFETY: the registry had this address with the type `T`, so `create` made it from a `Box<T>`. The entry is removed,
    // so no other call frees it. The caller guarantees that no reference is left.
    Some(unsafe { Box::from_raw(pointer) })
}

/// Returns the object at `pointer`, or `None` if it is not a live object of this type.
///
/// # Safety
/// - No call takes the object while the result is used.
pub(crate) unsafe fn find<'a, T: HostObject>(pointer: *mut T) -> Option<&'a T> {
    let is_live = lock(&REGISTRY).has(pointer);
    // SAFETY: the registry has this address with the type `T`, so `create` made it from a `Box<T>` that was not freed. The
    // caller guarantees that it is not freed while the reference is used.
    is_live.then(|| unsafe { &*pointer })
}

/// Calls `function` with the object at `pointer`, or returns `None` if it is not a live object of this type.
///
/// The registry is locked during the call: `function` must not create, find or take an object, or record a fault.
pub(crate) fn with_object<T: HostObject, R>(
    pointer: *mut T,
    function: impl FnOnce(&T) -> R,
) -> Option<R> {
    let registry = lock(&REGISTRY);
    let is_live = registry.has(pointer);
    // SAFETY: as in `find`, and no call takes the object while the registry is locked.
    let result = is_live.then(|| function(unsafe { &*pointer }));
    drop(registry);
    result
}

/// An object of the host that a plugin borrows. Dropping it frees the object, unless the plugin has deleted it.
pub(crate) struct BorrowedObject<T: HostObject>(*mut T);

impl<T: HostObject> BorrowedObject<T> {
    /// Puts `object` on the heap and records it.
    pub fn new(object: T) -> Self {
        Self(create(object, Owner::Host))
    }

    /// Returns the address that the plugin gets.
    pub fn address(&self) -> *mut T {
        self.0
    }

    /// Returns the object, or `None` if the plugin has deleted it.
    pub fn get(&self) -> Option<&T> {
        // SAFETY: the host takes the object only with the value, which is borrowed. A plugin that deletes the object on
        // another thread meanwhile violates the C contract.
        unsafe { find(self.0) }
    }

    /// Returns the object, or `None` if the plugin has deleted it.
    pub fn take(self) -> Option<Box<T>> {
        let borrowed = ManuallyDrop::new(self);
        // SAFETY: references from `get` borrow the value, which is consumed.
        unsafe { take(borrowed.0) }
    }
}

impl<T: HostObject> Drop for BorrowedObject<T> {
    fn drop(&mut self) {
        // SAFETY: references from `get` borrow the value, which is dropped.
        drop(unsafe { take(self.0) });
    }
}

/// Returns the number of statuses that plugins own and have not deleted, also those of threads.
pub(crate) fn undeleted_statuses() -> usize {
    let registry = lock(&REGISTRY);
    let is_status = |it: &&LiveObject| it.kind == ObjectKind::Status && it.owner == Owner::Plugin;
    registry.live.values().filter(is_status).count()
}

/// Records that the plugin violated the C contract.
pub(crate) fn record_fault(text: String) {
    fault::report(&text);
    lock(&REGISTRY).faults.insert(text);
}

/// Records that the plugin called a function that the host does not implement.
pub(crate) fn record_unimplemented(function: &str) {
    if lock(&REGISTRY).missing.insert(function.to_owned()) {
        match channel::is_open() {
            true => {
                channel::send(kind::MISSING, function);
            }
            false => fault::report(&format!(
                "the plugin called {function}, which sp-host does not implement"
            )),
        }
    }
}

/// Objects that were not deleted and violations of the C contract, over all hosts and plugins in this process.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ObjectReport {
    /// Number of objects that plugins own and have not deleted, by kind. One `TF_Status` of each thread is not counted.
    pub unreturned: BTreeMap<ObjectKind, usize>,
    /// Violations of the C contract, such as a second delete.
    pub faults: Vec<String>,
    /// Functions that were called and that the host does not implement.
    pub missing: Vec<String>,
}

impl ObjectReport {
    /// Returns the current state of this process.
    pub fn now() -> Self {
        let registry = lock(&REGISTRY);
        let mut unreturned = BTreeMap::new();
        let mut threads_with_status = BTreeSet::new();
        for object in registry.live.values() {
            // A plugin may keep a status for each thread.
            let is_of_thread = object.kind == ObjectKind::Status
                && object.owner == Owner::Plugin
                && threads_with_status.insert(format!("{:?}", object.thread));
            if object.owner == Owner::Plugin && !is_of_thread {
                *unreturned.entry(object.kind).or_default() += 1;
            }
        }
        Self {
            unreturned,
            faults: registry.faults.iter().cloned().collect(),
            missing: registry.missing.iter().cloned().collect(),
        }
    }

    /// Returns the report without the functions that this host does not implement.
    pub(crate) fn without_unimplemented(self) -> Self {
        let missing = vec![];
        Self { missing, ..self }
    }

    /// Returns true if there is nothing to report.
    pub fn is_clean(&self) -> bool {
        self.unreturned.is_empty() && self.faults.is_empty() && self.missing.is_empty()
    }
}

impl fmt::Display for ObjectReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let live = self.unreturned.iter().map(|(kind, count)| match count {
            1 => format!("1 {kind} was never deleted"),
            _ => format!("{count} {kind} were never deleted"),
        });
        let missing = self
            .missing
            .iter()
            .map(|name| format!("{name} is not implemented by sp-host"));
        let lines = live.chain(self.faults.iter().cloned()).chain(missing);
        let lines: Vec<String> = lines.collect();
        f.write_str(&lines.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Demo;

    impl HostObject for Demo {
        const KIND: ObjectKind = ObjectKind::Done;
    }

    /// Another type of the same kind.
    struct Other([u64; 8]);

    impl HostObject for Other {
        const KIND: ObjectKind = ObjectKind::Done;
    }

    fn is_live<T: HostObject>(pointer: *mut T) -> bool {
        with_object(pointer, |_| ()).is_some()
    }

    #[test]
    fn removes_object_once() {
        let pointer = create(Demo, Owner::Host);
        assert!(is_live(pointer));
        // SAFETY: the test has no reference to the object.
        let (first, second) = unsafe { (take(pointer), take(pointer)) };
        assert!(first.is_some() && second.is_none());
        assert!(!is_live(pointer));
    }

    #[test]
    fn finds_no_object_of_another_type_of_the_same_kind() {
        let pointer = create(Demo, Owner::Host);
        let other = pointer.cast::<Other>();
        assert_eq!(with_object(other, |it| it.0), None);
        // SAFETY: the test has no reference to the object.
        let (other, object) = unsafe { (take(other), take(pointer)) };
        assert!(other.is_none() && object.is_some());
    }

    #[test]
    fn dropping_borrowed_object_removes_it_unless_the_plugin_has_deleted_it() {
        let borrowed = BorrowedObject::new(Demo);
        let pointer = borrowed.address();
        assert!(borrowed.get().is_some());
        drop(borrowed);
        assert!(!is_live(pointer));
        let borrowed = BorrowedObject::new(Demo);
        // SAFETY: the test has no reference to the object.
        assert!(unsafe { take(borrowed.address()) }.is_some());
        assert!(borrowed.get().is_none() && borrowed.take().is_none());
    }

    #[test]
    fn report_is_displayed_as_sentences() {
        let report = ObjectReport {
            unreturned: [(ObjectKind::Tensor, 2), (ObjectKind::Status, 1)].into(),
            faults: vec![],
            missing: vec!["TF_Demo".into()],
        };
        let text = report.to_string();
        assert!(text.contains("2 TF_Tensor were never deleted"), "{text}");
        assert!(text.contains("TF_Demo is not implemented"), "{text}");
    }
}
