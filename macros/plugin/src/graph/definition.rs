//! A graph of the author's own: read from a `GraphDef`, changed, written back.

use super::Node;
use crate::Result;
use crate::proto::{self, Message, Value};

/// A graph's nodes. The rest of the `GraphDef` (functions, versions) is kept as it came.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Graph {
    /// The nodes, in no order: TensorFlow sorts them.
    pub nodes: Vec<Node>,
    rest: Vec<u8>,
}

impl Graph {
    /// The graph of a serialized `GraphDef`.
    ///
    /// # Errors
    /// Where the bytes are no such thing.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let mut graph = Self::default();
        for field in proto::fields(bytes) {
            let field = field?;
            match (field.number, field.value) {
                (1, Value::Bytes(node)) => graph.nodes.push(Node::parse(node)?),
                _ => graph.rest.extend_from_slice(field.whole),
            }
        }
        Ok(graph)
    }

    /// A serialized `GraphDef`.
    pub fn to_bytes(&self) -> Vec<u8> {
        let nodes = self.nodes.iter();
        let nodes = nodes.fold(Message::default(), |message, node| {
            message.bytes(1, node.to_bytes())
        });
        nodes.raw(&self.rest).done()
    }

    /// The node called `name`.
    pub fn node(&self, name: &str) -> Option<&Node> {
        self.nodes.iter().find(|node| node.name == name)
    }

    /// Whether a node reads `name`, or waits for it.
    pub fn is_used(&self, name: &str) -> bool {
        let mut nodes = self.nodes.iter();
        nodes.any(|node| node.inputs().any(|input| input.node == name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Attribute;

    #[test]
    fn what_is_not_looked_at_is_kept() {
        let node = Message::default()
            .text(1, "sum")
            .text(2, "AddV2")
            .bytes(3, "x")
            .bytes(3, "^y")
            .bytes(6, "debug info")
            .done();
        let bytes = Message::default()
            .bytes(1, &node)
            .bytes(2, "a library")
            .bytes(4, Message::default().number(1, 440).done())
            .done();
        let mut graph = Graph::parse(&bytes).unwrap();
        assert_eq!(graph.to_bytes(), bytes);
        assert!(graph.is_used("x") && graph.is_used("y") && !graph.is_used("sum"));

        let attribute = ("T".to_owned(), Attribute::from(3));
        graph.nodes[0].attributes.push(attribute);
        graph.nodes.push(Node::new("more", "NoOp"));
        let again = Graph::parse(&graph.to_bytes()).unwrap();
        assert_eq!(again, graph);
        let kept = again.node("sum").unwrap().attribute("T").unwrap();
        assert_eq!(kept.as_int(), Some(3));
    }

    #[test]
    fn what_is_no_graph_is_an_error() {
        assert!(Graph::parse(b"no graph").is_err());
        let not_text = Message::default().bytes(1, Message::default().bytes(1, [0xff]).done());
        assert!(Graph::parse(&not_text.done()).is_err());
        assert_eq!(Graph::parse(&[]).unwrap(), Graph::default());
    }
}
