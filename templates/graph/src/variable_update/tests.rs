use super::*;
use crate::{Attribute, Node};

const DEVICE: &str = "/job:localhost/replica:0/task:0/device:MYACCEL:0";

/// Returns a graph of one node, whose last input is the control input `^before`.
fn graph(op: &str, inputs: &[&str], dtype: TypeNumber) -> Graph {
    let mut node = Node::new("node", op);
    node.device = DEVICE.into();
    node.inputs = inputs
        .iter()
        .chain(&["^before"])
        .map(|it| (*it).into())
        .collect();
    for name in ["T", "dtype"] {
        node.attributes.push((name.into(), dtype.into()));
    }
    let mut graph = Graph::default();
    graph.nodes.push(node);
    graph
}

fn is_replaced(
    graph: &mut Graph,
    has_core_kernels: bool,
    has_kernel: impl Fn(&str) -> bool,
) -> bool {
    let target = Target {
        device_type: "MYACCEL",
        has_kernel: |op: &str, _: &[(&str, TypeNumber)]| has_kernel(op),
        has_core_kernels,
    };
    target.replace_in(graph)
}

/// Returns the replaced graph of one node of type float.
fn replaced(op: &str, inputs: &[&str], attributes: &[(&str, Attribute)]) -> Graph {
    let mut graph = graph(op, inputs, TypeNumber::FLOAT);
    let attributes = attributes
        .iter()
        .map(|(name, it)| ((*name).into(), it.clone()));
    graph.nodes[0].attributes.extend(attributes);
    assert!(is_replaced(&mut graph, true, |_| true), "{op}");
    graph
}

fn inputs<'a>(graph: &'a Graph, name: &str) -> (&'a str, Vec<&'a str>) {
    let node = graph.node(name).unwrap();
    assert_eq!(node.device, DEVICE);
    (&node.op, node.inputs.iter().map(String::as_str).collect())
}

fn attribute<'a>(graph: &'a Graph, node: &str, name: &str) -> &'a Attribute {
    graph.node(node).unwrap().attribute(name).unwrap()
}

#[test]
fn addition_becomes_read_sum_and_assignment_after_same_nodes() {
    let mut graph = graph("AssignAddVariableOp", &["v", "x:1"], TypeNumber::INT64);
    assert!(is_replaced(&mut graph, false, |_| true));
    assert_eq!(graph.nodes.len(), 3);
    let assigned = vec!["v", "node/plugin_sum", "^before"];
    assert_eq!(inputs(&graph, "node"), ("AssignVariableOp", assigned));
    let terms = vec!["node/plugin_read", "x:1"];
    assert_eq!(inputs(&graph, "node/plugin_sum"), ("AddN", terms));
    let read = vec!["v", "^x", "^before"];
    assert_eq!(inputs(&graph, "node/plugin_read"), ("ReadVariableOp", read));
    let dtype = attribute(&graph, "node/plugin_sum", "T").as_type();
    assert_eq!(dtype, Some(TypeNumber::INT64));
}

#[test]
fn subtraction_adds_negated_value() {
    let mut graph = graph("AssignSubVariableOp", &["v", "x:1"], TypeNumber::FLOAT);
    assert!(is_replaced(&mut graph, false, |_| true));
    let terms = vec!["node/plugin_read", "node/plugin_negated"];
    assert_eq!(inputs(&graph, "node/plugin_sum"), ("AddN", terms));
    assert_eq!(inputs(&graph, "node/plugin_negated"), ("Neg", vec!["x:1"]));
}

#[test]
fn sums_stay_where_cores_kernels_can_use_memory() {
    let mut graph = graph("AssignAddVariableOp", &["v", "x"], TypeNumber::FLOAT);
    assert!(!is_replaced(&mut graph, true, |_| true));
}

#[test]
fn change_of_rows_has_an_index_of_one_item_each() {
    let index_type = Attribute::from(TypeNumber::INT64);
    let graph = replaced(
        "ResourceScatterSub",
        &["v", "i:2", "x"],
        &[("Tindices", index_type)],
    );
    let assigned = vec!["v", "node/plugin_changed", "^before"];
    assert_eq!(inputs(&graph, "node"), ("AssignVariableOp", assigned));
    let arguments = vec!["node/plugin_read", "node/plugin_indices", "x"];
    let changed = inputs(&graph, "node/plugin_changed");
    assert_eq!(changed, ("TensorScatterSub", arguments));
    let indices = inputs(&graph, "node/plugin_indices");
    assert_eq!(indices, ("ExpandDims", vec!["i:2", "node/plugin_dim"]));
    for (node, name) in [
        ("node/plugin_indices", "T"),
        ("node/plugin_changed", "Tindices"),
    ] {
        let index_type = attribute(&graph, node, name).as_type();
        assert_eq!(index_type, Some(TypeNumber::INT64), "{node}");
    }
    let read = vec!["v", "^i", "^x", "^before"];
    assert_eq!(inputs(&graph, "node/plugin_read"), ("ReadVariableOp", read));
}

#[test]
fn change_of_slices_keeps_indices_and_policy() {
    let policy = Attribute::from("IGNORE");
    let policies = [
        ("bad_indices_policy", policy.clone()),
        ("use_locking", true.into()),
    ];
    let graph = replaced("ResourceScatterNdMin", &["v", "i", "x"], &policies);
    let arguments = vec!["node/plugin_read", "i", "x"];
    let changed = inputs(&graph, "node/plugin_changed");
    assert_eq!(changed, ("TensorScatterMin", arguments));
    assert_eq!(
        attribute(&graph, "node/plugin_changed", "bad_indices_policy"),
        &policy
    );
    let names: Vec<_> = graph.nodes[0]
        .attributes
        .iter()
        .map(|(name, _)| name)
        .collect();
    assert_eq!(names, ["dtype"]);
}

#[test]
fn change_of_strided_slice_keeps_index_type_and_masks() {
    let index_type = Attribute::from(TypeNumber::INT64);
    let attributes = [("Index", index_type), ("shrink_axis_mask", 1.into())];
    let inputs_of_op = ["v", "begin:1", "end", "strides", "x"];
    let graph = replaced("ResourceStridedSliceAssign", &inputs_of_op, &attributes);
    let assigned = vec!["v", "node/plugin_changed", "^before"];
    assert_eq!(inputs(&graph, "node"), ("AssignVariableOp", assigned));
    let arguments = vec!["node/plugin_read", "begin:1", "end", "strides", "x"];
    let changed = inputs(&graph, "node/plugin_changed");
    assert_eq!(changed, ("TensorStridedSliceUpdate", arguments));
    let value = |name| attribute(&graph, "node/plugin_changed", name);
    assert_eq!(value("Index").as_type(), Some(TypeNumber::INT64));
    assert_eq!(value("shrink_axis_mask").as_int(), Some(1));
    assert_eq!(value("end_mask").as_int(), Some(0));
    let read = vec!["v", "^begin", "^end", "^strides", "^x", "^before"];
    assert_eq!(inputs(&graph, "node/plugin_read"), ("ReadVariableOp", read));
}

#[test]
fn selection_of_rows_becomes_gather_along_axis_after_batch_dims() {
    let attributes = [("batch_dims", 2.into()), ("_class", Attribute::from("v"))];
    let graph = replaced("ResourceGather", &["v", "i:1"], &attributes);
    let arguments = vec!["node/plugin_read", "i:1", "node/plugin_axis", "^before"];
    assert_eq!(inputs(&graph, "node"), ("GatherV2", arguments));
    assert_eq!(attribute(&graph, "node", "batch_dims").as_int(), Some(2));
    assert_eq!(attribute(&graph, "node", "_class").as_str(), Some("v"));
    // A constant without inputs would be outside of a loop that has the node.
    assert_eq!(inputs(&graph, "node/plugin_axis"), ("Const", vec!["^i"]));
    // TensorProto { dtype: DT_INT32, tensor_shape: {}, int_val: 2 }
    let tensor = [66, 6, 8, 3, 18, 0, 56, 2];
    assert_eq!(
        attribute(&graph, "node/plugin_axis", "value").bytes(),
        tensor
    );
}

#[test]
fn selection_of_slices_becomes_gather_nd() {
    let graph = replaced("ResourceGatherNd", &["v", "i"], &[]);
    let arguments = vec!["node/plugin_read", "i", "^before"];
    assert_eq!(inputs(&graph, "node"), ("GatherNd", arguments));
    assert_eq!(graph.nodes.len(), 2);
}

#[test]
fn negative_batch_dims_are_unchanged() {
    let mut node = graph("ResourceGather", &["v", "i"], TypeNumber::FLOAT);
    let batch_dims = ("batch_dims".into(), Attribute::from(-1));
    node.nodes[0].attributes.push(batch_dims);
    assert!(!is_replaced(&mut node, true, |_| true));
}

#[test]
fn other_devices_and_types_without_kernels_are_unchanged() {
    let mut other = graph("AssignAddVariableOp", &["v", "x"], TypeNumber::FLOAT);
    other.nodes[0].device = "/job:localhost/replica:0/task:0/device:CPU:0".into();
    assert!(!is_replaced(&mut other, false, |_| true));
    for (op, inputs, lacking) in [
        ("AssignSubVariableOp", &["v", "x"][..], "Neg"),
        ("ResourceScatterMax", &["v", "i", "x"], "TensorScatterMax"),
        ("ResourceGather", &["v", "i"], "GatherV2"),
    ] {
        let mut graph = graph(op, inputs, TypeNumber::HALF);
        assert!(!is_replaced(&mut graph, false, |it| it != lacking), "{op}");
        assert_eq!(graph.nodes.len(), 1);
    }
}

#[test]
fn multiplication_of_rows_uses_product_of_their_updates() {
    let indices = ("Tindices", TypeNumber::INT64.into());
    let graph = replaced("ResourceScatterMul", &["v", "i", "x"], &[indices]);
    let assigned = vec!["v", "node/plugin_scaled", "^before"];
    assert_eq!(inputs(&graph, "node"), ("AssignVariableOp", assigned));
    let factors = vec!["node/plugin_read", "node/plugin_product"];
    assert_eq!(inputs(&graph, "node/plugin_scaled"), ("Mul", factors));
    let product = ("UnsortedSegmentProd", vec!["x", "i", "node/plugin_rows"]);
    assert_eq!(inputs(&graph, "node/plugin_product"), product);
    let index_type = attribute(&graph, "node/plugin_product", "Tindices");
    assert_eq!(index_type.as_type(), Some(TypeNumber::INT64));
    let (op, ends) = inputs(&graph, "node/plugin_rows");
    assert_eq!((op, ends[0]), ("StridedSlice", "node/plugin_shape"));
}

#[test]
fn names_have_each_op_once() {
    let mut names: Vec<_> = super::names().collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
    assert!(names.contains(&"ResourceScatterDiv") && names.contains(&"RngSkip"));
}

/// Returns a graph of a node for each op, which are in the reverse order of their edges.
fn generators(ops: &[&str]) -> Graph {
    let mut graph = Graph::default();
    for (index, op) in ops.iter().enumerate() {
        let mut node = Node::new(format!("n{index}"), *op);
        node.device = DEVICE.into();
        let shape = match index + 1 < ops.len() {
            true => format!("n{}", index + 1),
            false => "shape".into(),
        };
        node.inputs = vec!["v".into(), "alg".into(), shape, "^before".into()];
        node.attributes
            .push(("dtype".into(), TypeNumber::FLOAT.into()));
        node.attributes
            .push(("shape_dtype".into(), TypeNumber::INT32.into()));
        graph.nodes.push(node);
    }
    assert!(is_replaced(&mut graph, true, |_| true));
    graph
}

#[test]
fn state_is_read_and_its_next_value_assigned_before_the_node_is_done() {
    let graph = generators(&["RngReadAndSkip"]);
    let state = vec!["n0/plugin_reserved", "^before", "^n0/plugin_assigned"];
    assert_eq!(inputs(&graph, "n0"), ("Identity", state));
    let reserved = vec!["n0/plugin_read", "alg", "shape"];
    assert_eq!(
        inputs(&graph, "n0/plugin_reserved"),
        ("SpReserveNumbers", reserved)
    );
    let assigned = vec!["v", "n0/plugin_reserved:3"];
    assert_eq!(
        inputs(&graph, "n0/plugin_assigned"),
        ("AssignVariableOp", assigned)
    );
    let read = vec!["v", "^alg", "^shape", "^before"];
    assert_eq!(inputs(&graph, "n0/plugin_read"), ("ReadVariableOp", read));
    let types = ["A", "R"].map(|name| attribute(&graph, "n0/plugin_reserved", name).as_type());
    assert_eq!(types, [Some(TypeNumber::INT32), Some(TypeNumber::UINT64)]);
}

#[test]
fn skipped_numbers_are_an_assignment_alone() {
    let graph = generators(&["RngSkip"]);
    let assigned = vec!["v", "n0/plugin_reserved:3", "^before"];
    assert_eq!(inputs(&graph, "n0"), ("AssignVariableOp", assigned));
    assert!(graph.node("n0/plugin_assigned").is_none());
}

#[test]
fn numbers_are_drawn_by_op_of_key_and_counter() {
    let graph = generators(&["StatefulUniform"]);
    let arguments = vec![
        "shape",
        "n0/plugin_reserved:1",
        "n0/plugin_reserved:2",
        "n0/plugin_algorithm",
        "^before",
        "^n0/plugin_assigned",
    ];
    assert_eq!(
        inputs(&graph, "n0"),
        ("StatelessRandomUniformV2", arguments)
    );
    let dtype = attribute(&graph, "n0", "Tshape").as_type();
    assert_eq!(dtype, Some(TypeNumber::INT32));
}

#[test]
fn binomial_numbers_and_next_state_are_of_one_op() {
    let inputs_of_op = &["v", "alg", "shape", "counts", "probs"];
    let mut graph = graph("StatefulRandomBinomial", inputs_of_op, TypeNumber::HALF);
    let shape_type = ("S".into(), TypeNumber::INT32.into());
    graph.nodes[0].attributes.push(shape_type);
    assert!(!is_replaced(&mut graph, false, |it| it != "SpRandomBinomial"));
    assert!(is_replaced(&mut graph, false, |_| true));
    let (op, numbers) = inputs(&graph, "node");
    assert_eq!((op, numbers[0]), ("Identity", "node/plugin_drawn"));
    assert_eq!(numbers.last(), Some(&"^node/plugin_assigned"));
    let drawn = vec!["node/plugin_read", "alg", "shape", "counts", "probs"];
    assert_eq!(
        inputs(&graph, "node/plugin_drawn"),
        ("SpRandomBinomial", drawn)
    );
    let assigned = vec!["v", "node/plugin_drawn:1"];
    assert_eq!(
        inputs(&graph, "node/plugin_assigned"),
        ("AssignVariableOp", assigned)
    );
    let dtypes = ["S", "T", "U"].map(|name| attribute(&graph, "node/plugin_drawn", name).as_type());
    let expected = [TypeNumber::INT32, TypeNumber::HALF, TypeNumber::HALF];
    assert_eq!(dtypes, expected.map(Some));
}

#[test]
fn generators_of_one_variable_wait_for_each_other_along_their_edges() {
    let graph = generators(&["StatefulUniform", "RngReadAndSkip", "RngSkip"]);
    let waits = |name: &str| graph.node(name).unwrap().inputs.last().unwrap().clone();
    // The first node reads the result of the second one, which reads that of the third one.
    assert_eq!(waits("n0/plugin_read"), "^n1");
    assert_eq!(waits("n1/plugin_read"), "^n2");
    assert_eq!(waits("n2/plugin_read"), "^before");
}

#[test]
fn generators_without_kernels_are_unchanged() {
    for lacking in ["SpReserveNumbers", "StatelessRandomUniformV2"] {
        let mut graph = graph("StatefulUniform", &["v", "alg", "shape"], TypeNumber::FLOAT);
        assert!(
            !is_replaced(&mut graph, false, |it| it != lacking),
            "{lacking}"
        );
    }
}
