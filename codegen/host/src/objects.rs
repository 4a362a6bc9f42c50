//! Every object that core hands to a plugin, by address. A pointer that comes back is looked up
//! here before it is followed, so that a second delete or a stray pointer is a line in the report,
//! and what was never given back is counted.
//!
//! Invariant: an address recorded under a kind was made by `give` for the one type of that kind.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use crate::child::channel::{self, kind};
use crate::fault;

/// The kinds of object that core hands out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// `TF_Status`.
    Status,
    /// `TF_Tensor`.
    Tensor,
    /// `TF_KernelBuilder`.
    KernelBuilder,
    /// `TF_Buffer`.
    Buffer,
    /// `TF_OpKernelConstruction`.
    Construction,
    /// `TF_OpKernelContext`.
    Context,
    /// `TF_AsyncOpKernelDoneCallback`.
    Done,
    /// `TF_GrapplerItem`.
    GrapplerItem,
    /// `TF_GraphProperties`.
    GraphProperties,
    /// `TF_FunctionLibraryDefinition`.
    FunctionLibrary,
    /// `TF_OpDefinitionBuilder`.
    OpDefinitionBuilder,
    /// `TF_ShapeInferenceContext`.
    ShapeInference,
    /// `TF_ShapeHandle`.
    Shape,
    /// `TF_DimensionHandle`.
    Dimension,
    /// `TF_VariableInputLockHolder`.
    VariableLock,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Status => "TF_Status",
            Self::Tensor => "TF_Tensor",
            Self::KernelBuilder => "TF_KernelBuilder",
            Self::Buffer => "TF_Buffer",
            Self::Construction => "TF_OpKernelConstruction",
            Self::Context => "TF_OpKernelContext",
            Self::Done => "TF_AsyncOpKernelDoneCallback",
            Self::GrapplerItem => "TF_GrapplerItem",
            Self::GraphProperties => "TF_GraphProperties",
            Self::FunctionLibrary => "TF_FunctionLibraryDefinition",
            Self::OpDefinitionBuilder => "TF_OpDefinitionBuilder",
            Self::ShapeInference => "TF_ShapeInferenceContext",
            Self::Shape => "TF_ShapeHandle",
            Self::Dimension => "TF_DimensionHandle",
            Self::VariableLock => "TF_VariableInputLockHolder",
        })
    }
}

/// Who must give an object back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    Host,
    Plugin,
}

/// A type that plugins hold by pointer.
pub(crate) trait Object: Send + Sync + 'static {
    const KIND: Kind;
}

#[derive(Default)]
struct Ledger {
    live: HashMap<usize, (Kind, Owner)>,
    faults: BTreeSet<String>,
    missing: BTreeSet<String>,
}

static LEDGER: LazyLock<Mutex<Ledger>> = LazyLock::new(Mutex::default);

fn ledger() -> MutexGuard<'static, Ledger> {
    LEDGER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Puts `object` on the heap and records it.
pub(crate) fn give<T: Object>(object: T, owner: Owner) -> *mut T {
    let pointer = Box::into_raw(Box::new(object));
    ledger().live.insert(pointer as usize, (T::KIND, owner));
    pointer
}

/// Takes back what `give` handed out; nothing, if it is not that or is gone already.
pub(crate) fn take<T: Object>(pointer: *mut T) -> Option<Box<T>> {
    let mut ledger = ledger();
    match ledger.live.get(&(pointer as usize)) {
        Some((kind, _)) if *kind == T::KIND => ledger.live.remove(&(pointer as usize)),
        _ => None,
    }?;
    drop(ledger);
    // SAFETY: the ledger said that `give` made this address for this type, and forgets it now.
    Some(unsafe { Box::from_raw(pointer) })
}

/// The object at `pointer`, if it is live and of this type.
pub(crate) fn find<'a, T: Object>(pointer: *mut T) -> Option<&'a T> {
    let (kind, _) = *ledger().live.get(&(pointer as usize))?;
    // SAFETY: the ledger says that `give` made this address for this type and that nobody took it
    // back. Callers keep the reference for one call only; a plugin that deletes the object on
    // another thread meanwhile breaks the C contract.
    (kind == T::KIND).then(|| unsafe { &*pointer })
}

/// Records that the plugin broke the C contract.
pub(crate) fn fault(text: String) {
    fault::note(&text);
    ledger().faults.insert(text);
}

/// Records that the plugin called a function that the host does not implement.
pub(crate) fn missing(function: &str) {
    if ledger().missing.insert(function.to_owned()) {
        match channel::is_open() {
            true => {
                channel::send(kind::MISSING, function);
            }
            false => fault::note(&format!(
                "{function} was called, and this host does not implement it"
            )),
        }
    }
}

/// What went wrong in this process so far, over all hosts and plugins in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// Objects that plugins own and have not given back, by kind.
    pub unreturned: BTreeMap<Kind, usize>,
    /// Breaches of the C contract, such as a second delete.
    pub faults: Vec<String>,
    /// Functions that were called and that the host does not implement.
    pub missing: Vec<String>,
}

impl Tally {
    /// The state of this process.
    pub fn now() -> Self {
        let ledger = ledger();
        let mut unreturned = BTreeMap::new();
        for (kind, owner) in ledger.live.values() {
            if *owner == Owner::Plugin {
                *unreturned.entry(*kind).or_default() += 1;
            }
        }
        Self {
            unreturned,
            faults: ledger.faults.iter().cloned().collect(),
            missing: ledger.missing.iter().cloned().collect(),
        }
    }

    /// What is the plugin's own doing: without the functions that this host lacks.
    pub(crate) fn of_the_plugin(self) -> Self {
        let missing = vec![];
        Self { missing, ..self }
    }

    /// Whether there is nothing to report.
    pub fn is_clean(&self) -> bool {
        self.unreturned.is_empty() && self.faults.is_empty() && self.missing.is_empty()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kept = self.unreturned.iter().map(|(kind, count)| match count {
            1 => format!("1 {kind} was never deleted"),
            _ => format!("{count} {kind} were never deleted"),
        });
        let missing = self
            .missing
            .iter()
            .map(|name| format!("{name} is not implemented by sp-host"));
        let lines: Vec<String> = kept
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

    impl Object for Demo {
        const KIND: Kind = Kind::Done;
    }

    #[test]
    fn an_object_is_taken_back_once() {
        let pointer = give(Demo, Owner::Host);
        assert!(find(pointer).is_some());
        assert!(take(pointer).is_some());
        assert!(take(pointer).is_none());
        assert!(find(pointer).is_none());
    }

    #[test]
    fn a_tally_reads_as_a_sentence() {
        let tally = Tally {
            unreturned: [(Kind::Tensor, 2), (Kind::Status, 1)].into(),
            faults: vec![],
            missing: vec!["TF_Demo".into()],
        };
        let text = tally.to_string();
        assert!(text.contains("2 TF_Tensor were never deleted"), "{text}");
        assert!(text.contains("TF_Demo is not implemented"), "{text}");
    }
}
