//! Checks of ops that the plugin defines.

use std::collections::{BTreeMap, BTreeSet};

use super::session::{CheckSession, ensure, skip_unregistered};
use crate::core::{OpDefinition, defined};
use crate::dtype::DType;
use crate::objects::ObjectReport;
use crate::outcome::{CheckResult, Stop};
use crate::quirks::Quirks;

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
        check_shape_function(op, plugin.quirks)?;
    }
    let names: Vec<&str> = ops.iter().map(|it| it.op.name.as_str()).collect();
    Ok(format!(
        "the shape functions of {} accept any shape",
        names.join(", ")
    ))
}

fn check_shape_function(op: &OpDefinition, quirks: Quirks) -> Result<(), Stop> {
    for list in 0..3 {
        let (count, _) = op.tensor_counts(list);
        for types in choices_of_types(op) {
            // Unknown shapes must be accepted. A known shape may be rejected.
            op.infer(vec![None; count], types.clone(), quirks)?;
            for rank in 0..4 {
                for size in [-1, 0, 2] {
                    let inputs = vec![Some(vec![size; rank]); count];
                    let _may_be_rejected = op.infer(inputs, types.clone(), quirks);
                }
            }
        }
    }
    let tally = ObjectReport::now().without_unimplemented();
    ensure(tally.is_clean(), || format!("{}: {tally}", op.op.name))
}

/// Returns values of the type attributes: the first and the last type that each allows, in all combinations.
fn choices_of_types(op: &OpDefinition) -> Vec<BTreeMap<String, DType>> {
    let mut choices = vec![BTreeMap::new()];
    for (name, allowed) in op.type_attrs() {
        let ends: BTreeSet<DType> = [allowed.first(), allowed.last()]
            .into_iter()
            .flatten()
            .copied()
            .collect();
        choices = choices
            .iter()
            .flat_map(|choice| {
                let with = |dtype: &DType| {
                    let mut choice: BTreeMap<String, DType> = choice.clone();
                    choice.insert(name.to_owned(), *dtype);
                    choice
                };
                ends.iter().map(with).collect::<Vec<_>>()
            })
            .collect();
    }
    choices
}
