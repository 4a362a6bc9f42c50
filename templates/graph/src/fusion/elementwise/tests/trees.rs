//! Trees that are replaced, and their steps.

use super::*;

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
        Some(TypeNumber::FLOAT)
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
    double.attributes[0].1 = TypeNumber::DOUBLE.into();
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
