//! Chains of nodes whose inner results nothing else uses.

use std::collections::HashMap;

use super::Rules;
use crate::{Graph, Input, Node};

/// The nodes of a graph by name, with the uses of each.
pub(super) struct Links<'g> {
    nodes: &'g [Node],
    positions: HashMap<&'g str, usize>,
    uses: Vec<Uses>,
}

/// The numbers of inputs that are outputs of a node.
#[derive(Debug, Clone, Copy, Default)]
struct Uses {
    /// Uses of output 0.
    result: usize,
    /// Uses of the further outputs.
    others: usize,
    /// Control inputs of other nodes.
    controls: usize,
}

impl<'g> Links<'g> {
    /// Counts the uses of all nodes.
    pub fn new(graph: &'g Graph) -> Self {
        let nodes = &graph.nodes[..];
        let positions = nodes.iter().enumerate();
        let positions: HashMap<_, _> = positions.map(|(i, node)| (node.name.as_str(), i)).collect();
        let mut uses = vec![Uses::default(); nodes.len()];
        for input in nodes.iter().flat_map(Node::inputs) {
            let Some(position) = positions.get(input.node) else {
                continue;
            };
            uses[*position].add(input);
        }
        Self {
            nodes,
            positions,
            uses,
        }
    }

    /// Returns the position of a node, or `None` if the graph has none of this name.
    pub fn position(&self, node: &str) -> Option<usize> {
        self.positions.get(node).copied()
    }

    /// Returns true if a node is used otherwise than by `readers` inputs that are its output 0.
    pub fn has_other_uses(&self, position: usize, readers: usize) -> bool {
        let uses = self.uses[position];
        uses.result != readers || uses.others > 0 || uses.controls > 0
    }

    /// Returns the positions of the chain that ends at `last`, or `None` if there is none with these ops, if the result of
    /// an inner node has another use, or if an inner node is preserved.
    pub fn chain(&self, last: usize, ops: &[&[&str]], rules: &Rules<'_>) -> Option<Vec<usize>> {
        let mut chain = vec![last];
        for pair in ops.windows(2).rev() {
            let next = &self.nodes[*chain.last()?];
            if !rules.has_op(next, pair[1]) {
                return None;
            }
            let is_inner = |it: &usize| {
                let node = &self.nodes[*it];
                rules.has_op(node, pair[0])
                    && !self.uses[*it].is_used_elsewhere()
                    && !rules.preserved.contains(&node.name)
            };
            chain.push(self.sources(next).find(is_inner)?);
        }
        chain.reverse();
        let first = chain[0];
        let has_op = rules.has_op(&self.nodes[first], ops.first()?);
        (has_op && self.has_no_cycle(&chain)).then_some(chain)
    }

    /// Returns the nodes whose output 0 is the first input of `node`, or one of the first two of a sum.
    fn sources(&self, node: &Node) -> impl Iterator<Item = usize> {
        let count = if node.op == "AddN" { 2 } else { 1 };
        let results = node.inputs().take(count).filter(|it| it.output == Some(0));
        results.filter_map(|it| self.position(it.node))
    }

    /// Returns false if an input of the chain may depend on the chain. Only further outputs of its first node can be used
    /// elsewhere; then the later nodes must have no inputs from elsewhere.
    fn has_no_cycle(&self, chain: &[usize]) -> bool {
        let [first, inner @ .., _] = chain else {
            return false;
        };
        let mut later = chain[1..].iter().map(|it| &self.nodes[*it]);
        inner.iter().all(|it| self.uses[*it].others == 0)
            && (self.uses[*first].others == 0 || later.all(|it| it.inputs.len() == 1))
    }
}

impl Uses {
    fn add(&mut self, input: Input<'_>) {
        match input.output {
            Some(0) => self.result += 1,
            Some(_) => self.others += 1,
            None => self.controls += 1,
        }
    }

    /// Returns true if another node than the next one of a chain uses the result, or waits for it.
    fn is_used_elsewhere(self) -> bool {
        self.result != 1 || self.controls > 0
    }
}
