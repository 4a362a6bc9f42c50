//! The profiler.

use super::session::{CheckSession, ensure, skip_unregistered};
use crate::host::register_checked_profiler;
use crate::outcome::{CheckResult, Stop};
use crate::plugin::LoadedPlugin;
use crate::profiler::RegisteredProfiler;
use crate::proto;
use crate::requirements;

fn plugin(session: &CheckSession<'_>) -> Result<LoadedPlugin, Stop> {
    session.with("TF_InitProfiler")
}

fn profiler(session: &CheckSession<'_>) -> Result<RegisteredProfiler, Stop> {
    register_checked_profiler(&plugin(session)?).map_err(skip_unregistered)
}

pub(super) fn registered(session: &CheckSession<'_>) -> CheckResult {
    let profiler = plugin(session)?
        .register_profiler()
        .map_err(skip_unregistered)?;
    let records = profiler.records().into_iter();
    let name = requirements::name_defect(&profiler.profiler, "device_type");
    let found = records.flat_map(requirements::defects).chain(name);
    let found: Vec<String> = found.collect();
    ensure(found.is_empty(), || found.join("; "))?;
    let device = profiler.device_type();
    let profiler = profiler.into_loaded()?;
    ensure(profiler.device_type() == device, || {
        format!("the device type {device} was freed with a copy of TP_Profiler")
    })?;
    Ok(format!(
        "registered for {device}; valid after its copies are destroyed"
    ))
}

/// Before a session there is nothing to collect.
pub(super) fn idle(session: &CheckSession<'_>) -> CheckResult {
    let profiler = profiler(session)?;
    let bytes = profiler.collect()?;
    let planes = proto::field_values(&bytes, 1).count();
    ensure(planes == 0, || {
        format!("{planes} planes before anything was profiled")
    })?;
    Ok("there is no data before a session".into())
}

/// Three sessions, one after the other.
pub(super) fn sessions(session: &CheckSession<'_>) -> CheckResult {
    let profiler = profiler(session)?;
    let mut sizes = Vec::new();
    for _ in 0..3 {
        profiler.start()?;
        profiler.stop()?;
        let bytes = profiler.collect()?;
        ensure(proto::parse_fields(&bytes).is_some(), || {
            format!(
                "{} bytes were collected, which are not an XSpace",
                bytes.len()
            )
        })?;
        sizes.push(bytes.len());
    }
    Ok(format!(
        "3 sessions in a row gave {} bytes",
        sizes
            .iter()
            .map(usize::to_string)
            .collect::<Vec<_>>()
            .join(", ")
    ))
}
