//! Chains that are fused, the nodes that replace them, and chains that stay.

use super::*;

const DEVICE: &str = "/job:localhost/replica:0/task:0/device:MYACCEL:0";

/// Returns a node on the device with inputs that are separated by spaces.
pub(super) fn node(name: &str, op: &str, inputs: &str) -> Node {
    let mut node = Node::new(name, op);
    node.device = DEVICE.into();
    node.inputs = inputs.split_whitespace().map(String::from).collect();
    (node.attributes).push(("T".into(), TypeNumber::FLOAT.into()));
    node
}

pub(super) fn graph(nodes: &[Node]) -> Graph {
    let mut graph = Graph::default();
    graph.nodes.extend_from_slice(nodes);
    graph
}

/// Returns a product with a bias, an activation and a node that uses the result.
fn dense(activation: &str) -> Graph {
    graph(&[
        node("product", "MatMul", "x w ^before"),
        node("sum", "BiasAdd", "product b:1 ^read"),
        node("y", activation, "sum ^before"),
        node("next", "Neg", "y"),
    ])
}

/// The ops that kernels of the tests state.
const ONE_OPERAND: &[&str] = &["Exp", "Neg", "Relu", "Sigmoid", "Sqrt", "Square", "Tanh"];
const BROADCASTING: &[&str] = &["AddV2", "Mul", "RealDiv", "Sub"];
const OF_ONE_SHAPE: &[&str] = &["AddN", "TanhGrad"];
const ACTIVATIONS: &[&str] = &["LeakyRelu", "Relu"];

/// Returns the operands of an op that the kernels of the tests state.
pub(super) fn step_operands(op: &str, _: TypeNumber) -> Option<StepOperands> {
    match op {
        op if ONE_OPERAND.contains(&op) => Some(StepOperands::One),
        op if BROADCASTING.contains(&op) => Some(StepOperands::Broadcasting),
        op if OF_ONE_SHAPE.contains(&op) => Some(StepOperands::OfOneShape),
        _ => None,
    }
}

fn is_activation(op: &str, _: TypeNumber) -> bool {
    ACTIVATIONS.contains(&op)
}

/// Returns rules for graphs whose shapes are unknown.
pub(super) fn rules(preserved: &BTreeSet<String>) -> Rules<'_> {
    Rules {
        device_type: "MYACCEL",
        preserved,
        first_table: &|_, _| Some(1),
        step_operands: &step_operands,
        is_activation: &is_activation,
        shapes: &|_| None,
    }
}

/// Applies all patterns. `table` is the position of the table with the fused kernels; that of the others is 1.
fn apply_with(graph: &mut Graph, preserved: &[&str], table: Option<usize>) -> bool {
    let rules = Rules {
        device_type: "MYACCEL",
        preserved: &preserved.iter().map(|it| (*it).to_owned()).collect(),
        first_table: &|op, dtype| {
            let table = if op.starts_with('_') { table } else { Some(1) };
            table.filter(|_| dtype == TypeNumber::FLOAT)
        },
        step_operands: &step_operands,
        is_activation: &is_activation,
        shapes: &|node| {
            let last = InferredDim::Known(if node == "flat" { 12 } else { 4 });
            Some(vec![InferredDim::Unknown, last])
        },
    };
    fuse_in(graph, DEFAULT, &rules)
}

fn apply(graph: &mut Graph) -> bool {
    apply_with(graph, &[], Some(1))
}

/// Returns the names and ops of all nodes.
pub(super) fn ops(graph: &Graph) -> Vec<(&str, &str)> {
    let nodes = graph.nodes.iter();
    nodes.map(|it| (it.name.as_str(), it.op.as_str())).collect()
}

fn attribute<'g>(graph: &'g Graph, node: &str, name: &str) -> &'g Attribute {
    graph.node(node).unwrap().attribute(name).unwrap()
}

#[test]
fn product_with_bias_and_activation_becomes_one_node_with_last_name() {
    let mut graph = dense("Relu");
    let transposed = ("transpose_b".to_owned(), Attribute::from(true));
    graph.nodes[0].attributes.push(transposed);
    let unknown = ("grad_a".to_owned(), Attribute::from(true));
    graph.nodes[0].attributes.push(unknown);
    assert!(apply(&mut graph));
    assert_eq!(ops(&graph), [("y", "_FusedMatMul"), ("next", "Neg")]);
    let fused = graph.node("y").unwrap();
    assert_eq!(fused.inputs, ["x", "w", "b:1", "^before", "^read"]);
    assert_eq!(fused.device, DEVICE);
    assert!(fused.attribute("grad_a").is_none());
    let names = attribute(&graph, "y", "fused_ops").as_texts();
    assert_eq!(names, Some(vec!["BiasAdd", "Relu"]));
    assert_eq!(attribute(&graph, "y", "num_args").as_int(), Some(1));
    assert_eq!(attribute(&graph, "y", "transpose_b").as_bool(), Some(true));
}

#[test]
fn slope_of_leaky_relu_is_that_of_fused_node() {
    let mut graph = dense("LeakyRelu");
    let slope = ("alpha".to_owned(), Attribute::from(0.5));
    graph.nodes[2].attributes.push(slope);
    assert!(apply(&mut graph));
    let slope = attribute(&graph, "y", "leakyrelu_alpha").as_float();
    assert_eq!(slope, Some(0.5));
}

#[test]
fn product_and_bias_are_fused_without_activation() {
    let mut graph = dense("Softmax");
    assert!(apply(&mut graph));
    let expected = [("sum", "_FusedMatMul"), ("y", "Softmax"), ("next", "Neg")];
    assert_eq!(ops(&graph), expected);
}

#[test]
fn sum_with_two_uses_is_fused_with_product_only() {
    let mut graph = dense("Relu");
    graph.nodes.push(node("other", "Neg", "sum"));
    assert!(apply(&mut graph));
    assert_eq!(graph.node("sum").unwrap().op, "_FusedMatMul");
    assert_eq!(graph.node("y").unwrap().op, "Relu");
}

#[test]
fn preserved_and_used_products_remain() {
    let unchanged = dense("Relu");
    let mut graph = unchanged.clone();
    assert!(!apply_with(&mut graph, &["product"], Some(1)));
    assert_eq!(graph, unchanged);
    for inputs in ["product", "x ^product"] {
        let mut graph = unchanged.clone();
        graph.nodes.push(node("other", "Neg", inputs));
        assert!(!apply(&mut graph), "{inputs}");
    }
}

#[test]
fn preserved_result_keeps_its_name() {
    let mut graph = dense("Relu");
    assert!(apply_with(&mut graph, &["y"], Some(1)));
    assert_eq!(graph.node("y").unwrap().op, "_FusedMatMul");
    let mut graph = dense("Relu");
    assert!(apply_with(&mut graph, &["sum"], Some(1)));
    assert_eq!(graph.node("y").unwrap().op, "Relu");
}

#[test]
fn nodes_without_kernel_or_on_other_devices_remain() {
    let mut graph = dense("Relu");
    assert!(!apply_with(&mut graph, &[], None));
    for index in 0..2 {
        let mut graph = dense("Softmax");
        graph.nodes[index].device = DEVICE.replace("MYACCEL", "CPU");
        assert!(!apply(&mut graph));
        let mut graph = dense("Softmax");
        graph.nodes[index].device = DEVICE.replace(":0", ":1");
        assert!(!apply(&mut graph));
        let mut graph = dense("Softmax");
        graph.nodes[index].attributes = vec![("T".into(), TypeNumber::HALF.into())];
        assert!(!apply(&mut graph));
    }
}

#[test]
fn kernel_of_later_table_does_not_replace_product_of_earlier_one() {
    assert!(!apply_with(&mut dense("Relu"), &[], Some(2)));
    assert!(apply_with(&mut dense("Relu"), &[], Some(0)));
}

/// Applies a pattern to the chain of these ops, and returns the ops of the graph. `author` has a kernel in an earlier table than the
/// others.
fn ops_after(fusion: &Fusion, chain: &[&str], author: &str) -> Vec<String> {
    let name = |index: usize| format!("n{index}");
    let nodes = chain.iter().enumerate().map(|(index, op)| {
        let first = index.checked_sub(1).map_or("x".into(), name);
        node(&name(index), op, &format!("{first} b"))
    });
    let mut graph = graph(&nodes.collect::<Vec<_>>());
    let preserved = BTreeSet::new();
    let rules = Rules {
        first_table: &|op, _| Some(usize::from(op != author)),
        shapes: &|_| Some(vec![InferredDim::Known(4)]),
        ..rules(&preserved)
    };
    fuse_in(&mut graph, std::slice::from_ref(fusion), &rules);
    graph.nodes.into_iter().map(|it| it.op).collect()
}

/// A wrong kernel of the author's would otherwise not be noticed: a kernel of the reference would run in its place.
#[test]
fn kernel_of_author_is_not_bypassed_wherever_it_is_in_a_chain() {
    for fusion in DEFAULT {
        let positions = 0..fusion.chain.len();
        for (position, op) in
            positions.flat_map(|it| fusion.chain[it].iter().map(move |op| (it, op)))
        {
            let mut chain: Vec<&str> = fusion.chain.iter().map(|ops| ops[0]).collect();
            chain[position] = op;
            let has = |author, op: &str| {
                let ops = ops_after(fusion, &chain, author);
                ops.iter().any(|it| it == op)
            };
            assert!(has("none", fusion.op), "{chain:?}");
            assert!(has(op, op), "{chain:?}: {op}");
        }
    }
}

#[test]
fn convolution_has_type_of_bias_and_layout_of_both() {
    let layout = |it: &str| ("data_format".to_owned(), Attribute::from(it));
    let mut graph = graph(&[
        node("y", "Conv2D", "x f"),
        node("sum", "BiasAdd", "y b"),
        node("last", "Neg", "sum"),
    ]);
    graph.nodes[0].attributes.push(layout("NCHW"));
    assert!(!apply(&mut graph));
    graph.nodes[1].attributes.push(layout("NCHW"));
    assert!(apply(&mut graph));
    assert_eq!(graph.node("sum").unwrap().op, "_FusedConv2D");
    let types = attribute(&graph, "sum", "TArgs");
    assert_eq!(*types, Attribute::from(&[TypeNumber::FLOAT][..]));
    assert_eq!(
        attribute(&graph, "sum", "data_format").as_str(),
        Some("NCHW")
    );
}

#[test]
fn further_outputs_of_normalization_are_those_of_fused_node() {
    let mut graph = graph(&[
        node("bn", "FusedBatchNormV3", "x s o m v"),
        node("y", "Relu", "bn"),
        node("average", "Neg", "bn:1"),
    ]);
    let mut waiting = graph.clone();
    assert!(apply(&mut graph));
    assert_eq!(
        ops(&graph),
        [("y", "_FusedBatchNormEx"), ("average", "Neg")]
    );
    assert_eq!(graph.node("average").unwrap().inputs, ["y:1"]);
    // A node that waits for another use of the first one would wait for itself.
    waiting.nodes[1].inputs.push("^average".into());
    assert!(!apply(&mut waiting));
}

#[test]
fn reshape_of_product_follows_fused_node() {
    let mut graph = dense("Relu");
    graph
        .nodes
        .push(node("shaped", "Reshape", "product shape ^size"));
    graph.nodes[1].inputs[0] = "shaped".into();
    assert!(apply(&mut graph));
    let expected = [
        ("y", "Reshape"),
        ("next", "Neg"),
        ("product", "_FusedMatMul"),
    ];
    assert_eq!(ops(&graph), expected);
    let inputs = |name| graph.node(name).unwrap().inputs.clone();
    assert_eq!(inputs("y"), ["product", "shape", "^size"]);
    assert_eq!(inputs("product"), ["x", "w", "b:1", "^before", "^read"]);
    let names = attribute(&graph, "product", "fused_ops").as_texts();
    assert_eq!(names, Some(vec!["BiasAdd", "Relu"]));
}

#[test]
fn reshape_of_last_dimension_remains() {
    let mut graph = dense("Relu");
    graph.nodes.push(node("flat", "Reshape", "product shape"));
    graph.nodes[1].inputs[0] = "flat".into();
    assert!(!apply(&mut graph));
}

#[test]
fn chains_in_a_row_are_fused_each() {
    let mut graph = dense("Relu");
    graph.nodes.push(node("p2", "MatMul", "y w2"));
    graph.nodes.push(node("s2", "BiasAdd", "p2 b2"));
    graph.nodes.swap(0, 4);
    assert!(apply(&mut graph));
    let fused = graph.nodes.iter().filter(|it| it.op == "_FusedMatMul");
    let names: Vec<_> = fused.map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["y", "s2"]);
    assert_eq!(graph.nodes.len(), 3);
}

/// Returns the graph of a product and a sum of it.
fn sum_of_product(op: &str, inputs: &str) -> Graph {
    graph(&[
        node("product", "MatMul", "x w"),
        node("sum", op, inputs),
        node("next", "Exp", "sum"),
    ])
}

#[test]
fn either_operand_of_a_sum_may_be_the_product() {
    for (op, inputs) in [
        ("AddN", "product z ^before"),
        ("AddN", "z product ^before"),
        ("AddN", "z product:0 ^before"),
    ] {
        let mut graph = sum_of_product(op, inputs);
        assert!(apply(&mut graph), "{op}({inputs})");
        let fused = graph.node("sum").unwrap();
        assert_eq!(fused.op, "_FusedMatMul");
        assert_eq!(fused.inputs, ["x", "w", "z", "^before"]);
        let names = attribute(&graph, "sum", "fused_ops").as_texts();
        assert_eq!(names, Some(vec!["Add"]));
        assert_eq!(attribute(&graph, "sum", "num_args").as_int(), Some(1));
    }
}

#[test]
fn other_sums_remain() {
    for (op, inputs) in [
        ("AddV2", "product z"),
        ("AddN", "product y z"),
        ("AddN", "product"),
        ("AddN", "product product"),
        ("Sub", "product z"),
    ] {
        let mut graph = sum_of_product(op, inputs);
        assert!(!apply(&mut graph), "{op}({inputs})");
    }
}

#[test]
fn sum_of_two_products_is_fused_with_the_first() {
    let mut graph = sum_of_product("AddN", "product other");
    graph.nodes.push(node("other", "MatMul", "y w"));
    assert!(apply(&mut graph));
    assert_eq!(graph.node("sum").unwrap().inputs, ["x", "w", "other"]);
    assert_eq!(graph.node("other").unwrap().op, "MatMul");
}

#[test]
fn chain_that_reads_the_moments_of_a_replaced_chain_reads_those_of_the_new_node() {
    let mut nodes = graph(&[
        node("first", "FusedBatchNormV3", "x s o m v"),
        node("y", "Relu", "first"),
        node("second", "FusedBatchNormV3", "x s o first:1 first:2"),
        node("z", "Relu", "second"),
    ]);
    assert!(apply(&mut nodes));
    assert_eq!(
        ops(&nodes),
        [("y", "_FusedBatchNormEx"), ("z", "_FusedBatchNormEx")]
    );
    assert_eq!(
        nodes.node("z").unwrap().inputs,
        ["x", "s", "o", "y:1", "y:2"]
    );
}
