//! Checks of ops that the plugin defines.

use super::session::{CheckSession, ensure, skip_unregistered};
use crate::core::{OpDefinition, defined};
use crate::objects::ObjectReport;
use crate::outcome::{CheckResult, Stop};

/// Every shape function accepts inputs of unknown and of known shapes.
pub(super) fn shapes(session: &CheckSession<'_>) -> CheckResult {
    let plugin = session.load()?;
    for name in plugin.entry_points() {
        match name {
            "SE_InitPlugin" => drop(plugin.register().map_err(skip_unregistered)?),
            "TF_InitKernel" => plugin.register_kernels(),
            _ => {}
        }
    }
    let ops = defined();
    if ops.is_empty() {
        return Err(Stop::Skip("the plugin defines no op".into()));
    }
    for op in &ops {
        check_shape_function(op)?;
    }
    let names: Vec<&str> = ops.iter().map(|op| op.name.as_str()).collect();
    Ok(format!(
        "the shape functions of {} accept any shape",
        names.join(", ")
    ))
}

fn check_shape_function(op: &OpDefinition) -> Result<(), Stop> {
    let count = op.inputs.len();
    // Unknown shapes must be accepted. A known shape may be rejected.
    op.infer(vec![None; count])?;
    for rank in 0..4 {
        let inputs = vec![Some(vec![2; rank]); count];
        let _may_be_rejected = op.infer(inputs);
    }
    let tally = ObjectReport::now().without_unimplemented();
    ensure(tally.is_clean(), || format!("{}: {tally}", op.name))
}
