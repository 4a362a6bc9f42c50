//! The definition of an op, and its serialized form.

use std::ffi::c_void;

use super::attr::Attr;
use super::attr_text::AttrText;
use super::shape::ShapeInference;
use crate::dtype::DType;
use crate::proto;

pub(crate) type ShapeFunction = unsafe extern "C" fn(*mut ShapeInference, *mut c_void);

/// A definition: its arguments as `name: type`, its attributes as `name: kind`.
#[derive(Debug, Clone, Default)]
pub(crate) struct OpDefinition {
    pub name: String,
    pub inputs: Vec<(String, String)>,
    pub outputs: Vec<(String, String)>,
    pub(super) attrs: Vec<(String, String)>,
    /// Field numbers of the flags of `OpDef` that are set.
    pub(super) flags: Vec<u32>,
    pub shape_function: Option<ShapeFunction>,
    pub(super) malformed: Option<String>,
}

impl OpDefinition {
    /// Returns a definition of core. A type is the name of an attribute or a lower-case type name.
    pub fn new(name: &str, inputs: Vec<(String, String)>, outputs: Vec<(String, String)>) -> Self {
        let types = inputs.iter().chain(&outputs).map(|(_, ty)| ty);
        let mut attrs: Vec<(String, String)> = types
            .filter(|ty| DType::from_name(ty).is_none())
            .map(|ty| (ty.clone(), "type".to_owned()))
            .collect();
        attrs.dedup();
        Self {
            name: name.to_owned(),
            inputs,
            outputs,
            attrs,
            ..Self::default()
        }
    }

    /// Returns the names of its attributes.
    pub fn attr_names(&self) -> impl Iterator<Item = &str> {
        self.attrs.iter().map(|(name, _)| name.as_str())
    }

    /// Returns the default values of its attributes.
    pub fn defaults(&self) -> impl Iterator<Item = (&str, Attr)> {
        let default = |text: &str| AttrText::parse(text)?.default;
        let attrs = self.attrs.iter();
        attrs.filter_map(move |(name, text)| Some((name.as_str(), default(text)?)))
    }

    /// Returns the type attributes with the types that each allows; without restriction it is float.
    pub fn type_attrs(&self) -> impl Iterator<Item = (&str, Vec<DType>)> {
        let parsed = self.attrs.iter().filter_map(|(name, text)| {
            let parsed = AttrText::parse(text)?;
            (parsed.kind == "type").then_some((name.as_str(), parsed.types))
        });
        parsed.map(|(name, types)| match types.is_empty() {
            true => (name, vec![DType::FLOAT]),
            false => (name, types),
        })
    }

    /// Returns the numbers of input and output tensors if each list has `count`.
    pub fn tensor_counts(&self, count: usize) -> (usize, usize) {
        let tensors = |arguments: &[(String, String)]| {
            let tensors = arguments.iter().map(|(_, ty)| match ty.contains('*') {
                true => count,
                false => 1,
            });
            tensors.sum()
        };
        (tensors(&self.inputs), tensors(&self.outputs))
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        let arguments = [(2, &self.inputs), (3, &self.outputs)];
        let arguments = arguments.into_iter().flat_map(|(field, list)| {
            list.iter()
                .map(move |(name, ty)| proto::bytes_field(field, argument(name, ty)))
        });
        let attrs = self.attrs.iter().map(|(name, text)| {
            let kind = AttrText::parse(text).map_or_else(String::new, |it| it.kind);
            proto::bytes_field(
                4,
                [proto::bytes_field(1, name), proto::bytes_field(2, &kind)].concat(),
            )
        });
        let flags = self.flags.iter().map(|flag| proto::varint_field(*flag, 1));
        [proto::bytes_field(1, &self.name)]
            .into_iter()
            .chain(arguments)
            .chain(attrs)
            .chain(flags)
            .flatten()
            .collect()
    }
}

fn argument(name: &str, ty: &str) -> Vec<u8> {
    let (number, ty) = match ty.split_once('*') {
        Some((number, ty)) => (proto::bytes_field(5, number.trim()), ty.trim()),
        None => (vec![], ty),
    };
    let ty = match DType::from_name(ty) {
        Some(dtype) => proto::varint_field(3, u64::from(dtype.0)),
        None => proto::bytes_field(4, ty),
    };
    [proto::bytes_field(1, name), number, ty].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_type_or_attribute_argument() {
        assert_eq!(
            argument("x", "float"),
            [proto::bytes_field(1, "x"), proto::varint_field(3, 1)].concat()
        );
        assert_eq!(
            argument("x", "T"),
            [proto::bytes_field(1, "x"), proto::bytes_field(4, "T")].concat()
        );
        let list = [
            proto::bytes_field(1, "x"),
            proto::bytes_field(5, "N"),
            proto::bytes_field(4, "T"),
        ]
        .concat();
        assert_eq!(argument("x", "N * T"), list);
    }
}
