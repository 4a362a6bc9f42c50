//! The nodes that replace one that uses the state of a random generator, such as that of `tf.random.Generator`.
//!
//! The state is a variable. It is read, the op [`RESERVE_NUMBERS`] computes the key, the counter and the next state, and the
//! node waits until that is assigned. Numbers are drawn by the op of a key and a counter, which draws the same ones.

use super::constant;
use super::state::{Replaced, assign_state, read_state};
use crate::assignment;
use crate::ops::RESERVE_NUMBERS;
use crate::{Attribute, Node, TypeNumber};

const INT32: TypeNumber = TypeNumber::INT32;
const INT64: TypeNumber = TypeNumber::INT64;
const UINT64: TypeNumber = TypeNumber::UINT64;

/// The inputs that all of these ops have: the variable, the algorithm, and the shape or the number of the numbers.
const INPUTS: usize = 3;

/// The result of an op of a generator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Returns {
    /// The state before the numbers are reserved.
    State,
    Nothing,
    /// The numbers that the op of a key and a counter draws.
    Numbers(&'static str),
}

use Returns::{Nothing, Numbers, State};

static OPS: &[(&str, Returns)] = &[
    ("RngReadAndSkip", State),
    ("RngSkip", Nothing),
    ("StatefulUniform", Numbers("StatelessRandomUniformV2")),
    ("StatefulUniformInt", Numbers("StatelessRandomUniformIntV2")),
    (
        "StatefulUniformFullInt",
        Numbers("StatelessRandomUniformFullIntV2"),
    ),
    (
        "StatefulStandardNormalV2",
        Numbers("StatelessRandomNormalV2"),
    ),
    (
        "StatefulTruncatedNormal",
        Numbers("StatelessTruncatedNormalV2"),
    ),
];

/// Returns the names of the ops.
pub fn names() -> impl Iterator<Item = &'static str> {
    OPS.iter().map(|(name, _)| *name)
}

/// Replaces the node by one of the same name. Returns the nodes that it needs, or `None` if it is not replaced: it is of another
/// op, the plugin lacks a kernel, or the node is not one that TensorFlow accepts.
pub fn replace(
    node: &mut Node,
    has_kernel: impl Fn(&str, &[(&str, TypeNumber)]) -> bool,
) -> Option<Replaced> {
    let (_, returns) = *OPS.iter().find(|(name, _)| *name == node.op)?;
    let inputs = node.inputs().filter(|it| it.output.is_some()).count();
    if inputs < INPUTS {
        return None;
    }
    let types = Types::new(node, returns)?;
    types
        .are_supported(returns, has_kernel)
        .then(|| types.replace(node, returns))
}

/// The types of a node's inputs and numbers.
struct Types {
    algorithm: TypeNumber,
    reserved: TypeNumber,
    numbers: TypeNumber,
}

impl Types {
    fn new(node: &Node, returns: Returns) -> Option<Self> {
        let dtype = |name| node.attribute(name).and_then(Attribute::as_type);
        Some(match returns {
            State => Self {
                algorithm: INT32,
                reserved: UINT64,
                numbers: INT64,
            },
            Nothing => Self {
                algorithm: INT64,
                reserved: INT64,
                numbers: INT64,
            },
            Numbers(_) => Self {
                algorithm: INT64,
                reserved: dtype("shape_dtype").unwrap_or(INT64),
                numbers: dtype("dtype")?,
            },
        })
    }

    fn are_supported(
        &self,
        returns: Returns,
        has_kernel: impl Fn(&str, &[(&str, TypeNumber)]) -> bool,
    ) -> bool {
        let state = [("A", self.algorithm), ("R", self.reserved)];
        let numbers = [("dtype", self.numbers), ("Tshape", self.reserved)];
        let draws = match returns {
            Numbers(op) => has_kernel(op, &numbers),
            State | Nothing => true,
        };
        draws && has_kernel(RESERVE_NUMBERS, &state)
    }

    fn replace(&self, node: &mut Node, returns: Returns) -> Replaced {
        let read = read_state(node);
        let reserved = self.reserve(node, &read);
        let next = format!("{}:3", reserved.name);
        if returns == Nothing {
            assignment::become_assignment(node, INT64.into(), next);
            let others = vec![reserved];
            return Replaced { read, others };
        }
        let assigned = assign_state(node, next);
        let mut others = match returns {
            Numbers(op) => self.draw(node, op, &reserved.name),
            State | Nothing => {
                let state = vec![reserved.name.clone()];
                assignment::become_op(node, "Identity", state, [("T", INT64.into())]);
                Vec::new()
            }
        };
        node.inputs.push(format!("^{}", assigned.name));
        others.extend([reserved, assigned]);
        Replaced { read, others }
    }

    /// Returns the node that computes the key, the counter and the next state.
    fn reserve(&self, node: &Node, read: &Node) -> Node {
        let mut reserved = assignment::added_node(node, "reserved", RESERVE_NUMBERS);
        let inputs = [&read.name, &node.inputs[1], &node.inputs[2]];
        reserved.inputs = inputs.map(String::clone).into();
        let attributes = [("A", self.algorithm.into()), ("R", self.reserved.into())];
        reserved.attributes.extend(assignment::named(attributes));
        reserved
    }

    /// Makes the node one that draws numbers. Returns the nodes that it needs.
    fn draw(&self, node: &mut Node, op: &str, reserved: &str) -> Vec<Node> {
        // 1 is Philox, which the kernel of the reserved numbers has checked.
        let algorithm = constant(node, "algorithm", 1);
        let selected = [1, 2].map(|output| format!("{reserved}:{output}"));
        let limits = node.inputs[INPUTS..].iter();
        let limits = limits.filter(|it| !it.starts_with('^')).cloned();
        let mut inputs = vec![node.inputs[2].clone()];
        inputs.extend(selected);
        inputs.push(algorithm.name.clone());
        inputs.extend(limits);
        let attributes = [
            ("dtype", self.numbers.into()),
            ("Tshape", self.reserved.into()),
        ];
        assignment::become_op(node, op, inputs, attributes);
        vec![algorithm]
    }
}
