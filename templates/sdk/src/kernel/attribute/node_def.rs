//! The attributes of a node that the C API returns in a serialized `NodeDef` only: shapes known in part, functions,
//! and lists of them.
//!
//! Registration looks the function up (`FromAttribute::check_available`), so that core's kernel runs in a release
//! without it.

use std::ffi::{CStr, CString};

use super::shape::PartialShape;
use crate::graph::OwnedBuffer;
use crate::{Error, Result};
use sp_graph::proto::{Value, bytes_of, fields, malformed};

/// Numbers of fields in TensorFlow's messages.
mod field {
    pub const NODE_OP: u64 = 2;
    /// `NodeDef.attr`, a map.
    pub const NODE_ATTRIBUTE: u64 = 5;
    pub const MAP_KEY: u64 = 1;
    pub const MAP_VALUE: u64 = 2;
    /// `AttrValue.list`.
    pub const VALUE_LIST: u64 = 1;
    /// `shape` of `AttrValue` and of its `ListValue`.
    pub const SHAPE: u64 = 7;
    /// `AttrValue.func`.
    pub const VALUE_FUNCTION: u64 = 10;
    /// `AttrValue.ListValue.func`.
    pub const LIST_FUNCTION: u64 = 9;
    /// `NameAttrList.name`.
    pub const FUNCTION_NAME: u64 = 1;
    /// `TensorShapeProto.dim`.
    pub const SHAPE_DIM: u64 = 2;
    /// `TensorShapeProto.unknown_rank`.
    pub const SHAPE_UNKNOWN_RANK: u64 = 3;
    /// `TensorShapeProto.Dim.size`.
    pub const DIM_SIZE: u64 = 1;
}

/// A serialized `NodeDef`.
pub(in crate::kernel) struct NodeDef(OwnedBuffer);

impl NodeDef {
    /// Wraps the message in a buffer.
    pub fn new(buffer: OwnedBuffer) -> Self {
        Self(buffer)
    }

    /// Returns a shape.
    ///
    /// # Errors
    /// Returns an error if the node has no such attribute, or if it is no shape.
    pub fn shape(&self, name: &CStr) -> Result<PartialShape> {
        let value = attribute(self.0.bytes()?, name)?;
        let shape = bytes_of(value, field::SHAPE)?.pop();
        parse_shape(shape.ok_or_else(|| of_another_type("shape"))?)
    }

    /// Returns the shapes of a list.
    ///
    /// # Errors
    /// Returns an error if the node has no such attribute, or if it is no list of shapes.
    pub fn shapes(&self, name: &CStr) -> Result<Vec<PartialShape>> {
        let list = list_of(attribute(self.0.bytes()?, name)?)?;
        let shapes = bytes_of(list, field::SHAPE)?.into_iter();
        shapes.map(parse_shape).collect()
    }

    /// Returns the name of a function.
    ///
    /// # Errors
    /// Returns an error if the node has no such attribute, or if it is no function.
    pub fn function(&self, name: &CStr) -> Result<String> {
        let value = attribute(self.0.bytes()?, name)?;
        let function = bytes_of(value, field::VALUE_FUNCTION)?.pop();
        parse_function(function.ok_or_else(|| of_another_type("function"))?)
    }

    /// Returns the names of the functions of a list.
    ///
    /// # Errors
    /// Returns an error if the node has no such attribute, or if it is no list of functions.
    pub fn functions(&self, name: &CStr) -> Result<Vec<String>> {
        let list = list_of(attribute(self.0.bytes()?, name)?)?;
        let functions = bytes_of(list, field::LIST_FUNCTION)?.into_iter();
        functions.map(parse_function).collect()
    }
}

/// The op of a node and its attributes, each a serialized `AttrValue`.
pub(in crate::kernel) struct OpNode {
    pub op: CString,
    pub attributes: Vec<(CString, Vec<u8>)>,
}

impl NodeDef {
    /// Returns the op and its attributes. Those with an underscore are of the graph, not of the op.
    ///
    /// # Errors
    /// Returns an error if the message is malformed.
    pub fn op_node(&self) -> Result<OpNode> {
        let op = bytes_of(self.0.bytes()?, field::NODE_OP)?.pop();
        let mut attributes = Vec::new();
        for entry in bytes_of(self.0.bytes()?, field::NODE_ATTRIBUTE)? {
            let name = bytes_of(entry, field::MAP_KEY)?.pop().unwrap_or_default();
            let value = bytes_of(entry, field::MAP_VALUE)?.pop().unwrap_or_default();
            if !name.starts_with(b"_") {
                attributes.push((c_string(name)?, value.to_vec()));
            }
        }
        let op = c_string(op.unwrap_or_default())?;
        Ok(OpNode { op, attributes })
    }
}

fn c_string(text: &[u8]) -> Result<CString> {
    CString::new(text).map_err(|_| malformed())
}

/// Returns the `AttrValue` of an attribute.
fn attribute<'a>(node: &'a [u8], name: &CStr) -> Result<&'a [u8]> {
    for entry in bytes_of(node, field::NODE_ATTRIBUTE)? {
        let key = bytes_of(entry, field::MAP_KEY)?.pop();
        if key == Some(name.to_bytes()) {
            return Ok(bytes_of(entry, field::MAP_VALUE)?.pop().unwrap_or_default());
        }
    }
    fail!(invalid_argument, "the node has no attribute {name:?}")
}

fn list_of(value: &[u8]) -> Result<&[u8]> {
    let list = bytes_of(value, field::VALUE_LIST)?.pop();
    list.ok_or_else(|| of_another_type("list"))
}

fn of_another_type(expected: &str) -> Error {
    Error::invalid_argument(format!(
        "expected a {expected}, got an attribute of another type"
    ))
}

fn parse_function(message: &[u8]) -> Result<String> {
    let name = bytes_of(message, field::FUNCTION_NAME)?.pop();
    Value::Bytes(name.unwrap_or_default()).text()
}

fn parse_shape(message: &[u8]) -> Result<PartialShape> {
    let mut dims = Vec::new();
    for it in fields(message) {
        let it = it?;
        match (it.number, it.value) {
            (field::SHAPE_UNKNOWN_RANK, Value::Number(1..)) => {
                return Ok(PartialShape::unknown_rank());
            }
            (field::SHAPE_DIM, Value::Bytes(dim)) => dims.push(parse_dim(dim)?),
            _ => {}
        }
    }
    PartialShape::from_sizes(&dims)
}

/// Returns the size of a dimension. An absent field is 0.
fn parse_dim(message: &[u8]) -> Result<i64> {
    let mut size = 0;
    for it in fields(message) {
        let it = it?;
        if it.number == field::DIM_SIZE {
            // A negative number is encoded as its two's complement.
            size = it.value.number().ok_or_else(malformed)? as i64;
        }
    }
    Ok(size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sp_graph::proto::Message;

    fn node(value: Message) -> Vec<u8> {
        let entry = Message::default().text(1, "shape").bytes(2, value.finish());
        Message::default()
            .text(1, "node")
            .bytes(5, entry.finish())
            .finish()
    }

    fn shape_of(message: Message) -> Result<PartialShape> {
        let node = node(Message::default().bytes(7, message.finish()));
        let value = attribute(&node, c"shape")?;
        parse_shape(bytes_of(value, 7)?[0])
    }

    fn dim(size: i64) -> Vec<u8> {
        Message::default().number(1, size as u64).finish()
    }

    #[test]
    fn parses_known_and_unknown_dimensions() {
        let shape = Message::default()
            .bytes(2, dim(3))
            .bytes(2, dim(-1))
            .bytes(2, dim(0));
        let shape = shape_of(shape).unwrap();
        assert_eq!(shape.dims(), Some(&[Some(3), None, Some(0)][..]));
        assert_eq!(shape_of(Message::default()).unwrap().dims(), Some(&[][..]));
        assert_eq!(
            shape_of(Message::default().number(3, 1)).unwrap().dims(),
            None
        );
    }

    #[test]
    fn malformed_or_other_attributes_are_errors() {
        assert!(shape_of(Message::default().bytes(2, dim(-2))).is_err());
        assert!(parse_shape(&[0x12]).is_err());
        assert!(attribute(&node(Message::default()), c"other").is_err());
        let node = node(Message::default().number(3, 7));
        assert!(list_of(attribute(&node, c"shape").unwrap()).is_err());
    }
}
