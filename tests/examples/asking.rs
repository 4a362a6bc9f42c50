//! A plugin whose graph optimizer asks TensorFlow all that it can be asked, and says what it heard: in
//! the node's own attributes, and on stderr where ASKING_TELLS is set. Where ASKING_PANICS is set it
//! panics.

use sp_cpu::CpuDevice;
use sp_plugin::graph::{Attribute, Inference, Item, TensorProperties};
use sp_plugin::optimizer::{Pass, Switch};
use sp_plugin::{Optimizer, Result};

#[derive(Default)]
struct Asking;

impl Optimizer for Asking {
    const PASSES: &'static [(Pass, Switch)] = &[
        (Pass::ModelPruning, Switch::Off),
        (Pass::Remapping, Switch::Off),
        (Pass::LoopOptimization, Switch::On),
    ];

    fn optimize(&mut self, item: &Item<'_>) -> Result<Option<Vec<u8>>> {
        assert!(
            std::env::var_os("ASKING_PANICS").is_none(),
            "it was told to"
        );
        let mut graph = item.graph()?;
        let (preserved, fetched) = (item.preserved_nodes()?, item.fetched_outputs()?);
        let (shapes, functions) = (item.infer(Inference::default())?, item.functions()?);
        for node in &mut graph.nodes {
            let heard = format!(
                "{} -> {}{}{}, {} bytes of {}",
                list(&shapes.inputs(&node.name)?),
                list(&shapes.outputs(&node.name)?),
                if fetched.contains(&node.name) {
                    ", fetched"
                } else {
                    ""
                },
                if preserved.contains(&node.name) {
                    ", stays"
                } else {
                    ""
                },
                functions
                    .op_def(&node.op)
                    .map_or(0, |definition| definition.len()),
                node.op,
            );
            if std::env::var_os("ASKING_TELLS").is_some() {
                eprintln!("asking: {}: {heard}", node.name);
            }
            let heard = Attribute::from(heard.as_str());
            node.attributes.push(("_heard".to_owned(), heard));
        }
        Ok(Some(graph.to_bytes()))
    }
}

fn list(tensors: &[TensorProperties]) -> String {
    let tensors = tensors.iter().map(|tensor| match &tensor.dims {
        None => format!("{:?} of any shape", tensor.dtype),
        Some(dims) => {
            let dims = dims
                .iter()
                .map(|dim| dim.map_or("?".to_owned(), |dim| dim.to_string()));
            format!(
                "{:?} [{}]",
                tensor.dtype,
                dims.collect::<Vec<_>>().join(" ")
            )
        }
    });
    format!("({})", tensors.collect::<Vec<_>>().join(", "))
}

sp_plugin::plugin! {
    device: CpuDevice,
    device_type: c"ASKING",
    platform_name: c"ASKING",
    kernels: [sp_cpu::kernels::table],
    optimizer: Asking,
}
