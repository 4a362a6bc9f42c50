//! The table of functions, its version, its extensions and the plugin's initialization.

use std::collections::BTreeSet;

use sp_host::child_checks::{CheckResult, Stop};

use super::attribute;
use crate::buffer::ensure;
use crate::hosts::minor;
use crate::plugin::Plugin;
use crate::session::Session;
use crate::{layout, memory};

/// The library loads, and GetPjrtApi returns one table.
pub(super) fn entry_point(session: &Session<'_>) -> CheckResult {
    let plugin = session.uninitialized()?;
    ensure(plugin.table.is_multiple_of(8), || {
        format!(
            "the table is at {:#x}, which is not aligned to 8 bytes",
            plugin.table
        )
    })?;
    Ok(format!("a table of {} bytes", plugin.size))
}

/// The version is one that the host accepts.
pub(super) fn version(session: &Session<'_>) -> CheckResult {
    let plugin = session.uninitialized()?;
    let size = plugin.field("pjrt_api_version.struct_size")?;
    ensure(size == 24, || {
        format!("pjrt_api_version.struct_size is {size}, expected 24")
    })?;
    let major = plugin.field("pjrt_api_version.major_version")?;
    let reason = plugin.demand.reason_to_decline(major, plugin.minor()?);
    reason.map_or(Ok(()), |reason| Err(Stop::Fail(reason)))?;
    Ok(format!(
        "version 0.{}, {} has 0.{}",
        plugin.minor()?,
        plugin.host,
        plugin.host.minor
    ))
}

/// The table's struct_size is that of its minor version.
pub(super) fn table_size(session: &Session<'_>) -> CheckResult {
    let plugin = session.uninitialized()?;
    let (size, own) = (plugin.size, plugin.minor()?);
    let (known, _) = layout::sizes(plugin.api, "PJRT_Api").unwrap_or_default();
    let newest = minor(plugin.api).unwrap_or_default();
    ensure(size.is_multiple_of(8), || {
        format!("the table's struct_size is {size}, which is not the end of a slot")
    })?;
    let is_right = match own.cmp(&newest) {
        std::cmp::Ordering::Less => size <= known,
        std::cmp::Ordering::Equal => size == known,
        std::cmp::Ordering::Greater => size >= known,
    };
    ensure(is_right, || {
        format!("the table of version 0.{own} has {size} bytes; that of 0.{newest} has {known}")
    })?;
    Ok(format!("{size} bytes; 0.{newest} has {known}"))
}

/// Every function that the host calls without a check for null is set.
pub(super) fn required_functions(session: &Session<'_>) -> CheckResult {
    let plugin = session.uninitialized()?;
    let mut lacking = vec![];
    for function in plugin.demand.required() {
        let measured = plugin.lacks(function)?;
        lacking.extend(measured.map(|it| format!("PJRT_{function} ({it})")));
    }
    ensure(lacking.is_empty(), || {
        format!("null or not in the table: {}", lacking.join(", "))
    })?;
    Ok(format!("{} functions", plugin.demand.required().count()))
}

/// Each slot is null or the address of code.
pub(super) fn slots(session: &Session<'_>) -> CheckResult {
    let plugin = session.uninitialized()?;
    let code = executable_ranges()?;
    let table = plugin.api.structure("PJRT_Api");
    let slots = table.map_or(&[][..], |table| &table.fields);
    let mut counts = [0, 0];
    for field in slots.iter().filter(|field| field.name.starts_with("PJRT_")) {
        let address = plugin.field(&field.name)?;
        ensure(address == 0 || is_in(&code, address), || {
            format!("{} is {address:#x}, which is not code", field.name)
        })?;
        counts[usize::from(address == 0)] += 1;
    }
    Ok(format!(
        "{} functions, {} null or after the table",
        counts[0], counts[1]
    ))
}

/// Returns the ranges of memory that can be executed.
fn executable_ranges() -> Result<Vec<(u64, u64)>, Stop> {
    let maps = std::fs::read_to_string("/proc/self/maps");
    let maps = maps.map_err(|error| Stop::Skip(format!("/proc/self/maps: {error}")))?;
    let parse = |line: &str| {
        let (range, rest) = line.split_once(' ')?;
        let (start, end) = range.split_once('-')?;
        let is_code = rest.as_bytes().get(2) == Some(&b'x');
        let hex = |text| u64::from_str_radix(text, 16).ok();
        is_code.then_some((hex(start)?, hex(end)?))
    };
    Ok(maps.lines().filter_map(parse).collect())
}

/// Returns true if each address is null or code.
pub(super) fn are_code_or_null(addresses: &[u64]) -> Result<bool, Stop> {
    let code = executable_ranges()?;
    Ok(addresses.iter().all(|it| *it == 0 || is_in(&code, *it)))
}

fn is_in(ranges: &[(u64, u64)], address: u64) -> bool {
    ranges
        .iter()
        .any(|(start, end)| (*start..*end).contains(&address))
}

/// The most extensions that a chain may have.
const CHAIN_LIMIT: usize = 100;

/// The chain of extensions ends, and has each type once.
pub(super) fn extensions(session: &Session<'_>) -> CheckResult {
    let plugin = session.uninitialized()?;
    let (mut seen, mut types) = (BTreeSet::new(), BTreeSet::new());
    let mut names = vec![];
    let mut next = plugin.field("extension_start")?;
    while next != 0 {
        ensure(seen.insert(next) && seen.len() <= CHAIN_LIMIT, || {
            format!(
                "the chain of extensions does not end after {} of them",
                seen.len()
            )
        })?;
        let (name, following) = extension(&plugin, next)?;
        ensure(types.insert(name.clone()), || {
            format!("two extensions have the type {name}")
        })?;
        names.push(name);
        next = following;
    }
    match names.is_empty() {
        true => Ok("no extensions".into()),
        false => Ok(names.join(", ")),
    }
}

/// Returns the name of the type of the extension at `address`, and the address of the next one.
fn extension(plugin: &Plugin<'_>, address: u64) -> Result<(String, u64), Stop> {
    let known = layout::values(plugin.api, "PJRT_Extension_Type", "PJRT_Extension_Type_");
    let words = memory::words(address, 3, "an extension")?;
    let (size, kind) = (words[0], i64::from(words[1] as u32));
    let name = known.iter().find(|(_, value)| *value == kind);
    let name = name.map_or_else(|| format!("type {kind}"), |(name, _)| (*name).into());
    ensure((24..65536).contains(&size), || {
        format!("the extension {name} has a struct_size of {size}")
    })?;
    memory::bytes(address, size as usize, "an extension")?;
    Ok((name, words[2]))
}

/// PJRT_Plugin_Initialize succeeds and leaves the table as it is.
pub(super) fn initialization(session: &Session<'_>) -> CheckResult {
    let plugin = session.uninitialized()?;
    let before = memory::bytes(plugin.table, plugin.size, "the table")?;
    plugin.call("Plugin_Initialize", &[])?;
    let after = memory::bytes(plugin.table, plugin.size, "the table")?;
    ensure(before == after, || {
        "PJRT_Plugin_Initialize changed the table".into()
    })?;
    Ok("no error, and the same table".into())
}

/// The plugin's attributes are valid, and the same in two calls.
pub(super) fn attributes(session: &Session<'_>) -> CheckResult {
    let plugin = session.plugin()?;
    let first = plugin_attributes(&plugin)?;
    ensure(first == plugin_attributes(&plugin)?, || {
        "PJRT_Plugin_Attributes returns other attributes in the second call".into()
    })?;
    Ok(attribute::describe(&first))
}

fn plugin_attributes(plugin: &Plugin<'_>) -> Result<Vec<attribute::Attribute>, Stop> {
    let args = plugin.call("Plugin_Attributes", &[])?;
    attribute::read(plugin, &args, "attributes", "num_attributes")
}

/// The versions of StableHLO in the attributes have three numbers, and the minimum is not above the current one.
pub(super) fn stablehlo_versions(session: &Session<'_>) -> CheckResult {
    let plugin = session.plugin()?;
    let attributes = plugin_attributes(&plugin)?;
    let current = three_numbers(&attributes, "stablehlo_current_version")?;
    let minimum = three_numbers(&attributes, "stablehlo_minimum_version")?;
    if let Some(found) = attributes.iter().find(|it| it.name == "xla_version") {
        let is_number = matches!(found.value, attribute::Value::Int(1..));
        ensure(is_number, || {
            format!("xla_version is {:?}, expected a number", found.value)
        })?;
    }
    match (current, minimum) {
        (Some(current), Some(minimum)) if minimum > current => Err(Stop::Fail(format!(
            "stablehlo_minimum_version {minimum:?} is above stablehlo_current_version {current:?}"
        ))),
        (Some(current), _) => Ok(format!("current {current:?}")),
        (None, _) => Err(Stop::Skip(
            "no stablehlo_current_version: JAX sends programs of a version of 12 weeks before"
                .into(),
        )),
    }
}

/// Returns the version in an attribute, or `None` if the plugin has none of that name.
fn three_numbers(
    attributes: &[attribute::Attribute],
    name: &str,
) -> Result<Option<Vec<i64>>, Stop> {
    let Some(found) = attributes.iter().find(|it| it.name == name) else {
        return Ok(None);
    };
    match &found.value {
        attribute::Value::List(numbers) if numbers.len() == 3 => Ok(Some(numbers.clone())),
        other => Err(Stop::Fail(format!(
            "{name} is {other:?}, expected three numbers"
        ))),
    }
}
