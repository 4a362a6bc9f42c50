//! The gradient of a Relu that a max pool follows: it is computed for the pool's result, which is smaller than its input.
//!
//! The gradient of the pool gives that of a result to the largest element of its window, and 0 to the others. The Relu's
//! gradient keeps those of elements above 0, which are those of results above 0. So
//! `ReluGrad(MaxPoolGrad(x, y, dy), x)` is `MaxPoolGrad(x, y, ReluGrad(dy, y))`, up to the signs of zeros, if `y` is the
//! pool's result of `x`.
//!
//! The result has a fourth of the elements in most networks.

use super::Rules;
use super::chain::Links;
use crate::{Graph, Node};

/// The attributes that a pool has in common with its gradient.
const WINDOWS: [&str; 5] = ["T", "ksize", "strides", "padding", "data_format"];

/// The positions of a pool's gradient and of the Relu's gradient that reads it.
struct Pair {
    pool: usize,
    relu: usize,
}

/// Moves the gradients of Relus before those of pools. Returns true if there were any.
pub(super) fn move_in(graph: &mut Graph, rules: &Rules<'_>) -> bool {
    let links = Links::new(graph);
    let pairs: Vec<Pair> = (0..graph.nodes.len())
        .filter_map(|relu| Pair::find(graph, &links, relu, rules))
        .collect();
    for pair in &pairs {
        let [pool, relu] = pair.exchanged(graph);
        (graph.nodes[pair.pool], graph.nodes[pair.relu]) = (relu, pool);
    }
    !pairs.is_empty()
}

impl Pair {
    /// Returns the pair whose last node is at `relu`, or `None` if it is none.
    fn find(graph: &Graph, links: &Links<'_>, relu: usize, rules: &Rules<'_>) -> Option<Self> {
        let last = &graph.nodes[relu];
        if last.op != "ReluGrad" {
            return None;
        }
        let pool = links.position(last.inputs().next()?.node)?;
        let first = &graph.nodes[pool];
        let result = &graph.nodes[links.position(first.inputs().nth(1)?.node)?];
        let is_on_device = |it: &&Node| {
            it.device_type() == Some(rules.device_type)
                && it.device == last.device
                && !it.selects_kernel()
        };
        let is_pair = first.op == "MaxPoolGrad"
            && last.inputs.first() == Some(&first.name)
            && first.inputs.first()? == last.inputs.get(1)?
            && !links.has_other_uses(pool, 1)
            && !rules.preserved.contains(&first.name)
            && graph.node(&moved_name(last)).is_none()
            && [first, last].iter().all(is_on_device);
        (is_pair && is_gradient_of(first, result)).then_some(Self { pool, relu })
    }

    /// Returns the pool's gradient with the name of the Relu's, and the Relu's gradient that it reads.
    fn exchanged(&self, graph: &Graph) -> [Node; 2] {
        let (mut pool, mut relu) = (
            graph.nodes[self.pool].clone(),
            graph.nodes[self.relu].clone(),
        );
        let name = moved_name(&relu);
        std::mem::swap(&mut pool.inputs, &mut relu.inputs);
        // Now `pool` has the inputs "gradient of the pool, x", and `relu` has "x, y, dy".
        let [x, y, gradient] = [0, 1, 2].map(|it| relu.inputs[it].clone());
        pool.inputs.splice(..2, [x, y.clone(), name.clone()]);
        relu.inputs.splice(..3, [gradient, y]);
        pool.name = std::mem::replace(&mut relu.name, name);
        relu.attributes.retain(|(name, _)| name != "_output_shapes");
        [pool, relu]
    }
}

/// Returns the name of the Relu's gradient before the pool's. It is a new one, since its result has another shape.
fn moved_name(relu: &Node) -> String {
    format!("{}/before_pool", relu.name)
}

/// Returns true if `gradient` is that of the pool whose output 0 is its second input.
fn is_gradient_of(gradient: &Node, pool: &Node) -> bool {
    pool.op == "MaxPool"
        && gradient.inputs.len() >= 3
        && gradient.inputs[1] == pool.name
        && pool.inputs.first() == gradient.inputs.first()
        && WINDOWS
            .iter()
            .all(|it| pool.attribute(it) == gradient.attribute(it))
        && pool.attribute("padding").and_then(|it| it.as_str()) != Some("EXPLICIT")
}

#[cfg(test)]
mod tests {
    use super::super::tests::{graph, node, ops, rules};
    use super::*;
    use crate::Attribute;

    fn network() -> Graph {
        let mut graph = graph(&[
            node("y", "MaxPool", "x"),
            node("dx", "MaxPoolGrad", "x y dy ^first"),
            node("result", "ReluGrad", "dx x ^last"),
            node("next", "Neg", "result"),
        ]);
        for index in [0, 1] {
            let padding = ("padding".to_owned(), Attribute::from("SAME"));
            graph.nodes[index].attributes.push(padding);
        }
        graph
    }

    fn stays(change: impl FnOnce(&mut Graph)) {
        let mut graph = network();
        change(&mut graph);
        let before = graph.clone();
        assert!(!move_in(&mut graph, &rules(&Default::default())));
        assert_eq!(graph, before);
    }

    #[test]
    fn gradient_of_relu_moves_before_that_of_pool() {
        let mut graph = network();
        assert!(move_in(&mut graph, &rules(&Default::default())));
        let expected = [
            ("y", "MaxPool"),
            ("result/before_pool", "ReluGrad"),
            ("result", "MaxPoolGrad"),
            ("next", "Neg"),
        ];
        assert_eq!(ops(&graph), expected);
        let inputs = |name: &str| graph.node(name).unwrap().inputs.join(" ");
        assert_eq!(inputs("result"), "x y result/before_pool ^last");
        assert_eq!(inputs("result/before_pool"), "dy y ^first");
        let padding = |name: &str| graph.node(name).unwrap().attribute("padding").is_some();
        assert!(padding("result") && !padding("result/before_pool"));
    }

    #[test]
    fn gradients_that_another_node_uses_stay() {
        stays(|it| it.nodes.push(node("reader", "Neg", "dx")));
        stays(|it| it.nodes.push(node("waiting", "Neg", "z ^dx")));
        stays(|it| it.nodes.push(node("result/before_pool", "Neg", "z")));
        let preserved = ["dx".to_owned()].into();
        assert!(!move_in(&mut network(), &rules(&preserved)));
    }

    #[test]
    fn gradients_of_other_tensors_or_windows_stay() {
        stays(|it| it.nodes[2].inputs[1] = "z".into());
        stays(|it| it.nodes[0].inputs[0] = "z".into());
        stays(|it| it.nodes[0].op = "AvgPool".into());
        stays(|it| it.nodes[0].attributes.clear());
        stays(|it| it.nodes[1].inputs.truncate(2));
        stays(|it| it.nodes[2].inputs.truncate(1));
        stays(|it| it.nodes[1].device = "/device:CPU:0".into());
    }
}
