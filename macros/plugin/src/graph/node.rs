//! A node of a graph, and how its inputs are written.

use super::Attribute;
use crate::Result;
use crate::proto::{self, Message, Value};

/// A node. What of a `NodeDef` has no field here is kept as it came.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Node {
    /// Its name, which no other node of the graph has.
    pub name: String,
    /// The op that it runs.
    pub op: String,
    /// What it reads, as [`Input`] says it; those that only order it come last.
    pub inputs: Vec<String>,
    /// Where it runs: `/job:localhost/replica:0/task:0/device:MYACCEL:0`, or nothing where it is
    /// not placed yet.
    pub device: String,
    /// Its attributes by name, in no order.
    pub attributes: Vec<(String, Attribute)>,
    rest: Vec<u8>,
}

impl Node {
    /// A node without inputs.
    pub fn new(name: impl Into<String>, op: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            op: op.into(),
            ..Self::default()
        }
    }

    /// The attribute called `name`.
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        let mut all = self.attributes.iter();
        all.find(|(found, _)| found == name).map(|(_, it)| it)
    }

    /// The type of the device that it is placed on: `MYACCEL`.
    pub fn device_type(&self) -> Option<&str> {
        let (_, device) = self.device.rsplit_once("/device:")?;
        device.split([':', '/']).next()
    }

    /// What it reads, in order.
    pub fn inputs(&self) -> impl Iterator<Item = Input<'_>> {
        self.inputs.iter().map(|text| Input::parse(text))
    }

    /// A node of a serialized `NodeDef`.
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
                _ => node.rest.extend_from_slice(field.whole),
            }
        }
        Ok(node)
    }

    /// A serialized `NodeDef`.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let head = Message::default().text(1, &self.name).text(2, &self.op);
        let inputs = self.inputs.iter();
        let head = inputs.fold(head, |message, input| message.bytes(3, input));
        let attributes = self.attributes.iter();
        let all = attributes.fold(head.text(4, &self.device), |message, (name, value)| {
            let entry = Message::default().text(1, name).bytes(2, value.bytes());
            message.bytes(5, entry.done())
        });
        all.raw(&self.rest).done()
    }
}

/// An entry of `NodeDef.attr`.
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

/// What a node reads: `node` or `node:1` is one of that node's outputs, `^node` no value but that
/// node's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Input<'a> {
    /// The node that gives it.
    pub node: &'a str,
    /// Which of its outputs; none where only the order counts.
    pub output: Option<usize>,
}

impl<'a> Input<'a> {
    /// The input that is written so.
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
    fn inputs_are_outputs_or_an_order() {
        let input = |node, output| Input { node, output };
        assert_eq!(Input::parse("a"), input("a", Some(0)));
        assert_eq!(Input::parse("scope/a:2"), input("scope/a", Some(2)));
        assert_eq!(Input::parse("^a"), input("a", None));
    }

    #[test]
    fn a_device_is_known_by_its_type() {
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
