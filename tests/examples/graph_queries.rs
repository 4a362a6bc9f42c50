//! A plugin whose graph optimizer makes every query that the C API has, and writes the answers to each
//! node's attribute `_answers`. With GRAPH_QUERIES_PRINT set it also prints them; with GRAPH_QUERIES_PANIC
//! set it panics.

use sp_cpu::CpuDevice;
use sp_plugin::graph::{Attribute, Inference, Item, TensorProperties};
use sp_plugin::kernel::DataType;
use sp_plugin::optimizer::{Pass, Switch};
use sp_plugin::{Optimizer, Result};

#[derive(Default)]
struct GraphQueries;

impl Optimizer for GraphQueries {
    const PASSES: &'static [(Pass, Switch)] = &[
        (Pass::ModelPruning, Switch::Off),
        (Pass::Remapping, Switch::Off),
        (Pass::LoopOptimization, Switch::On),
    ];

    fn optimize(&mut self, item: &Item<'_>) -> Result<Option<Vec<u8>>> {
        assert!(
            std::env::var_os("GRAPH_QUERIES_PANIC").is_none(),
            "GRAPH_QUERIES_PANIC is set"
        );
        let mut graph = item.graph()?;
        let (preserved, fetched) = (item.preserved_nodes()?, item.fetched_outputs()?);
        let (shapes, functions) = (item.infer(Inference::default())?, item.functions()?);
        for node in &mut graph.nodes {
            let answers = format!(
                "{} -> {}{}{}, {} bytes of {}",
                list(&shapes.inputs(&node.name)?),
                list(&shapes.outputs(&node.name)?),
                if fetched.contains(&node.name) {
                    ", fetched"
                } else {
                    ""
                },
                if preserved.contains(&node.name) {
                    ", preserved"
                } else {
                    ""
                },
                functions
                    .op_def(&node.op)
                    .map_or(0, |definition| definition.len()),
                node.op,
            );
            if std::env::var_os("GRAPH_QUERIES_PRINT").is_some() {
                eprintln!("plugin graph_queries: {}: {answers}", node.name);
            }
            let answers = Attribute::from(answers.as_str());
            node.attributes.push(("_answers".to_owned(), answers));
        }
        Ok(Some(graph.to_bytes()))
    }
}

/// Returns the types and shapes as text, with `?` for an unknown dimension.
fn list(tensors: &[TensorProperties]) -> String {
    let tensors = tensors.iter().map(|tensor| match &tensor.dims {
        None => format!("{:?} of any shape", DataType(tensor.dtype.0)),
        Some(dims) => {
            let dims = dims
                .iter()
                .map(|dim| dim.size().map_or("?".to_owned(), |dim| dim.to_string()));
            format!(
                "{:?} [{}]",
                DataType(tensor.dtype.0),
                dims.collect::<Vec<_>>().join(" ")
            )
        }
    });
    format!("({})", tensors.collect::<Vec<_>>().join(", "))
}

sp_plugin::plugin! {
    device: CpuDevice,
    device_type: c"GRAPH_QUERIES",
    platform_name: c"GRAPH_QUERIES",
    kernels: [sp_cpu::kernels::table],
    optimizer: GraphQueries,
}
