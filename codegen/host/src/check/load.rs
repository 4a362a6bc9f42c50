//! Entry points, the structs that they fill, and devices.

use super::session::{Session, ensure, unregistered};
use crate::Error;
use crate::child::channel::{self, kind};
use crate::child::unfit;
use crate::outcome::{Seen, Stop};
use crate::plugin::{self, Plugin, Registration};
use crate::record::Record;
use crate::requirements;

pub(super) fn entry_points(session: &Session<'_>) -> Seen {
    let loaded = Plugin::load(session.release, session.plugin);
    let found = loaded.map_err(unloaded)?.entry_points();
    ensure(!found.is_empty(), || {
        format!(
            "the plugin exports none of {:?}",
            plugin::entry_points(session.release)
        )
    })?;
    let assumed = session.release.assumed().count();
    Ok(match assumed {
        0 => found.join(" "),
        _ => format!(
            "{}, where {assumed} C++ symbols of TensorFlow's are taken to be there",
            found.join(" ")
        ),
    })
}

/// A library of somebody else's that this machine has not is no failure of the plugin's; one of
/// TensorFlow's that the release has not is.
fn unloaded(error: Error) -> Stop {
    let text = error.to_string();
    if let Some(needs) = unfit(&text) {
        return Stop::Skip(needs);
    }
    let absent = text.split_once(": cannot open shared object file");
    match absent {
        Some((library, _)) if !library.contains("tensorflow") => {
            Stop::Skip(format!("needs {library}, which this machine does not have"))
        }
        Some((library, _)) => {
            Stop::Fail(format!("needs {library}, which this release does not have"))
        }
        None => Stop::Fail(text),
    }
}

fn registration(session: &Session<'_>) -> Result<Registration, Stop> {
    let plugin = session.with("SE_InitPlugin")?;
    plugin.register().map_err(unregistered)
}

/// Every entry point, and the functions that fill tables, say OK.
pub(super) fn registered(session: &Session<'_>) -> Seen {
    let plugin = session.load()?;
    for name in plugin.entry_points() {
        match name {
            "SE_InitPlugin" => plugin.register()?.tables(&plugin.shapes)?,
            "TF_InitGraph" => drop(plugin.register_optimizer()?),
            "TF_InitProfiler" => drop(plugin.register_profiler()?),
            _ => plugin.register_kernels(),
        }
    }
    Ok("no entry point reports an error".into())
}

/// Applies `judge` to every struct that the plugin fills before its first device.
fn judge(
    session: &Session<'_>,
    judge: impl Fn(&Record) -> Vec<String>,
) -> Result<Vec<String>, Stop> {
    let shapes = session.load()?.shapes;
    let registration = registration(session)?;
    let first = [
        &registration.params,
        &registration.platform,
        &registration.platform_fns,
    ];
    let mut found: Vec<String> = first.into_iter().flat_map(&judge).collect();
    // Without the functions that fill them there are no tables to judge.
    match registration.adopt(&shapes) {
        Ok(platform) => found.extend(
            [&platform.device_fns, &*platform.table]
                .into_iter()
                .flat_map(&judge),
        ),
        Err(_) if !found.is_empty() => {}
        Err(error) => return Err(unregistered(error)),
    }
    Ok(found)
}

/// The structs that slots fill, once there is a device.
pub(super) fn filled(session: &Session<'_>) -> Seen {
    let device = session.device()?;
    let mut records = device.executor.filled()?;
    records.extend(device.platform.timer_fns()?);
    let found = records.iter().flat_map(|record| {
        requirements::size(record)
            .into_iter()
            .chain(requirements::bounds(record))
    });
    none(found.collect(), "of a block, the statistics and the timers")
}

fn none(found: Vec<String>, good: &str) -> Seen {
    match found.is_empty() {
        true => Ok(good.to_owned()),
        false => Err(Stop::Fail(found.join("; "))),
    }
}

pub(super) fn required_fields(session: &Session<'_>) -> Seen {
    let found = judge(session, requirements::empty_fields)?;
    match found.is_empty() {
        true => none(unified_memory(session)?, "all set"),
        false => none(found, ""),
    }
}

/// A pair of slots that only a platform with unified memory must set.
fn unified_memory(session: &Session<'_>) -> Result<Vec<String>, Stop> {
    let shapes = session.load()?.shapes;
    let adopted = registration(session)?.adopt(&shapes);
    let platform = adopted.map_err(unregistered)?;
    Ok(requirements::unified(platform.record(), &platform.table))
}

pub(super) fn struct_sizes(session: &Session<'_>) -> Seen {
    let sizes = |record: &Record| requirements::size(record).into_iter().collect();
    let found = judge(session, sizes)?;
    none(found, "as the release has them, or an older release had")
}

/// A write past a struct ends this process; one before it or into its tail padding shows here.
pub(super) fn struct_bounds(session: &Session<'_>) -> Seen {
    none(
        judge(session, requirements::bounds)?,
        "nothing written outside the host's structs",
    )
}

pub(super) fn names(session: &Session<'_>) -> Seen {
    let platform = registration(session)?.platform;
    let bad = ["name", "type"]
        .iter()
        .filter_map(|field| requirements::name(&platform, field))
        .collect();
    let text = |field| platform.text(field).unwrap_or_default();
    none(
        bad,
        &format!("platform {}, device type {}", text("name"), text("type")),
    )
}

pub(super) fn devices(session: &Session<'_>) -> Seen {
    let platform = session.platform()?;
    let count = platform.device_count()?;
    ensure(count >= 0, || format!("get_device_count gave {count}"))?;
    channel::send(kind::DEVICES, &count.to_string());
    for round in 0..2 {
        for ordinal in 0..count {
            let device = platform.create_device(ordinal)?;
            let wrong = requirements::size(&device)
                .into_iter()
                .chain(requirements::bounds(&device));
            none(wrong.collect(), "")?;
            let said = device.get("ordinal").map(|ordinal| ordinal as i32);
            ensure(said == Some(ordinal), || {
                format!("device {ordinal} says ordinal {said:?} in round {round}")
            })?;
            platform.destroy_device(device.address())?;
        }
    }
    Ok(format!("{count}, created and destroyed twice"))
}
