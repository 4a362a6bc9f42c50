//! The uses of an op in fused nodes, which the graph optimizer reads from the kernels of the plugin's tables.
//!
//! The backend that computes fused nodes has the functions, so it states them with its kernels of the single ops. A statement
//! counts also if an earlier table has a kernel for the same nodes: the positions of tables decide which nodes a pass may
//! replace.

use std::any::Any;
use std::collections::BTreeMap;
use std::ffi::CStr;
use std::sync::{OnceLock, PoisonError, RwLock};

use sp_abi::tf_datatype::TF_DataType;
use sp_graph::StepOperands;

/// The uses that a kernel states.
pub(super) struct FusedUses {
    step: OnceLock<Step>,
    activation: OnceLock<()>,
}

/// A step of `SpElementwise`: what the optimizer reads, and what the kernel of that op calls.
struct Step {
    operands: StepOperands,
    function: Box<dyn Any + Send + Sync>,
}

impl FusedUses {
    pub const fn new() -> Self {
        Self {
            step: OnceLock::new(),
            activation: OnceLock::new(),
        }
    }

    pub fn set_step(&self, operands: StepOperands, function: impl Any + Send + Sync) {
        let function = Box::new(function);
        self.step.get_or_init(|| Step { operands, function });
    }

    pub fn set_activation(&self) {
        self.activation.get_or_init(|| ());
    }
}

/// The uses that a kernel states, and its type `T`, if it has one only.
type Statement = (&'static FusedUses, Option<TF_DataType>);

/// The statements for each op. Written while the plugin is loaded only, so a child that is forked while another thread
/// reads can read.
static STATED: RwLock<BTreeMap<&'static [u8], Vec<Statement>>> = RwLock::new(BTreeMap::new());

/// Records what a kernel states.
pub(super) fn record(op: &'static CStr, uses: &'static FusedUses, dtype: Option<TF_DataType>) {
    if uses.step.get().is_some() || uses.activation.get().is_some() {
        let mut stated = STATED.write().unwrap_or_else(PoisonError::into_inner);
        let of_op = stated.entry(op.to_bytes()).or_default();
        of_op.push((uses, dtype));
    }
}

/// Returns the function of the first kernel of this op that states a step, or `None` if there is none of type `F`.
pub fn step_function<F: Any>(op: &str) -> Option<&'static F> {
    let step = find(op, |(uses, _)| uses.step.get())?;
    step.function.downcast_ref()
}

// since 2.6
/// Returns the operands of an op that can be a step for nodes whose attribute `T` is this type.
pub(crate) fn step_operands(op: &str, dtype: TF_DataType) -> Option<StepOperands> {
    let step = find(op, |it| it.0.step.get().filter(|_| has_dtype(it, dtype)))?;
    Some(step.operands)
}

// since 2.6
/// Returns true if an op can be the activation of a fused product for nodes whose attribute `T` is this type.
pub(crate) fn is_activation(op: &str, dtype: TF_DataType) -> bool {
    let stated = find(op, |it| {
        it.0.activation.get().filter(|_| has_dtype(it, dtype))
    });
    stated.is_some()
}

// since 2.6
fn has_dtype((_, stated): Statement, dtype: TF_DataType) -> bool {
    stated.is_none_or(|it| it == dtype)
}

/// Returns the first result of `use_of` for the statements of an op.
fn find<U>(op: &str, use_of: impl FnMut(Statement) -> Option<U>) -> Option<U> {
    let stated = STATED.read().unwrap_or_else(PoisonError::into_inner);
    let of_op = stated.get(op.as_bytes())?;
    of_op.iter().copied().find_map(use_of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statement_is_found_by_op_and_type() {
        static USES: FusedUses = FusedUses::new();
        USES.set_step(StepOperands::One, 7_i32);
        let [float, double] = [TF_DataType::TF_FLOAT, TF_DataType::TF_DOUBLE];
        record(c"Stated", &USES, Some(float));
        assert_eq!(step_operands("Stated", float), Some(StepOperands::One));
        assert_eq!(step_operands("Stated", double), None);
        assert_eq!(step_operands("Other", float), None);
        assert_eq!(step_function("Stated"), Some(&7_i32));
        assert_eq!(step_function::<u8>("Stated"), None);
        assert!(!is_activation("Stated", float));
    }
}
