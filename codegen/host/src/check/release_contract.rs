//! The structs that a plugin fills while it is registered, reported to the parent, which has the other
//! releases to compare them with.

use sp_ir::Writer;

use super::session::{Session, unregistered};
use crate::child::channel::{self, kind};
use crate::contract::FilledStruct;
use crate::outcome::{Seen, Stop};
use crate::plugin::Plugin;
use crate::record::Record;

/// The id of the check that compares releases.
pub(crate) const CONTRACT: &str = "release_contract";

/// Reports every struct. Alone it finds nothing.
pub(super) fn structs(session: &Session<'_>) -> Seen {
    let plugin = session.load()?;
    for name in plugin.entry_points() {
        match name {
            "SE_InitPlugin" => device(&plugin)?,
            "TF_InitGraph" => {
                let optimizer = plugin.register_optimizer().map_err(unregistered)?;
                optimizer.records().into_iter().for_each(report);
            }
            "TF_InitProfiler" => {
                let profiler = plugin.register_profiler().map_err(unregistered)?;
                profiler.records().into_iter().for_each(report);
            }
            _ => {}
        }
    }
    let text = "compared with other releases by sp-gen verify only";
    Err(Stop::Skip(text.into()))
}

fn device(plugin: &Plugin) -> Result<(), Stop> {
    let registration = plugin.register().map_err(unregistered)?;
    report(&registration.params);
    report(&registration.platform);
    report(&registration.platform_fns);
    let platform = registration.adopt(&plugin.shapes).map_err(unregistered)?;
    report(&platform.device_fns);
    report(&platform.table);
    Ok(())
}

fn report(record: &Record) {
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
