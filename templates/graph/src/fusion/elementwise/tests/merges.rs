//! Trees that are merged into nodes with several results.

use super::*;

/// Merges the trees.
fn merged(nodes: &[Node], preserved: &[&str]) -> Graph {
    let merge = |graph: &mut Graph, rules: &Rules<'_>| {
        let is_changed = fuse_in(graph, DEFAULT, rules);
        merge::fuse_in(graph, DEFAULT, rules) || is_changed
    };
    change(nodes, preserved, merge).1
}

/// Asserts that so many nodes remain after the merge.
#[track_caller]
fn assert_node_count(nodes: &[Node], count: usize) {
    let graph = merged(nodes, &[]);
    assert_eq!(graph.nodes.len(), count, "{:#?}", texts(&graph));
}

/// The gates of a recurrent layer, which its gradient reads.
fn cell() -> Vec<Node> {
    vec![
        node("gate", "Sigmoid", "x"),
        node("input", "Tanh", "y"),
        node("product", "Mul", "gate input"),
        node("state", "AddV2", "product before"),
        node("output", "Tanh", "state"),
        node("gradient", "MatMul", "gate input state"),
        node("next", "MatMul", "output"),
    ]
}

/// Returns nodes without inputs.
fn sources(names: &[&str]) -> Vec<Node> {
    names.iter().map(|it| node(it, "Placeholder", "")).collect()
}

/// Returns the cell after the nodes that it reads.
fn whole_cell() -> Vec<Node> {
    let mut nodes = sources(&["x", "y", "before"]);
    nodes.extend(cell());
    nodes
}

#[test]
fn results_that_others_read_are_those_of_one_node() {
    let graph = merged(&whole_cell(), &[]);
    let steps = "output(y x before) = Tanh 0, Sigmoid 1, Mul 4 3, AddV2 5 2, Tanh 6";
    let mut expected = vec!["x", "y", "before", steps, "gradient", "next"];
    let mut found = texts(&graph);
    expected.sort_unstable();
    found.sort_unstable();
    assert_eq!(found, expected);
    let node = graph.node("output").unwrap();
    assert_eq!(node.op, merge::OP);
    assert_eq!(node.attribute("M").unwrap().as_int(), Some(4));
    let results = Attribute::from(&[4_i64, 3, 1, 0][..]);
    assert_eq!(node.attribute("results"), Some(&results));
    let gradient = &graph.node("gradient").unwrap().inputs;
    assert_eq!(gradient, &["output:2", "output:3", "output:1"]);
    assert_eq!(graph.node("next").unwrap().inputs, ["output"]);
}

#[test]
fn preserved_node_has_the_first_result() {
    let graph = merged(&whole_cell(), &["gate"]);
    let node = graph.node("gate").unwrap();
    assert_eq!(node.op, merge::OP);
    assert_eq!(graph.node("next").unwrap().inputs, ["gate:1"]);
    let two = merged(&whole_cell(), &["gate", "output"]);
    let has_both = ["gate", "output"].iter().all(|it| two.node(it).is_some());
    assert!(has_both, "{:#?}", texts(&two));
}

#[test]
fn path_through_another_node_separates_groups() {
    let mut nodes = sources(&["x"]);
    nodes.extend([
        node("a", "Exp", "x"),
        node("b", "MatMul", "a"),
        node("c", "Mul", "a b"),
        node("d", "MatMul", "c"),
    ]);
    assert_eq!(texts(&merged(&nodes, &[])), ["x", "a", "b", "c", "d"]);
    nodes[3].inputs = vec!["a".into(), "x".into(), "^b".into()];
    assert_eq!(texts(&merged(&nodes, &[])), ["x", "a", "b", "c", "d"]);
}

#[test]
fn smaller_shape_separates_groups() {
    let mut nodes = sources(&["x_", "y"]);
    nodes.extend([
        node("rate_", "Sqrt", "x_"),
        node("z", "Mul", "rate_ y"),
        node("d", "MatMul", "z rate_"),
    ]);
    assert_node_count(&nodes, nodes.len());
}

#[test]
fn merges_only_nodes_under_equal_conditions() {
    let branches = |reader: &str| {
        let mut nodes = sources(&["x", "p"]);
        nodes.extend([
            node("a", "Exp", "x"),
            node("switch", "Switch", "a p"),
            node("b", "Neg", reader),
            node("c", "MatMul", "switch:1"),
            node("merge", "Merge", "b c"),
            node("d", "MatMul", "a b"),
        ]);
        nodes
    };
    // In a branch, the second node may be dead while the first one is alive.
    for reader in ["switch", "switch:0"] {
        let mut nodes = branches(reader);
        for op in ["Switch", "RefSwitch", "_SwitchN"] {
            nodes[3].op = op.into();
            assert_node_count(&nodes, nodes.len());
        }
    }
    let mut inside = sources(&["x", "p"]);
    inside.extend([
        node("switch", "Switch", "x p"),
        node("a", "Exp", "switch:1"),
        node("b", "Neg", "a"),
        node("other", "MatMul", "switch"),
        node("c", "MatMul", "a b"),
        node("merge", "Merge", "other c"),
    ]);
    assert_node_count(&inside, inside.len() - 1);
    // Two merged values of different predicates may both be dead.
    inside[5].inputs = vec!["p".into()];
    assert_node_count(&inside, inside.len());
}

/// A loop whose body computes two elementwise results, of which the next iteration gets the second one.
fn loop_of(first: &str) -> Vec<Node> {
    let mut nodes = sources(&["x"]);
    nodes.extend([
        node("enter", "Enter", "x"),
        node("top", "Merge", "enter next"),
        node("condition", "LoopCond", "top"),
        node("switch", "Switch", "top condition"),
        node("a", "Exp", "switch:1"),
        node("b", "Neg", first),
        node("c", "MatMul", "a"),
        node("next", "NextIteration", "b"),
        node("exit", "Exit", "switch"),
        node("last", "MatMul", "exit"),
    ]);
    nodes[1]
        .attributes
        .push(("frame_name".into(), "loop".into()));
    nodes
}

#[test]
fn next_iteration_is_no_path() {
    let nodes = loop_of("a");
    assert_node_count(&nodes, nodes.len() - 1);
    let through_product = loop_of("c");
    assert_node_count(&through_product, through_product.len());
}

/// Returns what a result of a graph is computed from, as text.
///
/// # Panics
/// Panics if nodes wait for each other.
fn formula(graph: &Graph, text: &str, depth: usize) -> String {
    assert!(depth < 200, "a cycle");
    let input = Input::parse(text);
    let node = graph.node(input.node).unwrap();
    let operands = node.inputs.iter().filter(|it| !it.starts_with('^'));
    let mut values: Vec<String> = operands.map(|it| formula(graph, it, depth + 1)).collect();
    let steps = node.attribute("steps").and_then(Attribute::as_texts);
    let Some(steps) = steps else {
        return format!("{}({})", node.name_of_function(), values.join(","));
    };
    let count = values.len();
    for step in &steps {
        let mut words = step.split(' ');
        let op = words.next().unwrap();
        let operands = words.map(|it| values[it.parse::<usize>().unwrap()].clone());
        values.push(format!("{op}({})", operands.collect::<Vec<_>>().join(",")));
    }
    let result = match node.attribute("results") {
        None => steps.len() - 1,
        Some(results) => numbers(results)[input.output.unwrap()],
    };
    values[count + result].clone()
}

/// Returns the numbers of a list, of which none is above 127.
fn numbers(list: &Attribute) -> Vec<usize> {
    let entries = list.bytes()[2..].chunks(2);
    entries.map(|it| usize::from(it[1])).collect()
}

impl Node {
    /// Returns the op, or the name of a node without inputs.
    fn name_of_function(&self) -> &str {
        if self.inputs.is_empty() {
            &self.name
        } else {
            &self.op
        }
    }
}

#[test]
fn random_graphs_compute_the_same() {
    let mut state = 7_u32;
    let mut random = |below: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as usize % below
    };
    let mut merges = 0;
    for _ in 0..2000 {
        let mut nodes = sources(&["x", "y"]);
        for index in 0..6 + random(14) {
            let mut inputs =
                [random(nodes.len()), random(nodes.len())].map(|it| nodes[it].name.clone());
            let op = ["Mul", "Sub", "Exp", "Neg", "MatMul"][random(5)];
            if matches!(op, "Exp" | "Neg") {
                inputs[1] = format!("^{}", inputs[1]);
            }
            nodes.push(node(&format!("n{index}"), op, &inputs.join(" ")));
        }
        let products = nodes
            .iter()
            .filter(|it| it.op == "MatMul")
            .map(|it| it.name.clone());
        let mut ends: Vec<String> = products.collect();
        let last = nodes.len() - 1;
        if random(2) == 0 {
            nodes.push(node("end", "MatMul", &nodes[last].name.clone()));
            ends.push("end".into());
        }
        let before = change(&nodes, &[], |_, _| false).1;
        let after = merged(&nodes, &[]);
        merges += after.nodes.iter().filter(|it| it.op == merge::OP).count();
        let graphs = || format!("{:#?} became {:#?}", listing(&before), listing(&after));
        for end in ends {
            let [found, expected] = [&after, &before].map(|it| formula(it, &end, 0));
            assert_eq!(found, expected, "{}", graphs());
        }
        assert!(has_order(&after), "{}", graphs());
    }
    assert!(merges > 300, "{merges}");
}

/// Returns a line for each node: its name, op and inputs, and its steps if it has any.
fn listing(graph: &Graph) -> Vec<String> {
    let lines = graph.nodes.iter().zip(texts(graph));
    let lines = lines.map(|(it, text)| format!("{text}: {} {}", it.op, it.inputs.join(" ")));
    lines.collect()
}

/// Returns true if the nodes of a graph can run one after the other, control inputs included.
fn has_order(graph: &Graph) -> bool {
    let mut done = BTreeSet::new();
    loop {
        let is_ready = |node: &&Node| {
            !done.contains(&node.name) && node.inputs().all(|it| done.contains(it.node))
        };
        let ready: Vec<String> = graph
            .nodes
            .iter()
            .filter(is_ready)
            .map(|it| it.name.clone())
            .collect();
        if ready.is_empty() {
            return done.len() == graph.nodes.len();
        }
        done.extend(ready);
    }
}

/// The kernel rejects a step that is no result and that no step reads.
fn assert_all_steps_are_used(graph: &Graph) {
    let node = graph.nodes.iter().find(|it| it.op == merge::OP).unwrap();
    let steps = node.attribute("steps").unwrap().as_texts().unwrap();
    let inputs = node.inputs().filter(|it| it.output.is_some()).count();
    let results = numbers(node.attribute("results").unwrap());
    let operands = steps.iter().flat_map(|it| it.split(' ').skip(1));
    let read: Vec<usize> = operands.map(|it| it.parse().unwrap()).collect();
    for step in 0..steps.len() {
        let is_used = results.contains(&step) || read.contains(&(inputs + step));
        assert!(is_used, "step {step} of {:?}", texts(graph));
    }
}

#[test]
fn node_that_nothing_reads_is_a_result() {
    let mut nodes = sources(&["x"]);
    nodes.extend([
        node("a", "Exp", "x"),
        node("b", "Neg", "a"),
        node("unread", "Tanh", "a"),
        node("end", "MatMul", "a b"),
    ]);
    assert_all_steps_are_used(&merged(&nodes, &[]));
}

#[test]
fn node_that_another_one_waits_for_is_a_result() {
    let mut nodes = sources(&["x"]);
    nodes.extend([
        node("a", "Exp", "x"),
        node("first", "Tanh", "a"),
        node("b", "Neg", "a ^first"),
        node("end", "MatMul", "a b"),
    ]);
    assert_all_steps_are_used(&merged(&nodes, &[]));
}

#[test]
fn node_after_control_trigger_runs_in_each_branch() {
    let mut nodes = sources(&["x", "y", "p"]);
    nodes.extend([
        node("switch", "Switch", "x p"),
        node("taken", "Identity", "switch:1"),
        node("trigger", "ControlTrigger", "^taken"),
        node("always", "Exp", "y ^trigger"),
        node("branch", "Mul", "always switch:1"),
        node("c", "MatMul", "branch"),
        node("other", "MatMul", "switch"),
        node("merge", "Merge", "other c"),
        node("end", "MatMul", "always"),
    ]);
    assert_node_count(&nodes, nodes.len());
}

#[test]
fn merge_of_some_branches_may_be_dead() {
    let mut nodes = sources(&["x", "y", "index"]);
    nodes.extend([
        node("switch", "_SwitchN", "x index"),
        node("first", "MatMul", "switch"),
        node("second", "MatMul", "switch:1"),
        node("merge", "Merge", "first second"),
        node("always", "Exp", "y"),
        node("some", "Mul", "always merge"),
        node("end", "MatMul", "always"),
        node("last", "MatMul", "some"),
    ]);
    nodes[3].attributes.push(("num_outs".into(), 3_i64.into()));
    assert_node_count(&nodes, nodes.len());
}

#[test]
fn node_that_takes_from_a_queue_waits_for_one_that_puts_into_it() {
    let mut nodes = sources(&["x", "queue"]);
    nodes.extend([
        node("a", "Exp", "x"),
        node("enqueue", "QueueEnqueueV2", "queue a"),
        node("dequeue", "QueueDequeueV2", "queue"),
        node("b", "Mul", "a dequeue"),
        node("end", "MatMul", "a b"),
    ]);
    assert_node_count(&nodes, nodes.len());
}
