//! The definition of an op, which `#[op(..)]` expands to.

use std::ffi::CStr;

use sp_abi::ops::TF_ShapeInferenceContext;
use sp_runtime::{RawStatus, guard};

use super::context::{self, ShapeContext};
use super::shape::Shape;
use crate::Result;

/// The C signature of a shape function.
pub(super) type InferFunction = unsafe extern "C" fn(*mut TF_ShapeInferenceContext, *mut RawStatus);

/// An op that the plugin defines: implemented by the expansion of `#[op(..)]`.
///
/// # Safety
/// - [`TEXT`](Self::TEXT) states the op of [`DEFINITION`](Self::DEFINITION): kernels read and write tensors by it.
pub unsafe trait DefinedOp: 'static {
    /// The definition, as TensorFlow gets it.
    const DEFINITION: &'static OpDefinition;

    /// The definition, as the op's macro passes it to `#[kernel(..)]`.
    #[doc(hidden)]
    const TEXT: &'static str;

    /// Returns the shapes of each output: one, or those of a list.
    ///
    /// # Errors
    /// Returns an error if the inputs cannot have these shapes.
    fn infer(context: &ShapeContext<'_>) -> Result<Vec<Vec<Shape>>>;
}

/// The definition of an op, as TensorFlow's text.
#[derive(Debug)]
pub struct OpDefinition {
    pub(super) name: &'static CStr,
    pub(super) inputs: &'static [&'static CStr],
    pub(super) outputs: &'static [&'static CStr],
    pub(super) attributes: &'static [&'static CStr],
    /// Stateful, commutative, aggregate, allows an uninitialized input.
    pub(super) properties: [bool; 4],
    pub(super) deprecation: Option<(i32, &'static CStr)>,
    pub(super) infer: InferFunction,
}

impl OpDefinition {
    /// Creates the definition of `O`. For expansions; `#[op(..)]` checks the text.
    #[doc(hidden)]
    pub const fn new<O: DefinedOp>(
        name: &'static CStr,
        [inputs, outputs, attributes]: [&'static [&'static CStr]; 3],
        properties: [bool; 4],
        deprecation: Option<(i32, &'static CStr)>,
    ) -> Self {
        Self {
            name,
            inputs,
            outputs,
            attributes,
            properties,
            deprecation,
            infer: infer::<O>,
        }
    }

    /// Returns true if both state the same op, whose shape functions may differ.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let facts = |it: &Self| (it.name, it.inputs, it.outputs, it.attributes);
        facts(self) == facts(other)
    }

    /// Returns the name.
    pub fn name(&self) -> &'static CStr {
        self.name
    }
}

/// The shape function of `O`, as TensorFlow calls it.
unsafe extern "C" fn infer<O: DefinedOp>(
    context: *mut TF_ShapeInferenceContext,
    status: *mut RawStatus,
) {
    let body = || {
        // SAFETY: TensorFlow lends the context for this call.
        let shapes = unsafe { ShapeContext::from_raw(context) };
        context::run(&shapes, O::infer)
    };
    // SAFETY: TensorFlow lends the status for this call.
    unsafe { guard::run_with_status("a shape function", status, body) }
}
