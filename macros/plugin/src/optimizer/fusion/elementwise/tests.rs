//! Which trees are replaced, and by which steps.

use std::collections::BTreeSet;

use sp_abi::tf_datatype::TF_DataType;

use super::*;

/// Returns a node on the device with inputs that are separated by spaces.
fn node(name: &str, op: &str, inputs: &str) -> Node {
    let mut node = Node::new(name, op);
    node.device = "/job:localhost/replica:0/task:0/device:MYACCEL:0".into();
    node.inputs = inputs.split_whitespace().map(String::from).collect();
    (node.attributes).push(("T".into(), TF_DataType::TF_FLOAT.into()));
    node
}

/// Replaces the trees. The shape of names with `_` is `[1]`, names with `?` is of unknown rank, that of names with `*`
/// has a dimension of unknown size, that of names with `+` is large and known, and others have the same dimensions.
/// The kernels of `Relu` are an author's.
fn apply(nodes: &[Node], preserved: &[&str]) -> (bool, Graph) {
    apply_to(DEFAULT, nodes, preserved)
}

/// Replaces the trees of these ops, as [`apply`] does.
fn apply_to(ops: &[&str], nodes: &[Node], preserved: &[&str]) -> (bool, Graph) {
    let mut graph = Graph::default();
    graph.nodes.extend_from_slice(nodes);
    let rules = Rules {
        device_type: "MYACCEL",
        preserved: &preserved
            .iter()
            .map(|it| (*it).to_owned())
            .collect::<BTreeSet<_>>(),
        first_table: &|op, dtype| {
            let is_float = dtype == TF_DataType::TF_FLOAT;
            is_float.then_some(if op == "Relu" { 0 } else { 1 })
        },
        shapes: &|node| match node {
            it if it.contains('?') => None,
            it if it.contains('_') => Some(vec![InferredDim::Known(1)]),
            it if it.contains('+') => Some(vec![InferredDim::Known(64); 2]),
            it if it.contains('*') => Some(vec![InferredDim::Unknown, InferredDim::Known(3)]),
            _ => Some(vec![InferredDim::Symbol(-7), InferredDim::Known(3)]),
        },
    };
    let is_changed = fuse_in(&mut graph, ops, &rules);
    let has_updates = update::fuse_in(&mut graph, ops, &rules);
    (is_changed || has_updates, graph)
}

/// Returns the names of the nodes, with the inputs and steps of new ones.
fn texts(graph: &Graph) -> Vec<String> {
    let text = |node: &Node| match node.attribute("steps").and_then(Attribute::as_texts) {
        Some(steps) => format!(
            "{}({}) = {}",
            node.name,
            node.inputs.join(" "),
            steps.join(", ")
        ),
        None => node.name.clone(),
    };
    graph.nodes.iter().map(text).collect()
}

fn fused(nodes: &[Node]) -> Vec<String> {
    texts(&apply(nodes, &[]).1)
}

#[test]
fn tree_becomes_steps_in_the_order_of_their_operands() {
    let nodes = [
        node("y", "Mul", "square scale_ ^after"),
        node("difference", "Sub", "x mean:1 ^before"),
        node("square", "Square", "difference"),
        node("next", "MatMul", "y w"),
    ];
    let (is_changed, graph) = apply(&nodes, &[]);
    assert!(is_changed);
    let tree = "y(x mean:1 scale_ ^before ^after) = Sub 0 1, Square 3, Mul 4 2";
    assert_eq!(texts(&graph), [tree, "next"]);
    let fused = graph.node("y").unwrap();
    assert_eq!(fused.op, OP);
    assert_eq!(fused.attribute("N").unwrap().as_int(), Some(3));
    assert_eq!(
        fused.attribute("T").unwrap().as_type(),
        Some(TF_DataType::TF_FLOAT)
    );
}

#[test]
fn result_that_two_nodes_of_the_tree_read_is_computed_once() {
    let swish = [
        node("sigmoid", "Sigmoid", "x"),
        node("twice", "AddV2", "sigmoid sigmoid"),
        node("y", "Mul", "twice sigmoid"),
    ];
    assert_eq!(fused(&swish), ["y(x) = Sigmoid 0, AddV2 1 1, Mul 2 1"]);
}

#[test]
fn result_that_others_read_ends_a_tree() {
    let nodes = |last: &str| {
        [
            node("a", "Exp", "x"),
            node("b", "Neg", "a"),
            node("c", "Sqrt", "b"),
            node("other", "MatMul", last),
        ]
    };
    assert_eq!(fused(&nodes("b")), ["b(x) = Exp 0, Neg 1", "c", "other"]);
    assert_eq!(
        fused(&nodes("^a w")),
        ["a", "c(a) = Neg 0, Sqrt 1", "other"]
    );
    let (_, graph) = apply(&nodes("w"), &["b"]);
    assert_eq!(texts(&graph), ["b(x) = Exp 0, Neg 1", "c", "other"]);
}

#[test]
fn result_of_two_trees_is_in_none_of_them() {
    let nodes = [
        node("a", "Exp", "x"),
        node("b", "Neg", "a"),
        node("c", "Sqrt", "a"),
        node("d", "MatMul", "b c"),
    ];
    assert!(!apply(&nodes, &[]).0);
}

#[test]
fn smaller_shape_ends_a_tree() {
    let of_scalars = [
        node("rate_", "Sqrt", "x_"),
        node("step_", "Mul", "rate_ decay_"),
        node("y", "Mul", "x step_"),
        node("z", "Neg", "y"),
    ];
    let expected = [
        "step_(x_ decay_) = Sqrt 0, Mul 2 1",
        "z(x step_) = Mul 0 1, Neg 2",
    ];
    assert_eq!(fused(&of_scalars), expected);
    let gradient = [node("a", "TanhGrad", "x y_"), node("b", "Neg", "a")];
    assert_eq!(fused(&gradient), ["a", "b"]);
    let of_unknown_rank = [node("a?", "Mul", "x y_"), node("b?", "Neg", "a?")];
    assert_eq!(fused(&of_unknown_rank), ["b?(x y_) = Mul 0 1, Neg 2"]);
    let scalar = [node("a_", "Sqrt", "x_"), node("b?", "Mul", "a_ y?")];
    assert_eq!(fused(&scalar), ["a_", "b?"]);
}

#[test]
fn shapes_that_may_be_the_same_are_in_one_tree() {
    let nodes = [
        node("a*", "Mul", "x y"),
        node("b", "TanhGrad", "a* z*"),
        node("c?", "Neg", "b"),
        node("d", "MatMul", "c? w"),
    ];
    assert_eq!(
        fused(&nodes),
        ["c?(x y z*) = Mul 0 1, TanhGrad 3 2, Neg 4", "d"]
    );
}

#[test]
fn other_devices_types_and_an_authors_kernels_stay() {
    let mut elsewhere = node("a", "Exp", "x");
    elsewhere.device = "/job:localhost/replica:0/task:0/device:MYACCEL:1".into();
    assert_eq!(fused(&[elsewhere, node("b", "Neg", "a")]), ["a", "b"]);
    let mut double = node("a", "Exp", "x");
    double.attributes[0].1 = TF_DataType::TF_DOUBLE.into();
    assert_eq!(fused(&[double, node("b", "Neg", "a")]), ["a", "b"]);
    let mut labelled = node("a", "Exp", "x");
    (labelled.attributes).push(("_kernel".into(), "mine".into()));
    assert_eq!(fused(&[labelled, node("b", "Neg", "a")]), ["a", "b"]);
    assert_eq!(
        fused(&[node("a", "Relu", "x"), node("b", "Neg", "a")]),
        ["a", "b"]
    );
    assert_eq!(
        fused(&[node("a", "AddN", "x y z"), node("b", "Neg", "a")]),
        ["a", "b"]
    );
    assert_eq!(
        fused(&[node("a", "AddN", "x"), node("b", "Neg", "a")]),
        ["a", "b"]
    );
}

#[test]
fn tree_has_at_most_so_many_steps() {
    let count = 10 * MAX_STEPS + 1;
    let chain: Vec<Node> = (0..count)
        .map(|i| node(&format!("n{i}"), "Neg", &format!("n{}", i.wrapping_sub(1))))
        .collect();
    let graph = apply(&chain, &[]).1;
    assert_eq!(graph.nodes.len(), 11);
}

/// Returns a node that changes a variable of floats.
fn change(name: &str, op: &str, inputs: &str) -> Node {
    let mut change = node(name, op, inputs);
    change.attributes[0].0 = "dtype".into();
    change
}

#[test]
fn update_of_a_large_variable_is_the_end_of_its_tree() {
    let nodes = [
        node("step+", "Mul", "rate_ slope+ ^before"),
        node("root+", "Sqrt", "moment+:1"),
        node("value+", "RealDiv", "step+ root+"),
        change("update", "AssignSubVariableOp", "v value+ ^loss"),
        node("v", "VarHandleOp", ""),
        node("rate_", "Const", ""),
        node("slope+", "MatMul", "a b"),
        node("moment+", "Split", "c"),
        node("before", "NoOp", "^d"),
        node("loss", "NoOp", "^d"),
    ];
    let (is_changed, graph) = apply(&nodes, &["update"]);
    assert!(is_changed);
    let tree = "value+(rate_ slope+ moment+:1 update/plugin_read ^before) = \
                Mul 0 1, Sqrt 2, RealDiv 4 5, Neg 6, AddN 3 7";
    assert_eq!(texts(&graph)[..2], [tree, "update"]);
    let op_and_inputs = |name: &str| {
        let node = graph.node(name).unwrap();
        let dtype = node.attribute("dtype").unwrap().as_type();
        assert_eq!(dtype, Some(TF_DataType::TF_FLOAT));
        (node.op.clone(), node.inputs.join(" "))
    };
    let assigned = ("AssignVariableOp".into(), "v value+ ^loss".into());
    assert_eq!(op_and_inputs("update"), assigned);
    let after_all = "v ^slope+ ^moment+ ^before ^loss";
    assert_eq!(
        op_and_inputs("update/plugin_read"),
        ("ReadVariableOp".into(), after_all.into())
    );
    let count = graph.node("value+").unwrap().attribute("N").unwrap();
    assert_eq!(count.as_int(), Some(4));
}

/// Returns the graph of an argument that changes by the product of two others.
fn update_by_product(op: &str) -> Vec<Node> {
    let mut nodes = vec![
        node("value+", "Mul", "x y"),
        change("update", op, "v value+"),
    ];
    nodes.extend(["v", "x", "y"].map(|it| node(it, "_Arg", "")));
    nodes
}

#[test]
fn one_node_and_an_addition_are_a_tree_of_two_steps() {
    let nodes = update_by_product("AssignAddVariableOp");
    let tree = "value+(x y update/plugin_read) = Mul 0 1, AddN 2 3";
    assert_eq!(fused(&nodes)[..2], [tree, "update"]);
}

/// Returns true if an update by `value`, among other nodes, changes the graph.
fn is_update_replaced(value: Node, others: &[Node], preserved: &[&str]) -> bool {
    let input = format!("v {}", value.name);
    let update = change("update", "AssignAddVariableOp", &input);
    let mut nodes = vec![value, update, node("handle", "_Arg", "")];
    nodes.extend_from_slice(others);
    if !others.iter().any(|it| it.name == "v") {
        nodes.push(node("v", "Identity", "handle"));
    }
    for name in ["x", "y"] {
        if !nodes.iter().any(|it| it.name == name) {
            nodes.push(node(name, "MatMul", "a b"));
        }
    }
    apply(&nodes, preserved).0
}

#[test]
fn updates_stay_whose_value_is_small_or_used_elsewhere_or_no_tree() {
    let value = || node("value+", "Mul", "x y");
    assert!(is_update_replaced(value(), &[], &[]));
    assert!(!is_update_replaced(value(), &[], &["value+"]));
    let reader = node("z", "MatMul", "value+ w");
    assert!(!is_update_replaced(value(), &[reader], &[]));
    for small in ["value_", "value", "value?", "value*"] {
        let value = node(small, "Mul", "x y");
        assert!(!is_update_replaced(value, &[], &[]), "{small}");
    }
    let product = node("value+", "MatMul", "x y");
    assert!(!is_update_replaced(product, &[], &[]));
    let mut double = value();
    double.attributes[0].1 = TF_DataType::TF_DOUBLE.into();
    assert!(!is_update_replaced(double, &[], &[]));
    let mut elsewhere = value();
    elsewhere.device = "/job:localhost/replica:0/task:0/device:MYACCEL:1".into();
    assert!(!is_update_replaced(elsewhere, &[], &[]));
}

#[test]
fn updates_stay_of_variables_that_other_nodes_may_change() {
    let value = || node("value+", "Mul", "x y");
    let read = node("read", "ReadVariableOp", "v");
    assert!(is_update_replaced(value(), &[read], &[]));
    for op in [
        "AssignAddVariableOp",
        "AssignVariableOp",
        "PartitionedCall",
        "While",
        "Enter",
        "_Retval",
    ] {
        for variable in ["v:0", "handle", "other_alias"] {
            let other = change("other", op, &format!("{variable} z"));
            let alias = node("other_alias", "Identity", "handle");
            assert!(!is_update_replaced(value(), &[other, alias], &[]), "{op}");
        }
    }
}

#[test]
fn updates_stay_in_loops_and_branches_and_of_no_source() {
    let value = || node("value+", "Mul", "x y");
    for op in ["Enter", "Switch", "Merge"] {
        let passed = node("v", op, "handle");
        assert!(!is_update_replaced(value(), &[passed], &[]), "{op}");
    }
    let cycle = [node("v", "Identity", "w"), node("w", "Identity", "v")];
    assert!(!is_update_replaced(value(), &cycle, &[]));
    let branch = node("y", "Switch", "z condition");
    assert!(!is_update_replaced(value(), &[branch], &[]));
}

#[test]
fn updates_stay_whose_steps_the_author_does_not_want() {
    let nodes = update_by_product("AssignSubVariableOp");
    assert!(apply(&nodes, &[]).0);
    assert!(!apply_to(&["Mul", "AddN"], &nodes, &[]).0);
}

#[test]
fn tree_with_an_update_has_at_most_so_many_steps() {
    let is_replaced = |count: usize| {
        let name = |i: usize| format!("n{i}+");
        let mut nodes = vec![node(&name(0), "MatMul", "a b"), node("v", "_Arg", "")];
        nodes.extend((1..=count).map(|i| node(&name(i), "Exp", &name(i - 1))));
        let inputs = format!("v {}", name(count));
        nodes.push(change("update", "AssignAddVariableOp", &inputs));
        let graph = apply(&nodes, &[]).1;
        graph.node("update").unwrap().op == "AssignVariableOp"
    };
    assert!(is_replaced(MAX_STEPS - 1));
    assert!(!is_replaced(MAX_STEPS));
}
