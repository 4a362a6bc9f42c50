//! The definition of an op, and its serialized form.

use std::ffi::c_void;

use sp_ops::{
    AllowedValues, Argument, ArgumentType, Attribute, AttributeKind, ElementType, Flag, OpDef,
};

use super::shape::ShapeInference;
use crate::dtype::DType;
use crate::proto;
use crate::registration::DefinedOp;

pub(crate) type ShapeFunction = unsafe extern "C" fn(*mut ShapeInference, *mut c_void);

/// A definition of a plugin.
#[derive(Debug, Clone, Default)]
pub(crate) struct OpDefinition {
    pub op: OpDef,
    pub shape_function: Option<ShapeFunction>,
    pub(super) malformed: Option<String>,
}

impl OpDefinition {
    /// Returns the type attributes with the types that each allows; without restriction it is float.
    pub fn type_attrs(&self) -> impl Iterator<Item = (&str, Vec<DType>)> {
        let attributes = self.op.attributes.iter();
        let types = attributes.filter(|it| it.ty.kind == AttributeKind::Type && !it.ty.is_list);
        types.map(|attribute| match &attribute.allowed {
            AllowedValues::Types(types) => {
                let types = types.iter().map(|it| DType::from(*it));
                (attribute.name.as_str(), types.collect())
            }
            _ => (attribute.name.as_str(), vec![DType::FLOAT]),
        })
    }

    /// Returns the numbers of input and output tensors if each list has `count`.
    pub fn tensor_counts(&self, count: usize) -> (usize, usize) {
        let tensors = |arguments: &[Argument]| {
            let tensors = arguments.iter().map(|argument| match argument.ty {
                ArgumentType::Single(_) => 1,
                _ => count,
            });
            tensors.sum()
        };
        (tensors(&self.op.inputs), tensors(&self.op.outputs))
    }
}

impl From<&OpDefinition> for DefinedOp {
    fn from(definition: &OpDefinition) -> Self {
        let op = &definition.op;
        let arguments = op.inputs.iter().chain(&op.outputs);
        Self {
            name: op.name.clone(),
            arguments: arguments.map(|it| it.name.clone()).collect(),
            attributes: op.attributes.iter().map(|it| it.name.clone()).collect(),
        }
    }
}

/// Returns the serialized `OpDef`, without default values and restrictions of attributes.
pub(super) fn bytes(op: &OpDef) -> Vec<u8> {
    let inputs = op.inputs.iter();
    let inputs = inputs.map(|it| proto::bytes_field(2, argument(it)));
    let outputs = op.outputs.iter();
    let outputs = outputs.map(|it| proto::bytes_field(3, argument(it)));
    let attributes = op.attributes.iter();
    let attributes = attributes.map(|it| proto::bytes_field(4, attribute(it)));
    let flags = op.flags.iter().filter_map(|it| flag_number(*it));
    let flags = flags.map(|flag| proto::varint_field(flag, 1));
    [proto::bytes_field(1, &op.name)]
        .into_iter()
        .chain(inputs)
        .chain(outputs)
        .chain(attributes)
        .chain(flags)
        .flatten()
        .collect()
}

/// Returns the field of a flag in `OpDef`. A deprecation is no flag there.
fn flag_number(flag: Flag) -> Option<u32> {
    Some(match flag {
        Flag::Aggregate => 16,
        Flag::Stateful => 17,
        Flag::Commutative => 18,
        Flag::AllowsUninitializedInput => 19,
        Flag::DistributedCommunication => 21,
        Flag::Deprecated(_) => return None,
    })
}

fn attribute(attribute: &Attribute) -> Vec<u8> {
    let kind = attribute.ty.to_string();
    [
        proto::bytes_field(1, &attribute.name),
        proto::bytes_field(2, kind),
    ]
    .concat()
}

fn argument(argument: &Argument) -> Vec<u8> {
    let types = match &argument.ty {
        ArgumentType::Single(ty) => element(ty),
        ArgumentType::Repeated { count, element: ty } => {
            [proto::bytes_field(5, count), element(ty)].concat()
        }
        ArgumentType::List(attribute) => proto::bytes_field(6, attribute),
    };
    let reference = match argument.is_ref {
        true => proto::varint_field(16, 1),
        false => vec![],
    };
    [proto::bytes_field(1, &argument.name), types, reference].concat()
}

fn element(ty: &ElementType) -> Vec<u8> {
    match ty {
        ElementType::Fixed(ty) => proto::varint_field(3, u64::from(ty.number())),
        ElementType::Attribute(name) => proto::bytes_field(4, name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::op_text::parse_argument;

    #[test]
    fn serializes_types_attributes_and_lists_of_arguments() {
        let name = proto::bytes_field(1, "x");
        for (text, fields) in [
            ("x: float", vec![proto::varint_field(3, 1)]),
            ("x: T", vec![proto::bytes_field(4, "T")]),
            (
                "x: N * T",
                vec![proto::bytes_field(5, "N"), proto::bytes_field(4, "T")],
            ),
            (
                "x: Ref(T)",
                vec![proto::bytes_field(4, "T"), proto::varint_field(16, 1)],
            ),
        ] {
            let expected = [name.clone(), fields.concat()].concat();
            assert_eq!(argument(&parse_argument(text).unwrap()), expected, "{text}");
        }
        let list = sp_ops::find("IdentityN").unwrap().inputs[0].item.clone();
        let expected = [proto::bytes_field(1, "input"), proto::bytes_field(6, "T")].concat();
        assert_eq!(argument(&list), expected);
    }
}
