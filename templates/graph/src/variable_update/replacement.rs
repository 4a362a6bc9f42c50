//! The nodes that replace one that uses a variable.

use super::ops::{Computation, VariableOp};
use crate::assignment::{self, AssignUpdate, UpdateStep};
use crate::{Attribute, Node, TypeNumber};

const INT32: TypeNumber = TypeNumber::INT32;
/// The attributes of a slice as Python writes it.
const MASKS: [&str; 5] = [
    "begin_mask",
    "end_mask",
    "ellipsis_mask",
    "new_axis_mask",
    "shrink_axis_mask",
];

/// Replaces the node by one of the same name. Returns the nodes that it needs, or `None` if it is not replaced: the plugin
/// lacks a kernel, or the node is not one that TensorFlow accepts.
pub fn replace(
    node: &mut Node,
    op: &VariableOp,
    has_kernel: impl Fn(&str, &[(&str, TypeNumber)]) -> bool,
) -> Option<Vec<Node>> {
    let (dtype, computation) = (node.attribute(op.dtype)?.clone(), op.computation);
    let index_type = node.attribute("Tindices").and_then(Attribute::as_type);
    let types = [
        (computation.dtype(), dtype.as_type()?),
        ("Tindices", index_type.unwrap_or(INT32)),
        ("Taxis", INT32),
        ("Tnumsegments", INT32),
    ];
    let has_kernels = computation.ops().iter().all(|it| has_kernel(it, &types));
    (has_kernels && is_supported(node, op))
        .then(|| Replacement::new(node, dtype).replace(computation))
}

/// Returns true if the node has the op's inputs. A negative number of batch dims counts from those of the indices, which no
/// axis of `GatherV2` does.
fn is_supported(node: &Node, op: &VariableOp) -> bool {
    let inputs = node.inputs().filter(|it| it.output.is_some());
    let batch_dims = node.attribute("batch_dims").and_then(Attribute::as_int);
    inputs.count() == op.computation.inputs() && batch_dims.unwrap_or(0) >= 0
}

struct Replacement<'a> {
    node: &'a mut Node,
    dtype: Attribute,
    /// The data inputs after the variable.
    inputs: Vec<String>,
    added: Vec<Node>,
}

impl<'a> Replacement<'a> {
    fn new(node: &'a mut Node, dtype: Attribute) -> Self {
        let inputs = node.inputs[1..].iter().cloned();
        let inputs = inputs.filter(|it| !it.starts_with('^')).collect();
        Self {
            node,
            dtype,
            inputs,
            added: Vec::new(),
        }
    }

    fn replace(mut self, computation: Computation) -> Vec<Node> {
        match computation {
            Computation::Updated(update) => self.assign_updated(update),
            Computation::ChangedRows(op) => self.assign_changed(op, true),
            Computation::ScaledRows(op) => self.assign_scaled(op),
            Computation::ChangedSlices(op) => self.assign_changed(op, false),
            Computation::ChangedStridedSlice => self.assign_changed_strided_slice(),
            Computation::Rows => self.become_gather(),
            Computation::Slices => self.become_gather_nd(),
        }
        self.added
    }

    fn assign_updated(&mut self, update: AssignUpdate) {
        let read = self.read();
        let change = self.inputs[0].clone();
        let updated = update.new_value(&read, change, |step, operands| {
            let dtype = ("T", self.dtype.clone());
            match step {
                UpdateStep::Negate => self.add("negated", step.op(), operands, [dtype]),
                UpdateStep::Add => {
                    let count = ("N", Attribute::from(2));
                    self.add("sum", step.op(), operands, [dtype, count])
                }
            }
        });
        assignment::become_assignment(self.node, self.dtype.clone(), updated);
    }

    /// The indices of rows get a last dimension of one item, so that each is the index of a slice.
    fn assign_changed(&mut self, op: &str, is_of_rows: bool) {
        let read = self.read();
        let [mut indices, updates] = [0, 1].map(|n| self.inputs[n].clone());
        let index_type = self.attribute("Tindices", INT32);
        if is_of_rows {
            let dim = self.constant("dim", -1);
            let attributes = [("T", index_type.clone()), ("Tdim", INT32.into())];
            indices = self.add("indices", "ExpandDims", vec![indices, dim], attributes);
        }
        let attributes = [("T", self.dtype.clone()), ("Tindices", index_type)];
        let inputs = vec![read, indices, updates];
        let attributes = attributes.into_iter().chain(self.policy());
        let changed = self.add("changed", op, inputs, attributes);
        assignment::become_assignment(self.node, self.dtype.clone(), changed);
    }

    /// A row without updates has the product 1.
    fn assign_scaled(&mut self, op: &str) {
        let read = self.read();
        let [indices, updates] = [0, 1].map(|n| self.inputs[n].clone());
        let rows = self.rows(&read);
        let dtype = || ("T", self.dtype.clone());
        let attributes = [
            dtype(),
            ("Tindices", self.attribute("Tindices", INT32)),
            ("Tnumsegments", INT32.into()),
        ];
        let scaled_attributes = [dtype()];
        let inputs = vec![updates, indices, rows];
        let product = self.add("product", "UnsortedSegmentProd", inputs, attributes);
        let scaled = self.add("scaled", op, vec![read, product], scaled_attributes);
        assignment::become_assignment(self.node, self.dtype.clone(), scaled);
    }

    /// Adds the number of rows of a tensor, a scalar in host memory.
    fn rows(&mut self, tensor: &str) -> String {
        let attributes = [("T", self.dtype.clone()), ("out_type", INT32.into())];
        let shape = self.add("shape", "Shape", vec![tensor.to_owned()], attributes);
        let vectors = [("first", 0), ("end", 1)];
        let [zero, one] = vectors.map(|(name, it)| self.push(super::vector(self.node, name, it)));
        let inputs = vec![shape, zero, one.clone(), one];
        let attributes = [
            ("T", INT32.into()),
            ("Index", INT32.into()),
            ("shrink_axis_mask", Attribute::from(1)),
        ];
        self.add("rows", "StridedSlice", inputs, attributes)
    }

    fn assign_changed_strided_slice(&mut self) {
        let mut inputs = vec![self.read()];
        inputs.extend(self.inputs.iter().cloned());
        let mut attributes = vec![
            ("T", self.dtype.clone()),
            ("Index", self.attribute("Index", INT32)),
        ];
        attributes.extend(MASKS.map(|name| (name, self.attribute(name, 0))));
        let changed = self.add("changed", "TensorStridedSliceUpdate", inputs, attributes);
        assignment::become_assignment(self.node, self.dtype.clone(), changed);
    }

    fn become_gather(&mut self) {
        let read = self.read();
        let batch_dims = self.attribute("batch_dims", 0);
        let axis = self.constant("axis", batch_dims.as_int().unwrap_or(0));
        let attributes = [
            ("Tparams", self.dtype.clone()),
            ("Tindices", self.attribute("Tindices", INT32)),
            ("Taxis", INT32.into()),
            ("batch_dims", batch_dims),
        ];
        let inputs = vec![read, self.inputs[0].clone(), axis];
        assignment::become_op(self.node, "GatherV2", inputs, attributes);
    }

    fn become_gather_nd(&mut self) {
        let read = self.read();
        let attributes = [
            ("Tparams", self.dtype.clone()),
            ("Tindices", self.attribute("Tindices", INT32)),
        ];
        let inputs = vec![read, self.inputs[0].clone()];
        let attributes = attributes.into_iter().chain(self.policy());
        assignment::become_op(self.node, "GatherNd", inputs, attributes);
    }

    /// Returns what the node does with indices outside of the variable. Ops of rows have no such attribute.
    fn policy(&self) -> Option<(&'static str, Attribute)> {
        let name = "bad_indices_policy";
        self.node.attribute(name).map(|it| (name, it.clone()))
    }

    /// Adds a read of the variable, after all that the node waits for.
    fn read(&mut self) -> String {
        let sources = self.node.inputs().skip(1).map(|it| it.node);
        let read = assignment::read_after(self.node, self.dtype.clone(), sources);
        self.push(read)
    }

    /// Adds a constant, and returns its name.
    fn constant(&mut self, suffix: &str, value: i64) -> String {
        let constant = super::constant(self.node, suffix, value);
        self.push(constant)
    }

    /// Adds a node on the node's device, and returns its name.
    fn add<'n>(
        &mut self,
        suffix: &str,
        op: &str,
        inputs: Vec<String>,
        attributes: impl IntoIterator<Item = (&'n str, Attribute)>,
    ) -> String {
        let mut new = assignment::added_node(self.node, suffix, op);
        new.inputs = inputs;
        new.attributes.extend(assignment::named(attributes));
        self.push(new)
    }

    /// Adds a node, and returns its name.
    fn push(&mut self, new: Node) -> String {
        let name = new.name.clone();
        self.added.push(new);
        name
    }

    /// Returns the attribute of the node, or the default value.
    fn attribute(&self, name: &str, default: impl Into<Attribute>) -> Attribute {
        let found = self.node.attribute(name).cloned();
        found.unwrap_or_else(|| default.into())
    }
}
