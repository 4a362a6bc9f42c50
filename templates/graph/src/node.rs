//! Nodes of a graph, and their inputs.

use crate::Attribute;
use crate::Result;
use crate::proto::{self, Message, Value};

/// A node. Other fields of the `NodeDef` are preserved byte for byte.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Node {
    /// The name, which is unique in the graph.
    pub name: String,
    /// The op that the node runs.
    pub op: String,
    /// The inputs, in the form that [`Input::parse`] accepts; control inputs come last.
    pub inputs: Vec<String>,
    /// The device, such as `/job:localhost/replica:0/task:0/device:MYACCEL:0`; empty if the node is not placed.
    pub device: String,
    /// The attributes by name, in any order.
    pub attributes: Vec<(String, Attribute)>,
    /// The other fields, encoded.
    other_fields: Vec<u8>,
}

impl Node {
    /// Creates a node without inputs.
    pub fn new(name: impl Into<String>, op: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            op: op.into(),
            ..Self::default()
        }
    }

    /// Returns the attribute `name`, or `None` if there is none.
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        let mut all = self.attributes.iter();
        all.find(|(found, _)| found == name).map(|(_, it)| it)
    }

    /// Returns the type of the node's device, such as `MYACCEL`, or `None` if the node is not placed.
    pub fn device_type(&self) -> Option<&str> {
        let (_, device) = self.device.rsplit_once("/device:")?;
        device.split([':', '/']).next()
    }

    /// The attribute that selects a kernel by its label.
    pub(crate) const LABEL_ATTRIBUTE: &str = "_kernel";

    /// Returns true if the node selects a kernel by its label, which nodes of other ops lack.
    pub(crate) fn selects_kernel(&self) -> bool {
        self.attribute(Self::LABEL_ATTRIBUTE).is_some()
    }

    /// Returns the inputs in order.
    pub fn inputs(&self) -> impl Iterator<Item = Input<'_>> {
        self.inputs.iter().map(|text| Input::parse(text))
    }

    /// Parses a serialized `NodeDef`.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self> {
        let mut node = Self::default();
        for field in proto::fields(bytes) {
            let field = field?;
            match (field.number, field.value) {
                (1, value) => node.name = value.text()?,
                (2, value) => node.op = value.text()?,
                (3, value) => node.inputs.push(value.text()?),
                (4, value) => node.device = value.text()?,
                (5, Value::Bytes(entry)) => node.attributes.push(attribute(entry)?),
                _ => node.other_fields.extend_from_slice(field.encoded),
            }
        }
        Ok(node)
    }

    /// Encodes the node as a `NodeDef`.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let head = Message::default().text(1, &self.name).text(2, &self.op);
        let inputs = self.inputs.iter();
        let head = inputs.fold(head, |message, input| message.bytes(3, input));
        let attributes = self.attributes.iter();
        let all = attributes.fold(head.text(4, &self.device), |message, (name, value)| {
            let entry = Message::default().text(1, name).bytes(2, value.bytes());
            message.bytes(5, entry.finish())
        });
        all.encoded(&self.other_fields).finish()
    }
}

/// Parses an entry of `NodeDef.attr`.
fn attribute(entry: &[u8]) -> Result<(String, Attribute)> {
    let (mut name, mut value) = (String::new(), Vec::new());
    for field in proto::fields(entry) {
        let field = field?;
        match (field.number, field.value) {
            (1, text) => name = text.text()?,
            (2, Value::Bytes(bytes)) => value = bytes.to_vec(),
            _ => {}
        }
    }
    Ok((name, Attribute::from_bytes(value)))
}

/// An input of a node: `node` and `node:1` are data inputs, `^node` is a control input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Input<'a> {
    /// The name of the source node.
    pub node: &'a str,
    /// The number of the source's output, or `None` for a control input.
    pub output: Option<usize>,
}

impl<'a> Input<'a> {
    /// Parses an input.
    pub fn parse(text: &'a str) -> Self {
        if let Some(node) = text.strip_prefix('^') {
            return Self { node, output: None };
        }
        let numbered = text.rsplit_once(':');
        let numbered = numbered.and_then(|(node, number)| Some((node, number.parse().ok()?)));
        let (node, output) = numbered.unwrap_or((text, 0));
        Self {
            node,
            output: Some(output),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_data_and_control_inputs() {
        let input = |node, output| Input { node, output };
        assert_eq!(Input::parse("a"), input("a", Some(0)));
        assert_eq!(Input::parse("scope/a:2"), input("scope/a", Some(2)));
        assert_eq!(Input::parse("^a"), input("a", None));
    }

    #[test]
    fn device_type_is_parsed_from_device_name() {
        let on = |device: &str| Node {
            device: device.into(),
            ..Node::new("a", "Relu")
        };
        let full = on("/job:localhost/replica:0/task:0/device:MYACCEL:0");
        assert_eq!(full.device_type(), Some("MYACCEL"));
        assert_eq!(on("/device:GPU:*").device_type(), Some("GPU"));
        assert_eq!(on("").device_type(), None);
    }
}
