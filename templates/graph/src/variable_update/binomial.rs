//! The nodes that replace one that draws binomial numbers of the state of a random generator.
//!
//! How many numbers are reserved depends on the shapes of the parameters. The op [`RANDOM_BINOMIAL`] computes the numbers and the
//! next state.

use super::state::{Replaced, assign_state, read_state};
use crate::assignment;
use crate::ops::RANDOM_BINOMIAL;
use crate::{Attribute, Node, TypeNumber};

/// The op whose nodes are replaced.
pub const OP: &str = "StatefulRandomBinomial";

/// The inputs of the op: the variable, the algorithm, the shape, the numbers of trials, and the probabilities.
const INPUTS: usize = 5;

/// The type attributes of the op, and the attribute of the same type of [`RANDOM_BINOMIAL`].
const TYPES: [(&str, &str); 3] = [("S", "S"), ("T", "T"), ("dtype", "U")];

/// Replaces the node by one of the same name. Returns the nodes that it needs, or `None` if the plugin lacks the kernel, or the node is not one that TensorFlow accepts.
pub fn replace(
    node: &mut Node,
    has_kernel: impl Fn(&str, &[(&str, TypeNumber)]) -> bool,
) -> Option<Replaced> {
    let types = types(node)?;
    let inputs = node.inputs().filter(|it| it.output.is_some()).count();
    if inputs != INPUTS || !has_kernel(RANDOM_BINOMIAL, &types) {
        return None;
    }
    let read = read_state(node);
    let mut drawn = assignment::added_node(node, "drawn", RANDOM_BINOMIAL);
    drawn.inputs = vec![read.name.clone()];
    drawn.inputs.extend(node.inputs[1..INPUTS].iter().cloned());
    let attributes = types.map(|(name, dtype)| (name, dtype.into()));
    drawn.attributes.extend(assignment::named(attributes));
    let assigned = assign_state(node, format!("{}:1", drawn.name));
    let [.., (_, numbers)] = types;
    let identity = [("T", numbers.into())];
    assignment::become_op(node, "Identity", vec![drawn.name.clone()], identity);
    node.inputs.push(format!("^{}", assigned.name));
    let others = vec![drawn, assigned];
    Some(Replaced { read, others })
}

/// Returns the types of the attributes of [`RANDOM_BINOMIAL`].
fn types(node: &Node) -> Option<[(&'static str, TypeNumber); 3]> {
    let dtype = |(name, other)| {
        let attribute = node.attribute(name).and_then(Attribute::as_type);
        Some((other, attribute?))
    };
    let [Some(shape), Some(counts), Some(numbers)] = TYPES.map(dtype) else {
        return None;
    };
    Some([shape, counts, numbers])
}
