//! Definitions of the TensorFlow ops that a first plugin needs.

use super::attr::Attr;
use super::op_definition::OpDefinition;

/// The definition of an op, such as `input:T other:U -> output:T`, and its default attributes. Types that
/// no attribute chooses are in lower case.
pub(crate) struct KnownOp {
    name: &'static str,
    signature: &'static str,
    attrs: &'static [(&'static str, DefaultValue)],
}

#[derive(Clone, Copy)]
enum DefaultValue {
    Bool(bool),
    Text(&'static str),
}

const NHWC: (&str, DefaultValue) = ("data_format", DefaultValue::Text("NHWC"));
const KEEP_DIMS: (&str, DefaultValue) = ("keep_dims", DefaultValue::Bool(false));

const fn known(
    name: &'static str,
    signature: &'static str,
    attrs: &'static [(&'static str, DefaultValue)],
) -> KnownOp {
    KnownOp {
        name,
        signature,
        attrs,
    }
}

const KNOWN_OPS: &[KnownOp] = &[
    known(
        "MatMul",
        "a:T b:T -> product:T",
        &[
            ("transpose_a", DefaultValue::Bool(false)),
            ("transpose_b", DefaultValue::Bool(false)),
            ("grad_a", DefaultValue::Bool(false)),
            ("grad_b", DefaultValue::Bool(false)),
        ],
    ),
    known("BiasAdd", "value:T bias:T -> output:T", &[NHWC]),
    known("BiasAddGrad", "out_backprop:T -> output:T", &[NHWC]),
    known("Relu", "features:T -> activations:T", &[]),
    known("ReluGrad", "gradients:T features:T -> backprops:T", &[]),
    known(
        "SparseSoftmaxCrossEntropyWithLogits",
        "features:T labels:Tlabels -> loss:T backprop:T",
        &[],
    ),
    known("Placeholder", "-> output:dtype", &[]),
    known("Identity", "input:T -> output:T", &[]),
    known("AddV2", "x:T y:T -> z:T", &[]),
    known("Sub", "x:T y:T -> z:T", &[]),
    known("Mul", "x:T y:T -> z:T", &[]),
    known("RealDiv", "x:T y:T -> z:T", &[]),
    known("DivNoNan", "x:T y:T -> z:T", &[]),
    known("Pow", "x:T y:T -> z:T", &[]),
    known("Sqrt", "x:T -> y:T", &[]),
    known("Square", "x:T -> y:T", &[]),
    known("Neg", "x:T -> y:T", &[]),
    known(
        "Sum",
        "input:T reduction_indices:Tidx -> output:T",
        &[KEEP_DIMS],
    ),
    known(
        "Mean",
        "input:T reduction_indices:Tidx -> output:T",
        &[KEEP_DIMS],
    ),
    known("ReadVariableOp", "resource:resource -> value:dtype", &[]),
    known(
        "AssignVariableOp",
        "resource:resource value:dtype ->",
        &[("validate_shape", DefaultValue::Bool(false))],
    ),
    known(
        "AssignAddVariableOp",
        "resource:resource value:dtype ->",
        &[],
    ),
    known(
        "AssignSubVariableOp",
        "resource:resource value:dtype ->",
        &[],
    ),
    known(
        "ResourceApplyGradientDescent",
        "var:resource alpha:T delta:T ->",
        &[("use_locking", DefaultValue::Bool(false))],
    ),
    known(
        "Cast",
        "x:SrcT -> y:DstT",
        &[("Truncate", DefaultValue::Bool(false))],
    ),
];

/// Returns the names of all known ops.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    KNOWN_OPS.iter().map(|known| known.name)
}

/// Returns the definition of the known op `name`.
pub(super) fn definition(name: &str) -> Option<OpDefinition> {
    KnownOp::find(name).map(KnownOp::definition)
}

impl KnownOp {
    /// Returns the known op `name`.
    pub fn find(name: &str) -> Option<&'static Self> {
        KNOWN_OPS.iter().find(|known| known.name == name)
    }

    /// Returns the arguments and attributes.
    pub fn definition(&self) -> OpDefinition {
        let (inputs, outputs) = self
            .signature
            .split_once("->")
            .expect("every signature has an arrow");
        let list = |text: &str| {
            let arguments = text
                .split_whitespace()
                .filter_map(|argument| argument.split_once(':'));
            arguments
                .map(|(name, ty)| (name.to_owned(), ty.to_owned()))
                .collect()
        };
        OpDefinition::new(self.name, list(inputs), list(outputs))
    }

    /// Returns the attributes that have default values.
    pub fn defaults(&self) -> impl Iterator<Item = (&'static str, Attr)> {
        self.attrs.iter().map(|(name, default)| match default {
            DefaultValue::Bool(value) => (*name, Attr::from(*value)),
            DefaultValue::Text(value) => (*name, Attr::from(*value)),
        })
    }
}
