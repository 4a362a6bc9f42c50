//! The node that computes what several nodes do: its inputs, its steps and its results.

use super::super::{renumbered, step_text};
use crate::{Attribute, Input, Node};

/// Returns a node with the steps of all of these, of which each follows those that it reads, and with the results of some.
pub(super) fn combined(nodes: &[&Node], results: &[usize]) -> Option<Node> {
    let mut all = Combination::new(nodes);
    for node in nodes {
        all.add(node)?;
    }
    let first = nodes[*results.first()?];
    let results = results.iter().map(|it| all.last_steps.get(*it));
    let results = results.map(|it| i64::try_from(*it?).ok());
    let results: Vec<i64> = results.collect::<Option<_>>()?;
    all.into_node(first, &results)
}

/// Returns the steps of a tree, or `None` for another node.
pub(super) fn steps(node: &Node) -> Option<Vec<&str>> {
    node.attribute("steps")?.as_texts()
}

/// The inputs and steps of nodes.
struct Combination<'a> {
    nodes: &'a [&'a Node],
    /// The inputs from other nodes: those that are data first.
    inputs: Vec<&'a str>,
    /// The number of inputs that are data.
    data: usize,
    steps: Vec<String>,
    /// For each node that was added, its last step.
    last_steps: Vec<usize>,
}

impl<'a> Combination<'a> {
    /// Creates a combination without steps.
    fn new(nodes: &'a [&'a Node]) -> Self {
        let is_inside = |text: &str| {
            let source = Input::parse(text).node;
            nodes.iter().any(|node| node.name == source)
        };
        let texts = nodes.iter().flat_map(|it| &it.inputs).map(String::as_str);
        let outside = texts.filter(|it| !is_inside(it));
        let (controls, data): (Vec<&str>, Vec<&str>) = outside.partition(|it| it.starts_with('^'));
        let mut inputs = Vec::new();
        for text in data.into_iter().chain(controls) {
            if !inputs.contains(&text) {
                inputs.push(text);
            }
        }
        let data = inputs.iter().filter(|it| !it.starts_with('^')).count();
        Self {
            nodes,
            inputs,
            data,
            steps: Vec::new(),
            last_steps: Vec::new(),
        }
    }

    /// Adds the steps of the next node. Returns `None` if it reads a node that was not added.
    fn add(&mut self, node: &Node) -> Option<()> {
        let operands = node.inputs.iter().filter(|it| !it.starts_with('^'));
        let numbers = operands.map(|it| self.number(it));
        let numbers: Vec<usize> = numbers.collect::<Option<_>>()?;
        let first = self.data + self.steps.len();
        match steps(node) {
            None => self.steps.push(step_text(&node.op, numbers)),
            Some(steps) => {
                let steps = steps.iter().map(|it| renumbered(it, &numbers, first));
                self.steps.extend(steps);
            }
        }
        self.last_steps.push(self.steps.len() - 1);
        Some(())
    }

    /// Returns the number of an operand: an input, or the last step of a node.
    fn number(&self, text: &str) -> Option<usize> {
        let source = Input::parse(text).node;
        match self.nodes.iter().position(|it| it.name == source) {
            Some(node) => self.last_steps.get(node).map(|step| self.data + step),
            None => self.inputs.iter().position(|it| *it == text),
        }
    }

    /// Returns the node, with the name, device and type of another one.
    fn into_node(self, like: &Node, results: &[i64]) -> Option<Node> {
        let steps: Vec<&str> = self.steps.iter().map(String::as_str).collect();
        let mut node = like.clone();
        node.op = super::OP.into();
        node.attributes.retain(|(name, _)| name == "T");
        node.attributes.extend([
            ("N".into(), i64::try_from(self.data).ok()?.into()),
            ("M".into(), i64::try_from(results.len()).ok()?.into()),
            ("steps".into(), Attribute::from(&steps[..])),
            ("results".into(), Attribute::from(results)),
        ]);
        node.inputs = self.inputs.into_iter().map(String::from).collect();
        Some(node)
    }
}
