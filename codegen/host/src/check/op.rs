//! Ops that the plugin defines.

use super::session::{Session, ensure, unregistered};
use crate::core::{OpDef, defined};
use crate::objects::Tally;
use crate::outcome::{Seen, Stop};

/// Every shape function copes with inputs of which nothing is known, and of which something is.
pub(super) fn shapes(session: &Session<'_>) -> Seen {
    let plugin = session.load()?;
    for name in plugin.entry_points() {
        match name {
            "SE_InitPlugin" => drop(plugin.register().map_err(unregistered)?),
            "TF_InitKernel" => plugin.register_kernels(),
            _ => {}
        }
    }
    let ops = defined();
    if ops.is_empty() {
        return Err(Stop::Skip("the plugin defines no op".into()));
    }
    for op in &ops {
        judge(op)?;
    }
    let names: Vec<&str> = ops.iter().map(|op| op.name.as_str()).collect();
    Ok(names.join(" "))
}

fn judge(op: &OpDef) -> Result<(), Stop> {
    let count = op.inputs.len();
    // Where nothing is known nothing can be wrong; of a shape that is known the function may say so.
    op.infer(vec![None; count])?;
    for rank in 0..4 {
        let inputs = vec![Some(vec![2; rank]); count];
        let _may_be_refused = op.infer(inputs);
    }
    let tally = Tally::now().of_the_plugin();
    ensure(tally.is_clean(), || format!("{}: {tally}", op.name))
}
