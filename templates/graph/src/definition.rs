//! A graph that the author can change: parsed from a `GraphDef` and encoded as one.

use super::Node;
use crate::Result;
use crate::proto::{self, Message, Value};

/// A graph's nodes. Other fields of the `GraphDef` (functions, versions) are preserved byte for byte.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Graph {
    /// The nodes in any order: TensorFlow sorts them.
    pub nodes: Vec<Node>,
    /// The other fields, encoded.
    other_fields: Vec<u8>,
}

impl Graph {
    /// Parses a serialized `GraphDef`.
    ///
    /// # Errors
    /// Returns an error if `bytes` is not a valid `GraphDef`.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let mut graph = Self::default();
        for field in proto::fields(bytes) {
            let field = field?;
            match (field.number, field.value) {
                (1, Value::Bytes(node)) => graph.nodes.push(Node::parse(node)?),
                _ => graph.other_fields.extend_from_slice(field.encoded),
            }
        }
        Ok(graph)
    }

    /// Encodes the graph as a `GraphDef`.
    pub fn to_bytes(&self) -> Vec<u8> {
        let nodes = self.nodes.iter();
        let nodes = nodes.fold(Message::default(), |message, node| {
            message.bytes(1, node.to_bytes())
        });
        nodes.encoded(&self.other_fields).finish()
    }

    /// Returns the node `name`, or `None` if there is none.
    pub fn node(&self, name: &str) -> Option<&Node> {
        self.nodes.iter().find(|node| node.name == name)
    }

    /// Returns true if a node has `name` as a data or control input.
    pub fn is_used(&self, name: &str) -> bool {
        let mut nodes = self.nodes.iter();
        nodes.any(|node| node.inputs().any(|input| input.node == name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Attribute;

    #[test]
    fn preserves_unknown_fields() {
        let node = Message::default()
            .text(1, "sum")
            .text(2, "AddV2")
            .bytes(3, "x")
            .bytes(3, "^y")
            .bytes(6, "debug info")
            .finish();
        let bytes = Message::default()
            .bytes(1, &node)
            .bytes(2, "a library")
            .bytes(4, Message::default().number(1, 440).finish())
            .finish();
        let mut graph = Graph::parse(&bytes).unwrap();
        assert_eq!(graph.to_bytes(), bytes);
        assert!(graph.is_used("x") && graph.is_used("y") && !graph.is_used("sum"));

        let attribute = ("T".to_owned(), Attribute::from(3));
        graph.nodes[0].attributes.push(attribute);
        graph.nodes.push(Node::new("more", "NoOp"));
        let parsed = Graph::parse(&graph.to_bytes()).unwrap();
        assert_eq!(parsed, graph);
        let attribute = parsed.node("sum").unwrap().attribute("T").unwrap();
        assert_eq!(attribute.as_int(), Some(3));
    }

    #[test]
    fn rejects_malformed_graph() {
        assert!(Graph::parse(b"no graph").is_err());
        let not_text = Message::default().bytes(1, Message::default().bytes(1, [0xff]).finish());
        assert!(Graph::parse(&not_text.finish()).is_err());
        assert_eq!(Graph::parse(&[]).unwrap(), Graph::default());
    }
}
