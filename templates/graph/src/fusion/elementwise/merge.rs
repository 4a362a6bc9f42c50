//! Trees that are merged into one node with several results. A recurrent layer's gradient reads its gates, so these end
//! trees, although one pass over memory can compute and store all of them.
//!
//! Trees are merged if no path through another node leads from one to the other, and if both run in one loop and
//! under the same conditions (`fusion/flow.rs`): a node is dead if one of its inputs is. If results turn out to have
//! several shapes, the kernel computes each alone.

mod combination;

use std::collections::{HashMap, HashSet};

use super::{KnownShape, MAX_STEPS, shape_of};
use crate::fusion::{Rules, chain::Links, flow::Flow};
use crate::{Graph, Input, Node};

/// The op of the new nodes. `steps` is that of trees; `results` has the numbers of the steps that are results.
pub const OP: &str = crate::ops::ELEMENTWISE_RESULTS;

/// The most nodes that the search for paths visits in a graph. Then no more trees are merged.
const MAX_VISITS: usize = 2_000_000;

/// Parts of the names of ops that add to a queue or another container, or close it. No edge connects them with the ops that
/// remove from it.
const CONTAINER_INSERTIONS: [&str; 7] = [
    "Enqueue",
    "QueueClose",
    "BarrierInsert",
    "BarrierClose",
    "Stage",
    "AccumulatorApplyGradient",
    "CollectiveBcastSend",
];

/// Parts of the names of ops that wait for such an op.
const CONTAINER_REMOVALS: [&str; 8] = [
    "Dequeue",
    "ReaderRead",
    "BarrierTake",
    "Unstage",
    "StagePeek",
    "MapPeek",
    "AccumulatorTakeGradient",
    "CollectiveBcastRecv",
];

/// Merges trees, and single nodes, that read each other's results. Returns true if there were any.
pub(in crate::fusion) fn fuse_in(graph: &mut Graph, ops: &[&str], rules: &Rules<'_>) -> bool {
    let merged = Groups::find(graph, ops, rules);
    let is_changed = !merged.is_empty();
    let names: Vec<Vec<String>> = merged.iter().map(|it| it.names(graph)).collect();
    for group in merged {
        group.replace_members(graph);
    }
    graph.nodes.retain(|node| !node.op.is_empty());
    let results = names
        .iter()
        .flat_map(|names| (0..).zip(names).map(|(i, it)| (&**it, (&*names[0], i))));
    let results: HashMap<&str, (&str, usize)> = results.collect();
    for node in &mut graph.nodes {
        rename_inputs(node, &results);
    }
    is_changed
}

/// The groups of nodes. Each node is in one, most of them alone.
struct Groups<'g> {
    graph: &'g Graph,
    links: Links<'g>,
    flow: Flow,
    rules: &'g Rules<'g>,
    /// For each node, those that read a result of it or wait for it.
    readers: Vec<Vec<usize>>,
    /// For each node that can be in a group, its shape as far as it is known.
    shapes: Vec<Option<KnownShape>>,
    /// For each node, its group.
    group: Vec<usize>,
    /// For each group, its nodes, each after those that it reads.
    members: Vec<Vec<usize>>,
    /// For each group, the number of the last search that has visited it.
    visited: Vec<usize>,
    searches: usize,
    visits: usize,
}

impl<'g> Groups<'g> {
    /// Returns the nodes that replace groups of several.
    fn find(graph: &'g Graph, ops: &[&str], rules: &'g Rules<'g>) -> Vec<Merged> {
        let shapes: Vec<_> = graph.nodes.iter().map(|it| shape(it, ops, rules)).collect();
        let links = Links::new(graph);
        let is_possible = shapes.iter().flatten().count() > 1;
        let flow = is_possible.then(|| Flow::new(graph, &links)).flatten();
        let Some(flow) = flow else { return Vec::new() };
        let count = graph.nodes.len();
        let mut groups = Self {
            readers: readers(graph, &links),
            graph,
            links,
            flow,
            rules,
            shapes,
            group: (0..count).collect(),
            members: (0..count).map(|it| vec![it]).collect(),
            visited: vec![0; count],
            searches: 0,
            visits: 0,
        };
        groups.merge_all();
        let several = groups.members.iter().filter(|it| it.len() > 1);
        several.filter_map(|it| groups.merged(it)).collect()
    }

    fn merge_all(&mut self) {
        for reader in 0..self.graph.nodes.len() {
            for source in self.sources(reader) {
                let [from, to] = [source, reader].map(|it| self.group[it]);
                if from != to && self.can_merge([source, reader], [from, to]) {
                    self.merge([from, to]);
                }
            }
        }
    }

    /// Returns the nodes that can be in a group and whose results a node reads, if it can be in one.
    fn sources(&self, reader: usize) -> Vec<usize> {
        let node = &self.graph.nodes[reader];
        let inputs = node.inputs().filter(|it| it.output == Some(0));
        let sources = inputs.filter_map(|it| self.links.position(it.node));
        let can_merge = |it: &usize| self.shapes[*it].is_some() && self.shapes[reader].is_some();
        sources.filter(can_merge).collect()
    }

    /// Returns true if the groups of two nodes, of which the second one reads the first, can be one.
    fn can_merge(&mut self, nodes: [usize; 2], [from, to]: [usize; 2]) -> bool {
        let [a, b] = nodes.map(|it| &self.graph.nodes[it]);
        let is_alike = a.device == b.device
            && a.attribute("T") == b.attribute("T")
            && self.flow.have_equal_conditions(nodes)
            && self.shapes_may_be_equal([from, to]);
        let members = || self.members[from].iter().chain(&self.members[to]);
        let steps: usize = members().map(|it| step_count(&self.graph.nodes[*it])).sum();
        let is_preserved =
            |it: &&usize| self.rules.preserved.contains(&self.graph.nodes[**it].name);
        is_alike
            && steps <= MAX_STEPS
            && members().filter(is_preserved).count() <= 1
            && !self.has_other_path([from, to])
    }

    fn shapes_may_be_equal(&self, [from, to]: [usize; 2]) -> bool {
        let mut pairs =
            (self.members[from].iter()).flat_map(|a| self.members[to].iter().map(move |b| (a, b)));
        pairs.all(|(a, b)| match (&self.shapes[*a], &self.shapes[*b]) {
            (Some(a), Some(b)) => a.may_equal(b),
            _ => false,
        })
    }

    fn merge(&mut self, [from, to]: [usize; 2]) {
        let mut members = std::mem::take(&mut self.members[from]);
        members.iter().for_each(|it| self.group[*it] = to);
        members.append(&mut self.members[to]);
        self.members[to] = members;
    }

    /// Returns true if a result of one group reaches the other one through a third one: then one node for both would wait for
    /// itself.
    fn has_other_path(&mut self, [from, to]: [usize; 2]) -> bool {
        self.searches += 1;
        let loop_member = self.members[from][0];
        let mut next = vec![from];
        while let Some(group) = next.pop() {
            for member in 0..self.members[group].len() {
                let member = self.members[group][member];
                let node = &self.graph.nodes[member];
                if self.flow.ends_iteration(node, member, loop_member) {
                    continue;
                }
                self.visits += self.readers[member].len();
                let readers = self.readers[member].iter().map(|it| self.group[*it]);
                let is_direct = group == from;
                for reader in readers.filter(|it| *it != from && !(is_direct && *it == to)) {
                    if reader == to || self.visits > MAX_VISITS {
                        return true;
                    }
                    if self.visited[reader] != self.searches {
                        self.visited[reader] = self.searches;
                        next.push(reader);
                    }
                }
            }
        }
        false
    }

    /// Returns the node that replaces a group. Its first result has the name of a preserved node, if there is one.
    fn merged(&self, members: &[usize]) -> Option<Merged> {
        let nodes: Vec<&Node> = members.iter().map(|it| &self.graph.nodes[*it]).collect();
        let inside: HashSet<usize> = members.iter().copied().collect();
        let is_preserved = |it: &usize| self.rules.preserved.contains(&self.graph.nodes[*it].name);
        let data = nodes.iter().flat_map(|it| it.inputs());
        let data = data.filter(|it| it.output.is_some());
        let read: HashSet<usize> = data.filter_map(|it| self.links.position(it.node)).collect();
        // The kernel rejects a step that is no result and that no step reads: its node is unread, or only waited for.
        let is_result = |it: &usize| {
            is_preserved(it)
                || !read.contains(it)
                || self.readers[*it].iter().any(|it| !inside.contains(it))
        };
        let mut results: Vec<usize> = (0..members.len())
            .filter(|it| is_result(&members[*it]))
            .collect();
        results.sort_by_key(|it| (!is_preserved(&members[*it]), members.len() - it));
        let node = combination::combined(&nodes, &results)?;
        Some(Merged {
            members: members.to_vec(),
            results: results.iter().map(|it| members[*it]).collect(),
            node,
        })
    }
}

/// Returns the shape of a tree, or of a node that can be in one.
fn shape(node: &Node, ops: &[&str], rules: &Rules<'_>) -> Option<KnownShape> {
    let dtype = node.attribute("T")?.as_type()?;
    let has_kernel = (rules.first_table)(OP, dtype) == (rules.first_table)(super::OP, dtype);
    if !has_kernel {
        return None;
    }
    match node.op == super::OP && node.device_type() == Some(rules.device_type) {
        true => Some(KnownShape((rules.shapes)(&node.name))),
        false => shape_of(node, ops, rules),
    }
}

/// Returns for each node those that read it or wait for it. Ops that remove from a container wait for all ops that add to one.
fn readers(graph: &Graph, links: &Links<'_>) -> Vec<Vec<usize>> {
    let mut readers = vec![Vec::new(); graph.nodes.len()];
    let positions = |parts: &[&str]| {
        let nodes = graph.nodes.iter().enumerate();
        let found = nodes.filter(|(_, it)| parts.iter().any(|part| it.op.contains(part)));
        found.map(|(position, _)| position).collect::<Vec<usize>>()
    };
    let removing = positions(&CONTAINER_REMOVALS);
    let adding = positions(&CONTAINER_INSERTIONS);
    // `StagePeek` has a part of each kind in its name.
    for adding in adding.into_iter().filter(|it| !removing.contains(it)) {
        readers[adding].extend(&removing);
    }
    for (reader, node) in graph.nodes.iter().enumerate() {
        for source in node.inputs().filter_map(|it| links.position(it.node)) {
            readers[source].push(reader);
        }
    }
    readers
}

fn step_count(node: &Node) -> usize {
    combination::steps(node).map_or(1, |it| it.len())
}

/// A node that replaces others.
struct Merged {
    members: Vec<usize>,
    /// The members whose results are those of the node, in order.
    results: Vec<usize>,
    node: Node,
}

impl Merged {
    /// Returns the names of the results.
    fn names(&self, graph: &Graph) -> Vec<String> {
        let results = self.results.iter();
        results.map(|it| graph.nodes[*it].name.clone()).collect()
    }

    fn replace_members(self, graph: &mut Graph) {
        for member in &self.members {
            graph.nodes[*member].op.clear();
        }
        graph.nodes[self.results[0]] = self.node;
    }
}

/// Replaces the inputs that were results of single nodes, each by a new node and the number of its output.
fn rename_inputs(node: &mut Node, results: &HashMap<&str, (&str, usize)>) {
    for text in &mut node.inputs {
        let input = Input::parse(text);
        if let Some((name, result)) = results.get(input.node) {
            *text = match (input.output, result) {
                (None, _) => format!("^{name}"),
                (_, 0) => (*name).into(),
                (_, result) => format!("{name}:{result}"),
            };
        }
    }
    // Several nodes that it has waited for may be one now.
    let mut controls = HashSet::new();
    (node.inputs).retain(|it| !it.starts_with('^') || controls.insert(it.clone()));
}
