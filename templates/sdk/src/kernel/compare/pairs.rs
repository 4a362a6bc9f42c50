//! The kernels that are compared, each with its reference kernels: the last table has these.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use sp_abi::tf_datatype::TF_DataType;

use super::exceptions;
use crate::kernel::attribute::Construction;
use crate::kernel::definition::Kernel;
use crate::kernel::spec::{Constraint, Kind};
use crate::{Error, Result};

/// A kernel of the author, and the kernels of the reference that serve some of its nodes.
pub(super) struct Pair {
    pub kernel: &'static Kernel,
    /// Those with the highest priority come first.
    references: Vec<&'static Kernel>,
    has_reported: AtomicBool,
}

static PAIRS: RwLock<Vec<Arc<Pair>>> = RwLock::new(Vec::new());

/// Stores the pairs of the tables, and reports the kernels that are not compared.
pub(in crate::kernel) fn set_pairs(tables: &[Vec<&'static Kernel>]) {
    let Some((references, authors)) = tables.split_last() else {
        return;
    };
    let (mut pairs, mut reasons) = (Vec::new(), BTreeMap::<_, Vec<_>>::new());
    for kernel in authors.iter().flatten().copied() {
        match Pair::new(kernel, references) {
            Ok(pair) => pairs.push(Arc::new(pair)),
            Err(reason) => reasons.entry(reason).or_default().push(kernel.label()),
        }
    }
    let (count, others) = (pairs.len(), reasons.values().map(Vec::len).sum::<usize>());
    sp_runtime::report!(
        Info,
        "SP_COMPARE compares {count} kernels with reference kernels{}",
        match others {
            0 => String::new(),
            _ => format!("; {others} are not compared (SP_LOG=debug lists these)"),
        }
    );
    for (reason, kernels) in reasons {
        let kernels = kernels.join(", ");
        sp_runtime::report!(Debug, "not compared, since {reason}: {kernels}");
    }
    *PAIRS.write().unwrap_or_else(PoisonError::into_inner) = pairs;
}

/// Returns the pair of a kernel; `None` if it is not compared.
pub(super) fn find(kernel: &'static Kernel) -> Option<Arc<Pair>> {
    let pairs = PAIRS.read().unwrap_or_else(PoisonError::into_inner);
    let found = pairs.iter().find(|it| std::ptr::eq(it.kernel, kernel));
    found.cloned()
}

impl Pair {
    /// Returns the pair of a kernel, or the reason why it is not compared.
    fn new(
        kernel: &'static Kernel,
        references: &[&'static Kernel],
    ) -> std::result::Result<Self, &'static str> {
        let references = references.iter().copied();
        let mut references: Vec<_> = references.filter(|it| kernel.overlaps(it)).collect();
        if references.is_empty() {
            return Err("the reference has no kernel of the op and types");
        }
        if let Some(reason) = exceptions::reason_for_op(kernel.op()) {
            return Err(reason);
        }
        if kernel.spec.needs_functions() || references.iter().any(|it| it.spec.needs_functions()) {
            return Err("an argument is a string, a variable or a variant");
        }
        references.retain(|it| it.spec.options.device.is_none());
        if references.is_empty() {
            return Err("the reference kernel computes on a device");
        }
        references.sort_by_key(|it| -it.spec.options.priority);
        Ok(Self {
            kernel,
            references,
            has_reported: AtomicBool::new(false),
        })
    }

    /// Returns the reference kernel of a node.
    ///
    /// # Errors
    /// Returns an error if the reference has no kernel of the node's types.
    pub fn reference_of(&self, construction: &Construction<'_>) -> Result<&'static Kernel> {
        let serves = |kernel: &&&'static Kernel| {
            let mut constraints = kernel.spec.running_constraints();
            constraints.all(|it| has_type(construction, it))
        };
        let none = || Error::unimplemented("the reference has no kernel of the node's types");
        self.references
            .iter()
            .find(serves)
            .copied()
            .ok_or_else(none)
    }

    /// Reports that a call or a node is not compared: one line for each kernel.
    #[cold]
    pub fn report_uncompared(&self, reason: &str) {
        if !self.has_reported.swap(true, Ordering::Relaxed) {
            let label = self.kernel.label();
            sp_runtime::report!(
                Warn,
                "{label}: a call is not compared with the reference kernel: {reason}; further ones are not reported"
            );
        }
    }
}

/// Returns true if the node's attribute is of the constraint's type.
fn has_type(construction: &Construction<'_>, constraint: &Constraint) -> bool {
    let name = constraint.attribute;
    let types = match construction.attribute_kind(name) {
        Some(Kind::TypeList) => construction.attribute::<Vec<TF_DataType>>(name),
        _ => construction.attribute(name).map(|it| vec![it]),
    };
    types.is_ok_and(|it| it.iter().all(|it| *it == constraint.dtype))
}
