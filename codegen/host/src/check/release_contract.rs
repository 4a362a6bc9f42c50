//! Reports the structs that a plugin fills during registration to the parent, which compares them with other
//! releases.

use sp_ir::Writer;

use super::session::{CheckSession, skip_unregistered};
use crate::channel::{self, kind};
use crate::contract::FilledStruct;
use crate::outcome::{CheckResult, Stop};
use crate::plugin::LoadedPlugin;
use crate::record::GuardedStruct;

/// The id of the check that compares releases.
pub(crate) const RELEASE_CONTRACT: &str = "release_contract";

/// Reports every struct. The parent decides the outcome.
pub(super) fn structs(session: &CheckSession<'_>) -> CheckResult {
    let plugin = session.load()?;
    for name in plugin.entry_points() {
        match name {
            "SE_InitPlugin" => device(&plugin)?,
            "TF_InitGraph" => {
                let optimizer = plugin.register_optimizer().map_err(skip_unregistered)?;
                optimizer.records().into_iter().for_each(report);
            }
            "TF_InitProfiler" => {
                let profiler = plugin.register_profiler().map_err(skip_unregistered)?;
                profiler.records().into_iter().for_each(report);
            }
            _ => {}
        }
    }
    let text = "compared with other releases by sp-gen verify only";
    Err(Stop::Skip(text.into()))
}

fn device(plugin: &LoadedPlugin) -> Result<(), Stop> {
    let registration = plugin.register().map_err(skip_unregistered)?;
    report(&registration.params);
    report(&registration.platform);
    report(&registration.platform_fns);
    let platform = registration
        .into_loaded(&plugin.shapes)
        .map_err(skip_unregistered)?;
    report(&platform.device_fns);
    report(&platform.table);
    Ok(())
}

fn report(record: &GuardedStruct) {
    let shape = record.shape();
    let Some(size) = record.get("struct_size").filter(|size| *size != 0) else {
        return;
    };
    let fields = shape.body.fields.iter().zip(&shape.writers);
    let own = fields.filter(|(field, writer)| {
        let is_own = **writer != Some(Writer::Core) && field.name != "struct_size";
        is_own && record.get(&field.name).is_some_and(|value| value != 0)
    });
    let written = FilledStruct {
        name: shape.name.to_owned(),
        size,
        offsets: own.map(|(field, _)| field.offset).collect(),
    };
    channel::send(kind::WRITTEN, &written.to_string());
}
