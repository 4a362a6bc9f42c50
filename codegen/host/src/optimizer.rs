//! A plugin's graph optimizer: its registration and its use, with a new optimizer for each graph.

use std::ptr::null_mut;

use crate::call::{Ptr, call, call_with_status};
use crate::core::{self, BufferObject, GrapplerItem};
use crate::graph::GraphDef;
use crate::objects::BorrowedObject;
use crate::plugin::{LoadedPlugin, relocate};
use crate::quirks::Quirks;
use crate::record::GuardedStruct;
use crate::{Error, StatusCode, fault, requirements};

/// The structs that `TF_InitGraph` filled.
pub(crate) struct RegisteredOptimizer {
    pub params: GuardedStruct,
    pub configs: GuardedStruct,
    pub table: GuardedStruct,
    /// Number of parameters of `optimize_func` in this release.
    arguments: usize,
}

impl LoadedPlugin {
    /// Calls `TF_InitGraph`.
    pub fn register_optimizer(&self) -> Result<RegisteredOptimizer, Error> {
        let mut params = self.shapes.record("TP_OptimizerRegistrationParams")?;
        let configs = self.shapes.record("TP_OptimizerConfigs")?;
        let table = self.shapes.record("TP_Optimizer")?;
        params.set_version(self.versions.graph);
        params.set_pointer("optimizer_configs", configs.address());
        params.set_pointer("optimizer", table.address());
        self.call_entry_point(&"TF_InitGraph", &params)?;
        let arguments = table.shape().arguments("optimize_func").unwrap_or(5);
        Ok(RegisteredOptimizer {
            params,
            configs,
            table,
            arguments,
        })
    }
}

/// Returns the graph in the plugin's output buffer, as TensorFlow reads it.
fn graph_in(bytes: &[u8]) -> Result<Vec<u8>, Error> {
    if bytes.is_empty() {
        let text =
            "optimize_func left its output empty, and TensorFlow takes that for an empty graph";
        return Err(Error::Refused(text.into()));
    }
    let unparseable = Error::Status {
        call: "optimize_func".into(),
        code: StatusCode::INVALID_ARGUMENT,
        message: "Unparseable tensorflow.GraphDef proto".into(),
    };
    GraphDef::node_names(bytes)
        .map(|_| bytes.to_vec())
        .ok_or(unparseable)
}

impl RegisteredOptimizer {
    pub fn records(&self) -> [&GuardedStruct; 3] {
        [&self.params, &self.configs, &self.table]
    }

    /// Returns the reasons for which TensorFlow would reject the optimizer.
    pub fn rejections(&self, quirks: Quirks) -> Vec<String> {
        self.records()
            .into_iter()
            .flat_map(|record| requirements::rejections(quirks, record))
            .collect()
    }

    /// Moves the table to a new address, as TensorFlow does.
    pub fn into_loaded(self) -> Self {
        let table = relocate(self.table);
        Self { table, ..self }
    }

    /// Returns the device type of the registration.
    pub fn device_type(&self) -> String {
        self.params.text("device_type").unwrap_or_default()
    }

    /// Returns the configuration's entries that are not at their default, with their values.
    pub fn non_default_entries(&self) -> Vec<(String, u64)> {
        let fields = self.configs.shape().body.fields.iter();
        let entries = fields.filter(|field| !["struct_size", "ext"].contains(&&*field.name));
        entries
            .filter_map(|field| Some((field.name.clone(), self.configs.get(&field.name)?)))
            .filter(|(_, value)| *value != 0)
            .collect()
    }

    /// Creates an optimizer, runs it on the `GraphDef` in `bytes`, destroys it, and returns the optimized graph.
    pub fn optimize(&self, graph: &GraphDef, bytes: &[u8]) -> Result<Vec<u8>, Error> {
        let optimizer = match self.table.get("create_func") {
            Some(0) => null_mut(),
            _ => call!(self.table, "create_func", (): () -> Ptr),
        };
        let result = self.run(optimizer, graph, bytes);
        if self.table.get("destroy_func") != Some(0) {
            call!(self.table, "destroy_func", (optimizer): (Ptr));
        }
        result
    }

    fn run(&self, optimizer: Ptr, graph: &GraphDef, bytes: &[u8]) -> Result<Vec<u8>, Error> {
        let input = BorrowedObject::new(BufferObject::from_bytes(bytes));
        let output = BorrowedObject::new(BufferObject::empty());
        let item = BorrowedObject::new(GrapplerItem(graph.clone()));
        let registered = core::register_item(input.address(), item.address());
        let ran = call_with_status("optimize_func", |status| {
            let (from, to): (Ptr, Ptr) = (input.address().cast(), output.address().cast());
            let item: Ptr = item.address().cast();
            match self.arguments {
                // 2.5 passes no item.
                4 => call!(
                    self.table, "optimize_func",
                    (optimizer, from, to, status): (Ptr, Ptr, Ptr, Ptr)
                ),
                _ => call!(
                    self.table, "optimize_func",
                    (optimizer, from, item, to, status): (Ptr, Ptr, Ptr, Ptr, Ptr)
                ),
            }
            Ok(())
        });
        drop(registered);
        fault::set_current_call(&"a buffer's deallocator");
        drop(item);
        let (input, output) = (input.take(), output.take());
        ran?;
        if input.is_none_or(|input| input.bytes() != bytes) {
            let text = "optimize_func changed its input graph";
            return Err(Error::Refused(text.into()));
        }
        let deleted = || Error::Refused("optimize_func deleted its output buffer".into());
        graph_in(output.ok_or_else(deleted)?.bytes())
    }
}
