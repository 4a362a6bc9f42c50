//! Control flow of a graph: the loop and the conditions of each node.
//!
//! A node runs if all of its inputs are alive; outputs of a `Switch` that is not taken are dead. So two nodes can be one
//! only if they are in one loop and depend on the same outputs of switches.

use std::collections::{BTreeSet, HashMap};

use super::chain::Links;
use crate::{Graph, Input, Node};

/// The loops and conditions of all nodes.
pub(super) struct Flow {
    /// For each node, the loop of its inputs.
    frames: Vec<usize>,
    /// For each node, the number of the set of conditions under which it runs.
    conditions: Vec<usize>,
}

/// The loop and the conditions of a value, by their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Scope {
    frame: usize,
    conditions: usize,
}

/// An output of a switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Branch<'g> {
    /// The node and the number of its output that decide which output is alive.
    predicate: (&'g str, Option<usize>),
    output: usize,
    /// The number of outputs of the switch.
    outputs: usize,
}

/// The conditions under which a value is alive.
type Conditions<'g> = BTreeSet<Branch<'g>>;

/// An input of a node.
struct Source<'g> {
    frame: usize,
    conditions: Conditions<'g>,
    is_control: bool,
}

/// A loop.
struct Frame {
    /// The loop that contains it, which is itself for the graph.
    parent: usize,
    /// The conditions of the values that enter it.
    conditions: usize,
}

/// The computation of a [`Flow`], in an order in which inputs precede their readers.
struct Builder<'g> {
    nodes: &'g [Node],
    links: &'g Links<'g>,
    frames: Vec<Frame>,
    /// The numbers of loops by their parent and name.
    frame_numbers: HashMap<(usize, &'g [u8]), usize>,
    /// Sets of conditions. The first one is empty.
    sets: Vec<Conditions<'g>>,
    set_numbers: HashMap<Conditions<'g>, usize>,
    /// For each node, the scope of its inputs and that of its results; `None` until these are known.
    scopes: Vec<Option<[Scope; 2]>>,
}

impl Flow {
    /// Finds the loops and conditions, or returns `None` for a graph of another structure than TensorFlow's loops and
    /// branches have.
    pub fn new(graph: &Graph, links: &Links<'_>) -> Option<Self> {
        let mut builder = Builder {
            nodes: &graph.nodes,
            links,
            frames: vec![Frame {
                parent: 0,
                conditions: 0,
            }],
            frame_numbers: HashMap::new(),
            sets: vec![BTreeSet::new()],
            set_numbers: HashMap::from([(BTreeSet::new(), 0)]),
            scopes: vec![None; graph.nodes.len()],
        };
        builder.find_scopes()?;
        let inputs = builder.scopes.into_iter().map(|it| it.map(|it| it[0]));
        let inputs = inputs.collect::<Option<Vec<Scope>>>()?;
        Some(Self {
            frames: inputs.iter().map(|it| it.frame).collect(),
            conditions: inputs.iter().map(|it| it.conditions).collect(),
        })
    }

    /// Returns true if both nodes are in one loop and run under the same conditions: if one runs, so does the other.
    pub fn have_equal_conditions(&self, [a, b]: [usize; 2]) -> bool {
        self.frames[a] == self.frames[b] && self.conditions[a] == self.conditions[b]
    }

    /// Returns true if the results of a node reach no node of the loop of `member` in the same iteration.
    pub fn ends_iteration(&self, node: &Node, position: usize, member: usize) -> bool {
        self.frames[position] == self.frames[member] && (is_next(node) || is_op(node, "Exit"))
    }
}

/// Returns true if the node has the op, or its version of references.
fn is_op(node: &Node, op: &str) -> bool {
    node.op.strip_prefix("Ref").unwrap_or(&node.op) == op
}

/// Returns true if only one output of the node is alive: that of the branch that runs.
pub(super) fn is_switch(node: &Node) -> bool {
    is_op(node, "Switch") || node.op == "_SwitchN"
}

fn is_next(node: &Node) -> bool {
    is_op(node, "NextIteration")
}

/// Returns the conditions of a `Merge`: those that its data inputs have in common. `None` if these are not the branches of
/// one predicate, since then all of them may be dead.
fn conditions_of_merge(inputs: Vec<Source<'_>>) -> Option<Conditions<'_>> {
    let (controls, data): (Vec<_>, Vec<_>) = inputs.into_iter().partition(|it| it.is_control);
    let data = data.into_iter().map(|it| it.conditions);
    let data: Vec<Conditions<'_>> = data.collect();
    let common = data.iter().cloned().reduce(|all, it| &all & &it)?;
    let branches = data.iter().map(|it| {
        let mut others = it.difference(&common);
        others.next().filter(|_| others.next().is_none())
    });
    if data.len() > 1 {
        let branches: Vec<&Branch<'_>> = branches.collect::<Option<_>>()?;
        let outputs: BTreeSet<usize> = branches.iter().map(|it| it.output).collect();
        let are_of_one = branches
            .iter()
            .all(|it| it.predicate == branches[0].predicate);
        if !are_of_one || !outputs.into_iter().eq(0..branches[0].outputs) {
            return None;
        }
    }
    let controls = controls.into_iter().flat_map(|it| it.conditions);
    Some(common.into_iter().chain(controls).collect())
}

impl<'g> Builder<'g> {
    /// Finds the scope of each node after those of its inputs, without inputs that a `NextIteration` computes. Returns `None`
    /// for a graph of another structure than TensorFlow's loops and branches have.
    fn find_scopes(&mut self) -> Option<()> {
        let nodes = self.nodes;
        let mut missing = vec![0; nodes.len()];
        let mut readers = vec![Vec::new(); nodes.len()];
        for (reader, node) in nodes.iter().enumerate() {
            for input in node.inputs() {
                let source = self.links.position(input.node)?;
                if !is_next(&nodes[source]) {
                    missing[reader] += 1;
                    readers[source].push(reader);
                }
            }
        }
        let mut next: Vec<usize> = (0..nodes.len()).filter(|it| missing[*it] == 0).collect();
        while let Some(position) = next.pop() {
            self.scopes[position] = Some(self.scopes_of_node(position)?);
            for reader in &readers[position] {
                missing[*reader] -= 1;
                if missing[*reader] == 0 {
                    next.push(*reader);
                }
            }
        }
        Some(())
    }

    /// Returns the scope of a node's inputs and that of its results.
    fn scopes_of_node(&mut self, position: usize) -> Option<[Scope; 2]> {
        let node = &self.nodes[position];
        // A ControlTrigger runs although its inputs are dead: no conditions describe it, so nothing in its graph is merged.
        if node.op == "ControlTrigger" {
            return None;
        }
        let inputs = self.inputs(node)?;
        let frame = inputs.first().map_or(0, |it| it.frame);
        if inputs.iter().any(|it| it.frame != frame) {
            return None;
        }
        let conditions = match is_op(node, "Merge") {
            true => conditions_of_merge(inputs)?,
            false => inputs.into_iter().flat_map(|it| it.conditions).collect(),
        };
        let conditions = self.intern(conditions);
        let scope = Scope { frame, conditions };
        let result = match node {
            it if is_op(it, "Enter") => self.enter_loop(it, scope)?,
            it if is_op(it, "Exit") => Scope {
                frame: self.frames[frame].parent,
                conditions: self.frames[frame].conditions,
            },
            _ => scope,
        };
        Some([scope, result])
    }

    /// Returns the inputs but those of the next iteration.
    fn inputs(&self, node: &'g Node) -> Option<Vec<Source<'g>>> {
        let mut inputs = Vec::new();
        for input in node.inputs() {
            let position = self.links.position(input.node)?;
            let source = &self.nodes[position];
            if is_next(source) {
                continue;
            }
            let [_, result] = self.scopes[position]?;
            let mut conditions = self.sets[result.conditions].clone();
            if let (true, Some(output)) = (is_switch(source), input.output) {
                let predicate = Input::parse(source.inputs.get(1)?);
                let predicate = (predicate.node, predicate.output);
                let outputs = match source.attribute("num_outs") {
                    Some(count) => usize::try_from(count.as_int()?).ok()?,
                    None => 2,
                };
                conditions.insert(Branch {
                    predicate,
                    output,
                    outputs,
                });
            }
            inputs.push(Source {
                frame: result.frame,
                conditions,
                is_control: input.output.is_none(),
            });
        }
        Some(inputs)
    }

    /// Returns the scope of a value in the loop that it enters. All values enter under the same conditions.
    fn enter_loop(&mut self, node: &'g Node, from: Scope) -> Option<Scope> {
        let name = node.attribute("frame_name")?.bytes();
        let next = self.frames.len();
        let frame = *self.frame_numbers.entry((from.frame, name)).or_insert(next);
        if frame == next {
            self.frames.push(Frame {
                parent: from.frame,
                conditions: from.conditions,
            });
        }
        let conditions = self.frames[frame].conditions;
        (conditions == from.conditions).then_some(Scope { frame, conditions })
    }

    /// Returns the number of a set of conditions, which is added if it is new.
    fn intern(&mut self, set: Conditions<'g>) -> usize {
        let next = self.sets.len();
        *self.set_numbers.entry(set).or_insert_with_key(|set| {
            self.sets.push(set.clone());
            next
        })
    }
}
