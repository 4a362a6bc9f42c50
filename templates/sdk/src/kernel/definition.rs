//! A kernel: its registration as data, and its functions.

use std::any::Any;
use std::ffi::CStr;
use std::sync::atomic::Ordering;

use sp_graph::StepOperands;

use super::attribute::Construction;
use super::call::Call;
use super::call::instance::Instance;
use super::fused_use::{self, FusedUses};
use super::spec::{CreateCall, KernelSpec, State};
use crate::Result;

/// A kernel of an op, for one choice of element types.
pub struct Kernel {
    pub(super) spec: KernelSpec,
    pub(super) create: CreateCall,
    pub(super) prepare: PrepareFunction,
    pub(super) compute: ComputeFunction,
    pub(super) fused_uses: FusedUses,
}

/// The kernels of one function: implemented by the expansion of `#[kernel(..)]`.
pub trait KernelTable: 'static {
    /// Returns the kernels.
    fn kernels() -> &'static [Kernel];
}

/// Reads the attributes and prepares the state, when TensorFlow constructs the kernel.
pub type PrepareFunction = fn(&Construction<'_>) -> Result<State>;

/// Computes one call. TensorFlow reports an error as the op's error.
pub type ComputeFunction = fn(&Call<'_>) -> Result<()>;

/// Returns the kernels of several functions, in order.
pub fn concat(tables: &[&'static [Kernel]]) -> Vec<&'static Kernel> {
    tables.iter().copied().flatten().collect()
}

impl Kernel {
    /// Returns the name of the op.
    #[inline]
    pub fn op(&self) -> &'static CStr {
        self.spec.op()
    }

    /// Returns the op, the types and the label: `Cast SrcT=TF_FLOAT DstT=TF_INT64`, `LogicalAnd label=host`.
    pub fn label(&self) -> &str {
        self.spec.label()
    }

    /// Returns the line of the kernel in the library's section, which names the functions that not every host has: without
    /// one of them the kernel is not registered. Empty if there are none.
    pub fn optional_functions(&self) -> &'static str {
        str::from_utf8(self.spec.options.optional).unwrap_or_default()
    }

    /// Returns true if there is a node that both kernels serve: no attribute is of one type here and of another there.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.spec.overlaps(&other.spec)
    }

    /// States that the kernel of `SpElementwise` computes this op as a step, by a function that
    /// [`step_function`](super::step_function) returns. The first statement counts.
    pub fn with_step(&self, operands: StepOperands, function: impl Any + Send + Sync) -> &Self {
        self.fused_uses.set_step(operands, function);
        self
    }

    /// States that the kernels of `_FusedMatMul` and `_FusedConv2D` compute this op after a bias.
    pub fn with_activation(&self) -> &Self {
        self.fused_uses.set_activation();
        self
    }

    /// States that the shapes of all outputs depend only on shapes of inputs and on values in host memory, and that no values in
    /// device memory make the kernel fail once it has asked for its outputs. The kernel then runs behind its call, on a device whose
    /// queues run later.
    ///
    /// To find the shapes, the kernel is called until it has asked for its last output; its inputs then have any values.
    pub fn with_known_shapes(&self) -> &Self {
        self.spec.has_known_shapes.store(true, Ordering::Relaxed);
        self
    }

    /// Returns true if [`with_known_shapes`](Self::with_known_shapes) was called.
    pub fn has_known_shapes(&self) -> bool {
        self.spec.has_known_shapes.load(Ordering::Relaxed)
    }

    /// Records what the kernel states of fused nodes, for the graph optimizer.
    pub(super) fn record_fused_uses(&'static self) {
        let mut constraints = self.spec.running_constraints();
        let dtype = constraints.find(|it| it.attribute == c"T");
        fused_use::record(self.op(), &self.fused_uses, dtype.map(|it| it.dtype));
    }

    /// Constructs the kernel for a node.
    ///
    /// # Errors
    /// Returns an error if an attribute is absent or not supported.
    pub(super) fn construct(&'static self, construction: &Construction<'_>) -> Result<Instance> {
        let state = (self.prepare)(construction)?;
        Instance::new(&self.spec, self.compute, state, construction)
    }
}
