//! Answers to the questions of sp-graph's passes, from the registered kernels and from TensorFlow.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::ffi::CStr;

use sp_abi::tf_datatype::TF_DataType;
use sp_graph::{GraphFacts, InferredDim, Kernels, StepOperands, TypeNumber};

use crate::graph::{Inference, Item, Properties};
use crate::kernel;

/// The kernels that the plugin has registered.
pub(super) struct RegisteredKernels;

impl Kernels for RegisteredKernels {
    fn has(&self, op: &str, types: &[(&str, TypeNumber)]) -> bool {
        kernel::is_registered(op, types)
    }

    fn first_table(&self, op: &str, dtype: TypeNumber) -> Option<usize> {
        kernel::first_table(op, TF_DataType(dtype.0))
    }

    fn may_select(&self, op: &str, label: &CStr) -> bool {
        kernel::may_select(op, label)
    }

    fn step_operands(&self, op: &str, dtype: TypeNumber) -> Option<StepOperands> {
        kernel::step_operands(op, TF_DataType(dtype.0))
    }

    fn is_activation(&self, op: &str, dtype: TypeNumber) -> bool {
        kernel::is_activation(op, TF_DataType(dtype.0))
    }
}

/// Facts of the graph of an item.
pub(super) struct ItemFacts<'i, 'a> {
    item: &'i Item<'a>,
    /// The inferred properties; `None` of a graph that TensorFlow does not have, and if the inference fails.
    properties: OnceCell<Option<Properties<'a>>>,
}

impl<'i, 'a> ItemFacts<'i, 'a> {
    /// Returns the facts of a graph, which is the one of the item if `is_of_item` is true. TensorFlow infers shapes of that
    /// one only.
    pub fn new(item: &'i Item<'a>, is_of_item: bool) -> Self {
        let properties = match is_of_item {
            true => OnceCell::new(),
            false => OnceCell::from(None),
        };
        Self { item, properties }
    }

    fn properties(&self) -> Option<&Properties<'a>> {
        let infer = || self.item.infer(Inference::default()).ok();
        self.properties.get_or_init(infer).as_ref()
    }
}

impl GraphFacts for ItemFacts<'_, '_> {
    fn preserved_nodes(&self) -> Option<BTreeSet<String>> {
        self.item.preserved_nodes().ok()
    }

    fn has_shapes(&self) -> bool {
        self.properties().is_some()
    }

    fn dims(&self, node: &str) -> Option<Vec<InferredDim>> {
        let outputs = self.properties()?.outputs(node).ok()?;
        outputs.into_iter().next()?.dims
    }
}
