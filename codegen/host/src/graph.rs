//! A graph as a plugin's optimizer is handed it: a few nodes of a `GraphDef`, written and read.

use crate::DType;
use crate::proto::{self, Value};

/// One node: only what the host needs of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Node {
    pub name: String,
    pub op: String,
    pub inputs: Vec<String>,
    /// What it gives, where that is known.
    pub dtype: DType,
    pub dims: Option<Vec<i64>>,
}

/// Nodes, and those that somebody wants the values of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Graph {
    pub nodes: Vec<Node>,
    pub fetch: Vec<String>,
}

impl Graph {
    /// `y = Identity(Relu(AddV2(x, x)))` on `x` of shape [2, 3].
    pub fn sample() -> Self {
        let node = |name: &str, op: &str, inputs: &[&str]| Node {
            name: name.into(),
            op: op.into(),
            inputs: inputs.iter().map(|input| (*input).to_owned()).collect(),
            dtype: DType::FLOAT,
            dims: Some(vec![2, 3]),
        };
        Self {
            nodes: vec![
                node("x", "Placeholder", &[]),
                node("sum", "AddV2", &["x", "x"]),
                node("positive", "Relu", &["sum"]),
                node("y", "Identity", &["positive"]),
            ],
            fetch: vec!["y".into()],
        }
    }

    /// A `GraphDef`.
    pub fn bytes(&self) -> Vec<u8> {
        // `versions.producer`: one that every release from 2.5 on reads.
        let versions = proto::bytes(4, proto::number(1, 440));
        let nodes = self.nodes.iter().map(|node| proto::bytes(1, node.bytes()));
        nodes.chain([versions]).flatten().collect()
    }

    /// The nodes of a `GraphDef`, of whose types and shapes nothing is known.
    pub fn read(bytes: &[u8], fetch: &[&str]) -> Self {
        let node = |node: &[u8]| {
            let text = |field| proto::all(node, field).find_map(Value::text);
            Node {
                name: text(1).unwrap_or_default(),
                op: text(2).unwrap_or_default(),
                inputs: proto::all(node, 3).filter_map(Value::text).collect(),
                dtype: DType(0),
                dims: None,
            }
        };
        let nodes = proto::all(bytes, 1).filter_map(Value::bytes);
        Self {
            nodes: nodes.map(node).collect(),
            fetch: fetch.iter().map(|name| (*name).to_owned()).collect(),
        }
    }

    /// The names of the nodes in a `GraphDef`; none where the bytes are no such thing.
    pub fn names(bytes: &[u8]) -> Option<Vec<String>> {
        let fields = proto::fields(bytes)?;
        let nodes = fields.into_iter().filter(|(number, _)| *number == 1);
        nodes.map(|(_, node)| name(node.bytes()?)).collect()
    }

    pub fn node(&self, name: &str) -> Option<&Node> {
        self.nodes.iter().find(|node| node.name == name)
    }
}

fn name(node: &[u8]) -> Option<String> {
    let fields = proto::fields(node)?;
    let name = fields.into_iter().find(|(number, _)| *number == 1)?;
    name.1.text()
}

impl Node {
    fn bytes(&self) -> Vec<u8> {
        let key = if self.inputs.is_empty() { "dtype" } else { "T" };
        let dtype = proto::number(6, u64::from(self.dtype.0));
        let inputs = self.inputs.iter().flat_map(|input| proto::bytes(3, input));
        [proto::bytes(1, &self.name), proto::bytes(2, &self.op)]
            .concat()
            .into_iter()
            .chain(inputs)
            .chain(proto::bytes(5, attr(key, &dtype)))
            .collect()
    }

    /// `OpInfo.TensorProperties`: type and shape.
    pub fn properties(&self) -> Vec<u8> {
        let shape = match &self.dims {
            None => proto::number(3, 1),
            Some(dims) => dims
                .iter()
                .flat_map(|dim| proto::bytes(2, proto::number(1, *dim as u64)))
                .collect(),
        };
        [
            proto::number(1, u64::from(self.dtype.0)),
            proto::bytes(2, shape),
        ]
        .concat()
    }
}

/// An entry of `NodeDef.attr`.
fn attr(key: &str, value: &[u8]) -> Vec<u8> {
    [proto::bytes(1, key), proto::bytes(2, value)].concat()
}

/// The definitions of the functions in a `GraphDef`, by name.
pub(crate) fn functions(graph: &[u8]) -> Vec<(String, Vec<u8>)> {
    let libraries = proto::all(graph, 2).filter_map(Value::bytes);
    let functions = libraries.flat_map(|library| proto::all(library, 1));
    functions
        .filter_map(|function| {
            let signature = proto::all(function.bytes()?, 1).next()?.bytes()?;
            Some((name(signature)?, signature.to_vec()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_graph_is_read_back_by_its_names() {
        let bytes = Graph::sample().bytes();
        assert_eq!(Graph::names(&bytes).unwrap(), ["x", "sum", "positive", "y"]);
        assert_eq!(Graph::names(&bytes[..bytes.len() - 1]), None);
        assert_eq!(Graph::names(&[]).unwrap(), [""; 0]);
    }

    #[test]
    fn functions_of_a_library_are_found() {
        let signature = proto::bytes(1, "double");
        let function = proto::bytes(1, &signature);
        let graph = proto::bytes(2, proto::bytes(1, function));
        assert_eq!(functions(&graph), [("double".to_owned(), signature)]);
    }
}
