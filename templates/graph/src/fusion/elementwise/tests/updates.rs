//! Updates of variables that become steps of trees, and those that stay.

use super::*;

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
        assert_eq!(dtype, Some(TypeNumber::FLOAT));
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
    double.attributes[0].1 = TypeNumber::DOUBLE.into();
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
    for op in ["Switch", "RefSwitch", "_SwitchN"] {
        let branch = node("y", op, "z condition");
        assert!(!is_update_replaced(value(), &[branch], &[]), "{op}");
    }
}

#[test]
fn updates_stay_whose_steps_are_not_in_the_list_of_ops() {
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
