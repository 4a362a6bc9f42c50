//! Devices, their descriptions and statistics.

use std::collections::BTreeSet;

use sp_host::child_checks::{CheckResult, Stop};

use super::attribute;
use crate::buffer::{HostArray, ensure, expect_error};
use crate::session::{Client, Session};

fn devices(client: &Client<'_>) -> Result<Vec<u64>, Stop> {
    client.list("Client_Devices", "devices")
}

fn addressable(client: &Client<'_>) -> Result<Vec<u64>, Stop> {
    client.list("Client_AddressableDevices", "addressable_devices")
}

/// Returns the description of a device.
fn description(client: &Client<'_>, device: u64) -> Result<u64, Stop> {
    let args = client
        .plugin
        .call("Device_GetDescription", &[("device", device)])?;
    args.pointer("device_description")
}

/// Returns the id of a device.
pub(super) fn id(client: &Client<'_>, device: u64) -> Result<i32, Stop> {
    let set = [("device_description", description(client, device)?)];
    client.plugin.call("DeviceDescription_Id", &set)?.int("id")
}

/// Devices are listed once each, in the same order, and the addressable ones are among them.
pub(super) fn lists(session: &Session<'_>) -> CheckResult {
    let client = session.client()?;
    let (all, own) = (devices(&client)?, addressable(&client)?);
    ensure(all == devices(&client)?, || {
        "a second list of devices differs".into()
    })?;
    ensure(own == addressable(&client)?, || {
        "a second list of addressable devices differs".into()
    })?;
    for (list, name) in [(&all, "devices"), (&own, "addressable devices")] {
        let unique: BTreeSet<&u64> = list.iter().collect();
        ensure(unique.len() == list.len(), || {
            format!("one of the {name} is listed twice")
        })?;
    }
    ensure(own.iter().all(|it| all.contains(it)), || {
        "an addressable device is not among the client's devices".into()
    })?;
    ensure(!own.is_empty(), || {
        "the client has no addressable device".into()
    })?;
    Ok(format!("{} devices, {} addressable", all.len(), own.len()))
}

/// PJRT_Device_IsAddressable agrees with the list of addressable devices.
pub(super) fn is_addressable(session: &Session<'_>) -> CheckResult {
    let client = session.client()?;
    let own = addressable(&client)?;
    for device in devices(&client)? {
        let args = client
            .plugin
            .call("Device_IsAddressable", &[("device", device)])?;
        let (flag, listed) = (args.flag("is_addressable")?, own.contains(&device));
        ensure(flag == listed, || {
            format!("is_addressable is {flag}, and the list of addressable devices says {listed}")
        })?;
    }
    Ok(format!("{} addressable", own.len()))
}

/// A device is found by its id and by its local hardware id, and another id is an error.
pub(super) fn lookup(session: &Session<'_>) -> CheckResult {
    let client = session.client()?;
    for device in devices(&client)? {
        let id = id(&client, device)?;
        let found = client.call("Client_LookupDevice", &[("id", id as u32 as u64)])?;
        ensure(found.get("device")? == device, || {
            format!("the device with the id {id} is found as another device")
        })?;
    }
    let unknown = client.try_call("Client_LookupDevice", &[("id", 0x7fff_fff0)])?;
    expect_error(unknown, "a lookup of the id 2147483632")?;
    let negative = client.try_call("Client_LookupDevice", &[("id", -1_i32 as u32 as u64)])?;
    let error = expect_error(negative, "a lookup of the id -1")?;
    Ok(format!("another id is {error}"))
}

/// Addressable devices have different local hardware ids, by which they are found.
pub(super) fn local_hardware_ids(session: &Session<'_>) -> CheckResult {
    let client = session.client()?;
    let mut ids = BTreeSet::new();
    for device in addressable(&client)? {
        let args = client
            .plugin
            .call("Device_LocalHardwareId", &[("device", device)])?;
        let id = args.int("local_hardware_id")?;
        ensure(id >= -1, || format!("the local hardware id is {id}"))?;
        ensure(id == -1 || ids.insert(id), || {
            format!("two devices have the local hardware id {id}")
        })?;
        if id >= 0 {
            let set = [("local_hardware_id", id as u64)];
            let found = client.call("Client_LookupAddressableDevice", &set)?;
            ensure(found.get("addressable_device")? == device, || {
                format!("the local hardware id {id} is found as another device")
            })?;
        }
    }
    let set = [("local_hardware_id", 0x7fff_fff0)];
    let unknown = client.try_call("Client_LookupAddressableDevice", &set)?;
    expect_error(unknown, "a lookup of the local hardware id 2147483632")?;
    Ok(format!("{} ids", ids.len()))
}

/// Each description has an id of its own, a kind, texts and the index of the process.
pub(super) fn descriptions(session: &Session<'_>) -> CheckResult {
    let client = session.client()?;
    let process = client
        .call("Client_ProcessIndex", &[])?
        .int("process_index")?;
    let (own, mut ids, mut kinds) = (addressable(&client)?, BTreeSet::new(), BTreeSet::new());
    for device in devices(&client)? {
        let set = [("device_description", description(&client, device)?)];
        let id = id(&client, device)?;
        ensure(id >= 0 && ids.insert(id), || {
            format!("the id {id} is negative, or that of two devices")
        })?;
        for (function, field) in TEXTS {
            let args = client.plugin.call(function, &set)?;
            let text = client.plugin.text(&args, field)?;
            ensure(!text.is_empty(), || {
                format!("{field} of device {id} is empty")
            })?;
            if field == "device_kind" {
                kinds.insert(text);
            }
        }
        let args = client.plugin.call("DeviceDescription_ProcessIndex", &set)?;
        let index = args.int("process_index")?;
        ensure(!own.contains(&device) || index == process, || {
            format!("addressable device {id} has process index {index}, its client has {process}")
        })?;
    }
    Ok(format!("ids {ids:?}, kinds {kinds:?}"))
}

/// The texts of a description.
const TEXTS: [(&str, &str); 3] = [
    ("DeviceDescription_Kind", "device_kind"),
    ("DeviceDescription_DebugString", "debug_string"),
    ("DeviceDescription_ToString", "to_string"),
];

/// The attributes of descriptions are valid.
pub(super) fn attributes(session: &Session<'_>) -> CheckResult {
    let client = session.client()?;
    let mut found = String::new();
    for device in devices(&client)? {
        let set = [("device_description", description(&client, device)?)];
        let args = client.plugin.call("DeviceDescription_Attributes", &set)?;
        let items = attribute::read(&client.plugin, &args, "attributes", "num_attributes")?;
        found = attribute::describe(&items);
    }
    Ok(found)
}

/// Counters of memory are consistent: a peak is not below its value, and flags are 0 or 1.
pub(super) fn memory_statistics(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let before = statistics(&device)?;
    let buffer = device.put(&HostArray::counting(&[1 << 18]))?;
    let during = statistics(&device)?;
    buffer.destroy()?;
    if let (Some(before), Some(during)) = (before, during) {
        ensure(during >= before + (1 << 20), || {
            format!("bytes_in_use is {during} with a buffer of 1 MiB, and was {before} before")
        })?;
    }
    Ok(match before {
        Some(bytes) => format!("{bytes} bytes in use, more with a buffer"),
        None => "no peak".into(),
    })
}

/// Returns the bytes in use, after consistency checks. `None` if the plugin counts no peak.
fn statistics(device: &crate::session::Device<'_>) -> Result<Option<i64>, Stop> {
    let args = device.call("Device_MemoryStats", &[])?;
    let in_use = args.get("bytes_in_use")? as i64;
    ensure(in_use >= 0, || format!("bytes_in_use is {in_use}"))?;
    for field in STATISTICS {
        let is_set = args.flag(&format!("{field}_is_set"))?;
        let value = args.get(field)? as i64;
        ensure(!is_set || value >= 0, || format!("{field} is {value}"))?;
    }
    let is_set = args.flag("peak_bytes_in_use_is_set")?;
    let peak = args.get("peak_bytes_in_use")? as i64;
    ensure(!is_set || peak >= in_use, || {
        format!("peak_bytes_in_use is {peak}, below bytes_in_use of {in_use}")
    })?;
    let limit = args.get("bytes_limit")? as i64;
    ensure(!args.flag("bytes_limit_is_set")? || limit >= in_use, || {
        format!("bytes_limit is {limit}, below bytes_in_use of {in_use}")
    })?;
    Ok(is_set.then_some(in_use))
}

/// Statistics with a flag that states that they are counted.
const STATISTICS: [&str; 7] = [
    "num_allocs",
    "largest_alloc_size",
    "bytes_limit",
    "bytes_reserved",
    "peak_bytes_reserved",
    "bytes_reservable_limit",
    "largest_free_block_bytes",
];
