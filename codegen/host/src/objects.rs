//! Registry of the objects that core passes to plugins, by address.
//!
//! A pointer from a plugin is looked up here before it is dereferenced. So a second delete or a wild pointer is
//! reported, and objects that were never deleted are counted.
//!
//! Invariant: an address recorded under a kind was made by `create` for the one type of that kind.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
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

#[derive(Default)]
struct ObjectRegistry {
    live: HashMap<usize, (ObjectKind, Owner, ThreadId)>,
    faults: BTreeSet<String>,
    missing: BTreeSet<String>,
}

static REGISTRY: LazyLock<Mutex<ObjectRegistry>> = LazyLock::new(Mutex::default);

/// Puts `object` on the heap and records it.
pub(crate) fn create<T: HostObject>(object: T, owner: Owner) -> *mut T {
    let pointer = Box::into_raw(Box::new(object));
    let entry = (T::KIND, owner, thread::current().id());
    lock(&REGISTRY).live.insert(pointer as usize, entry);
    pointer
}

/// Removes the object at `pointer` from the registry, or returns `None` if it is not a live object of this type.
pub(crate) fn take<T: HostObject>(pointer: *mut T) -> Option<Box<T>> {
    let mut registry = lock(&REGISTRY);
    match registry.live.get(&(pointer as usize)) {
        Some((kind, ..)) if *kind == T::KIND => registry.live.remove(&(pointer as usize)),
        _ => None,
    }?;
    drop(registry);
    // SAFETY: the registry had this address under the kind of `T`, so `create` made it from a `Box<T>`. The entry is
    // removed, so no other call frees it.
    Some(unsafe { Box::from_raw(pointer) })
}

/// Returns the object at `pointer`, or `None` if it is not a live object of this type.
pub(crate) fn find<'a, T: HostObject>(pointer: *mut T) -> Option<&'a T> {
    let (kind, ..) = *lock(&REGISTRY).live.get(&(pointer as usize))?;
    // SAFETY: the registry has this address under the kind of `T`, so `create` made it from a `Box<T>` that was not
    // freed. Callers hold the reference for one call only; a plugin that deletes the object on another thread
    // meanwhile violates the C contract.
    (kind == T::KIND).then(|| unsafe { &*pointer })
}

/// Returns the number of statuses that plugins own and have not deleted, also those of threads.
pub(crate) fn undeleted_statuses() -> usize {
    let registry = lock(&REGISTRY);
    let is_status = |(kind, owner, _): &&(ObjectKind, Owner, ThreadId)| {
        *kind == ObjectKind::Status && *owner == Owner::Plugin
    };
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
        for (kind, owner, thread) in registry.live.values() {
            // A plugin may keep a status for each thread.
            let is_of_thread = *kind == ObjectKind::Status
                && *owner == Owner::Plugin
                && threads_with_status.insert(format!("{thread:?}"));
            if *owner == Owner::Plugin && !is_of_thread {
                *unreturned.entry(*kind).or_default() += 1;
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
        let lines: Vec<String> = live
            .chain(self.faults.iter().cloned())
            .chain(missing)
            .collect();
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

    #[test]
    fn removes_object_once() {
        let pointer = create(Demo, Owner::Host);
        assert!(find(pointer).is_some());
        assert!(take(pointer).is_some());
        assert!(take(pointer).is_none());
        assert!(find(pointer).is_none());
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
