//! The profiler.

use super::session::{Session, ensure, unregistered};
use crate::host::adopt_profiler;
use crate::outcome::{Seen, Stop};
use crate::plugin::Plugin;
use crate::profiler::Profiler;
use crate::proto;
use crate::requirements;

fn plugin(session: &Session<'_>) -> Result<Plugin, Stop> {
    session.with("TF_InitProfiler")
}

fn profiler(session: &Session<'_>) -> Result<Profiler, Stop> {
    adopt_profiler(&plugin(session)?).map_err(unregistered)
}

pub(super) fn registered(session: &Session<'_>) -> Seen {
    let profiler = plugin(session)?.register_profiler().map_err(unregistered)?;
    let records = profiler.records().into_iter();
    let name = requirements::name(&profiler.profiler, "device_type");
    let found: Vec<String> = records.flat_map(requirements::all).chain(name).collect();
    ensure(found.is_empty(), || found.join("; "))?;
    let device = profiler.device_type();
    let profiler = profiler.adopt()?;
    ensure(profiler.device_type() == device, || {
        format!("the device type {device} went with a copy that was destroyed")
    })?;
    Ok(format!("for {device}; copies of it may be destroyed"))
}

/// Before a session there is nothing to collect.
pub(super) fn idle(session: &Session<'_>) -> Seen {
    let profiler = profiler(session)?;
    let bytes = profiler.collect()?;
    let planes = proto::all(&bytes, 1).count();
    ensure(planes == 0, || {
        format!("{planes} planes before anything was profiled")
    })?;
    Ok("nothing to collect before a session".into())
}

/// Three sessions, one after the other.
pub(super) fn sessions(session: &Session<'_>) -> Seen {
    let profiler = profiler(session)?;
    let mut sizes = Vec::new();
    for _ in 0..3 {
        profiler.start()?;
        profiler.stop()?;
        let bytes = profiler.collect()?;
        ensure(proto::fields(&bytes).is_some(), || {
            format!("{} bytes were collected, which are no XSpace", bytes.len())
        })?;
        sizes.push(bytes.len());
    }
    Ok(format!("three, of {sizes:?} bytes"))
}
