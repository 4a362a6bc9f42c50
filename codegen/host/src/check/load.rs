//! Entry points, the structs that they fill, and devices.

use super::session::{CheckSession, ensure, skip_unregistered};
use crate::Error;
use crate::channel::{self, kind};
use crate::child::missing_python_functions;
use crate::outcome::{CheckResult, Stop};
use crate::plugin::{self, LoadedPlugin, Registration};
use crate::record::GuardedStruct;
use crate::requirements;

pub(super) fn entry_points(session: &CheckSession<'_>) -> CheckResult {
    let loaded = LoadedPlugin::load(session.release, session.plugin);
    let found = loaded.map_err(load_failure)?.entry_points();
    ensure(!found.is_empty(), || {
        format!(
            "the plugin exports none of {:?}",
            plugin::entry_points(session.release)
        )
    })?;
    let assumed = session.release.assumed().count();
    let found = found.join(", ");
    Ok(match assumed {
        0 => format!("the library loads and exports {found}"),
        _ => format!(
            "the library loads and exports {found}; {assumed} C++ symbols of TensorFlow are assumed to exist"
        ),
    })
}

/// Returns the failure to load a plugin. A missing library is the plugin's failure only if it is TensorFlow's.
fn load_failure(error: Error) -> Stop {
    let text = error.to_string();
    if let Some(needs) = missing_python_functions(&text) {
        return Stop::Skip(needs);
    }
    let absent = text.split_once(": cannot open shared object file");
    match absent {
        Some((library, _)) if !library.contains("tensorflow") => Stop::Skip(format!(
            "the plugin needs {library}, which this machine does not have"
        )),
        Some((library, _)) => Stop::Fail(format!(
            "the plugin needs {library}, which this release does not have"
        )),
        None => Stop::Fail(text),
    }
}

fn registration(session: &CheckSession<'_>) -> Result<Registration, Stop> {
    let plugin = session.with("SE_InitPlugin")?;
    plugin.register().map_err(skip_unregistered)
}

/// No entry point and no function that fills a table reports an error.
pub(super) fn registered(session: &CheckSession<'_>) -> CheckResult {
    let plugin = session.load()?;
    for name in plugin.entry_points() {
        match name {
            "SE_InitPlugin" => plugin.register()?.tables(&plugin.shapes)?,
            "TF_InitGraph" => drop(plugin.register_optimizer()?),
            "TF_InitProfiler" => drop(plugin.register_profiler()?),
            _ => plugin.register_kernels(),
        }
    }
    Ok("every entry point returned status OK".into())
}

/// Applies `defects` to every struct that the plugin fills before its first device.
fn defects_of_structs(
    session: &CheckSession<'_>,
    defects: impl Fn(&GuardedStruct) -> Vec<String>,
) -> Result<Vec<String>, Stop> {
    let shapes = session.load()?.shapes;
    let registration = registration(session)?;
    let first = [
        &registration.params,
        &registration.platform,
        &registration.platform_fns,
    ];
    let mut found: Vec<String> = first.into_iter().flat_map(&defects).collect();
    // Without the functions that fill them there are no tables to check.
    match registration.into_loaded(&shapes) {
        Ok(platform) => found.extend(
            [&platform.device_fns, &*platform.table]
                .into_iter()
                .flat_map(&defects),
        ),
        Err(_) if !found.is_empty() => {}
        Err(error) => return Err(skip_unregistered(error)),
    }
    Ok(found)
}

/// The structs that slots fill, once there is a device.
pub(super) fn filled(session: &CheckSession<'_>) -> CheckResult {
    let device = session.device()?;
    let mut records = device.executor.filled()?;
    records.extend(device.platform.timer_fns()?);
    let found = records.iter().flat_map(|record| {
        requirements::size_defect(record)
            .into_iter()
            .chain(requirements::out_of_bounds_writes(record))
    });
    pass_without_defects(
        found.collect(),
        "valid in SP_DeviceMemoryBase, SP_AllocatorStats and SP_TimerFns",
    )
}

fn pass_without_defects(found: Vec<String>, good: &str) -> CheckResult {
    match found.is_empty() {
        true => Ok(good.to_owned()),
        false => Err(Stop::Fail(found.join("; "))),
    }
}

pub(super) fn required_fields(session: &CheckSession<'_>) -> CheckResult {
    let found = defects_of_structs(session, requirements::missing_fields)?;
    match found.is_empty() {
        true => pass_without_defects(unified_memory(session)?, "every required field is set"),
        false => pass_without_defects(found, ""),
    }
}

/// A pair of slots that only a platform with unified memory must set.
fn unified_memory(session: &CheckSession<'_>) -> Result<Vec<String>, Stop> {
    let shapes = session.load()?.shapes;
    let platform = registration(session)?.into_loaded(&shapes);
    let platform = platform.map_err(skip_unregistered)?;
    Ok(requirements::missing_unified_memory_slots(
        platform.record(),
        &platform.table,
    ))
}

pub(super) fn struct_sizes(session: &CheckSession<'_>) -> CheckResult {
    let sizes = |record: &GuardedStruct| requirements::size_defect(record).into_iter().collect();
    let found = defects_of_structs(session, sizes)?;
    pass_without_defects(
        found,
        "every struct_size is that of this release or of an older one",
    )
}

/// A write past a struct ends this process. A write before it or into its tail padding is found here.
pub(super) fn struct_bounds(session: &CheckSession<'_>) -> CheckResult {
    pass_without_defects(
        defects_of_structs(session, requirements::out_of_bounds_writes)?,
        "nothing was written outside the host's structs",
    )
}

pub(super) fn names(session: &CheckSession<'_>) -> CheckResult {
    let platform = registration(session)?.platform;
    let name = platform.text("name");
    let taken = name.and_then(|name| requirements::taken_name_defect(&name));
    let bad = ["name", "type"]
        .iter()
        .filter_map(|field| requirements::name_defect(&platform, field))
        .chain(taken)
        .collect();
    let text = |field| platform.text(field).unwrap_or_default();
    pass_without_defects(
        bad,
        &format!(
            "valid: platform name {}, device type {}",
            text("name"),
            text("type")
        ),
    )
}

pub(super) fn devices(session: &CheckSession<'_>) -> CheckResult {
    let platform = session.platform()?;
    let count = platform.device_count()?;
    ensure(count >= 0, || format!("get_device_count returned {count}"))?;
    channel::send(kind::DEVICES, &count.to_string());
    for round in 0..2 {
        for ordinal in 0..count {
            let device = platform.create_device(ordinal)?;
            let wrong = requirements::size_defect(&device)
                .into_iter()
                .chain(requirements::out_of_bounds_writes(&device));
            pass_without_defects(wrong.collect(), "")?;
            let reported = device.get("ordinal").map(|ordinal| ordinal as i32);
            ensure(reported == Some(ordinal), || {
                format!("device {ordinal} has ordinal {reported:?} in round {round}")
            })?;
            platform.destroy_device(device.address())?;
        }
    }
    Ok(format!("created and destroyed {count} devices twice"))
}
