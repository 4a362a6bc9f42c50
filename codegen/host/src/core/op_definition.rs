//! The definition of an op, and its serialized form.

use std::ffi::c_void;

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

    pub(super) fn bytes(&self) -> Vec<u8> {
        let arguments = [(2, &self.inputs), (3, &self.outputs)];
        let arguments = arguments.into_iter().flat_map(|(field, list)| {
            list.iter()
                .map(move |(name, ty)| proto::bytes_field(field, argument(name, ty)))
        });
        let attrs = self.attrs.iter().map(|(name, kind)| {
            let kind = kind.split(['=', '>']).next().unwrap_or("").trim();
            // `{float, int32}` lists the types that a type attribute takes.
            let kind = if kind.starts_with('{') { "type" } else { kind };
            proto::bytes_field(
                4,
                [proto::bytes_field(1, name), proto::bytes_field(2, kind)].concat(),
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
