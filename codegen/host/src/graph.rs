//! Graphs for a plugin's optimizer: encodes and parses a few fields of `GraphDef`.

use crate::DType;
use crate::proto::{self, FieldValue};

/// The fields of a node that the host uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NodeDef {
    pub name: String,
    pub op: String,
    pub inputs: Vec<String>,
    /// Element type of its output; 0 if it is unknown.
    pub dtype: DType,
    pub dims: Option<Vec<i64>>,
}

/// A graph, and the nodes whose values are fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GraphDef {
    pub nodes: Vec<NodeDef>,
    pub fetch: Vec<String>,
}

impl GraphDef {
    /// `y = Identity(Relu(AddV2(x, x)))` on `x` of shape [2, 3].
    pub fn sample() -> Self {
        let node = |name: &str, op: &str, inputs: &[&str]| NodeDef {
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

    /// Encodes the graph as a `GraphDef`.
    pub fn to_bytes(&self) -> Vec<u8> {
        // `versions.producer`: a version that every supported release reads.
        let versions = proto::bytes_field(4, proto::varint_field(1, 440));
        let nodes = self.nodes.iter();
        let nodes = nodes.map(|node| proto::bytes_field(1, node.to_bytes()));
        nodes.chain([versions]).flatten().collect()
    }

    /// Parses the nodes of a `GraphDef`, without types and shapes.
    pub fn parse(bytes: &[u8], fetch: &[&str]) -> Self {
        let node = |node: &[u8]| {
            let text = |field| proto::field_values(node, field).find_map(FieldValue::text);
            NodeDef {
                name: text(1).unwrap_or_default(),
                op: text(2).unwrap_or_default(),
                inputs: proto::field_values(node, 3)
                    .filter_map(FieldValue::text)
                    .collect(),
                dtype: DType(0),
                dims: None,
            }
        };
        let nodes = proto::field_values(bytes, 1).filter_map(FieldValue::bytes);
        Self {
            nodes: nodes.map(node).collect(),
            fetch: fetch.iter().map(|name| (*name).to_owned()).collect(),
        }
    }

    /// Returns the names of the nodes in a `GraphDef`, or `None` if the bytes are not one.
    pub fn node_names(bytes: &[u8]) -> Option<Vec<String>> {
        let fields = proto::parse_fields(bytes)?;
        let nodes = fields.into_iter().filter(|(number, _)| *number == 1);
        nodes.map(|(_, node)| name(node.bytes()?)).collect()
    }

    pub fn node(&self, name: &str) -> Option<&NodeDef> {
        self.nodes.iter().find(|node| node.name == name)
    }
}

fn name(node: &[u8]) -> Option<String> {
    let fields = proto::parse_fields(node)?;
    let name = fields.into_iter().find(|(number, _)| *number == 1)?;
    name.1.text()
}

impl NodeDef {
    fn to_bytes(&self) -> Vec<u8> {
        let key = if self.inputs.is_empty() { "dtype" } else { "T" };
        let dtype = proto::varint_field(6, u64::from(self.dtype.0));
        let inputs = self.inputs.iter();
        let inputs = inputs.flat_map(|input| proto::bytes_field(3, input));
        [
            proto::bytes_field(1, &self.name),
            proto::bytes_field(2, &self.op),
        ]
        .concat()
        .into_iter()
        .chain(inputs)
        .chain(proto::bytes_field(5, attr(key, &dtype)))
        .collect()
    }

    /// Encodes `OpInfo.TensorProperties`: type and shape.
    pub fn properties(&self) -> Vec<u8> {
        let shape = match &self.dims {
            None => proto::varint_field(3, 1),
            Some(dims) => dims
                .iter()
                .flat_map(|dim| proto::bytes_field(2, proto::varint_field(1, *dim as u64)))
                .collect(),
        };
        [
            proto::varint_field(1, u64::from(self.dtype.0)),
            proto::bytes_field(2, shape),
        ]
        .concat()
    }
}

/// Encodes an entry of `NodeDef.attr`.
fn attr(key: &str, value: &[u8]) -> Vec<u8> {
    [proto::bytes_field(1, key), proto::bytes_field(2, value)].concat()
}

/// Returns the definitions of the functions in a `GraphDef`, by name.
pub(crate) fn functions(graph: &[u8]) -> Vec<(String, Vec<u8>)> {
    let libraries = proto::field_values(graph, 2).filter_map(FieldValue::bytes);
    let functions = libraries.flat_map(|library| proto::field_values(library, 1));
    functions
        .filter_map(|function| {
            let signature = proto::field_values(function.bytes()?, 1).next()?.bytes()?;
            Some((name(signature)?, signature.to_vec()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_node_names_of_encoded_graph() {
        let bytes = GraphDef::sample().to_bytes();
        let expected = ["x", "sum", "positive", "y"];
        assert_eq!(GraphDef::node_names(&bytes).unwrap(), expected);
        assert_eq!(GraphDef::node_names(&bytes[..bytes.len() - 1]), None);
        assert_eq!(GraphDef::node_names(&[]).unwrap(), [""; 0]);
    }

    #[test]
    fn finds_functions_of_library() {
        let signature = proto::bytes_field(1, "double");
        let function = proto::bytes_field(1, &signature);
        let graph = proto::bytes_field(2, proto::bytes_field(1, function));
        assert_eq!(functions(&graph), [("double".to_owned(), signature)]);
    }
}
