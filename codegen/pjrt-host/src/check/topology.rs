//! Topologies: of a client, serialized, and created by name.

use sp_host::child_checks::{CheckResult, Stop};

use super::attribute;
use crate::args::Args;
use crate::buffer::{ensure, expect_bytes, expect_error};
use crate::memory;
use crate::plugin::Plugin;
use crate::session::{Client, Session, list};

/// Returns the topology of the client, which the client owns.
fn of_client(client: &Client<'_>) -> Result<u64, Stop> {
    let args = client.call("Client_TopologyDescription", &[])?;
    args.pointer("topology")
}

/// The topology has the names of the client, and a description of each device.
pub(super) fn of_the_client(session: &Session<'_>) -> CheckResult {
    let client = session.client()?;
    let topology = of_client(&client)?;
    expect_names_of_client(&client, topology)?;
    let descriptions = descriptions(&client.plugin, topology)?;
    let devices = client.list("Client_Devices", "devices")?;
    ensure(descriptions.len() == devices.len(), || {
        format!(
            "{} descriptions for {} devices",
            descriptions.len(),
            devices.len()
        )
    })?;
    let id_of = |description: &u64| {
        let set = [("device_description", *description)];
        let args = client.plugin.call("DeviceDescription_Id", &set)?;
        args.int("id")
    };
    let ids: Vec<_> = descriptions
        .iter()
        .map(id_of)
        .collect::<Result<_, Stop>>()?;
    for device in devices {
        let id = super::device::id(&client, device)?;
        ensure(ids.contains(&id), || {
            format!("the topology has no device {id}")
        })?;
    }
    Ok(format!("{} devices", ids.len()))
}

/// Fails unless the topology has the names of the client's platform.
fn expect_names_of_client(client: &Client<'_>, topology: u64) -> Result<(), Stop> {
    for (field, of_client) in [
        ("platform_name", "Client_PlatformName"),
        ("platform_version", "Client_PlatformVersion"),
    ] {
        let function = of_client.replace("Client", "TopologyDescription");
        let args = client.plugin.call(&function, &[("topology", topology)])?;
        let text = client.plugin.text(&args, field)?;
        let expected = client.text(of_client, field)?;
        ensure(text == expected, || {
            format!("{field} of the topology is {text:?}, that of the client {expected:?}")
        })?;
    }
    Ok(())
}

fn descriptions(plugin: &Plugin<'_>, topology: u64) -> Result<Vec<u64>, Stop> {
    let set = [("topology", topology)];
    let function = "TopologyDescription_GetDeviceDescriptions";
    list(plugin, function, &set, "descriptions")
}

/// The topology's attributes are valid.
pub(super) fn attributes(session: &Session<'_>) -> CheckResult {
    let client = session.client()?;
    let set = [("topology", of_client(&client)?)];
    let args = client.plugin.call("TopologyDescription_Attributes", &set)?;
    let items = attribute::read(&client.plugin, &args, "attributes", "num_attributes")?;
    Ok(attribute::describe(&items))
}

/// The fingerprint is the same in two calls.
pub(super) fn fingerprint(session: &Session<'_>) -> CheckResult {
    let client = session.client()?;
    let set = [("topology", of_client(&client)?)];
    let read = || {
        client
            .plugin
            .call("TopologyDescription_Fingerprint", &set)?
            .get("fingerprint")
    };
    let (first, second) = (read()?, read()?);
    ensure(first == second, || {
        format!("the fingerprint is {first:#x}, then {second:#x}")
    })?;
    Ok(format!("{first:#x}"))
}

/// A serialized topology has the same devices when it is deserialized, and other bytes are an error.
pub(super) fn serialization(session: &Session<'_>) -> CheckResult {
    let client = session.client()?;
    let plugin = &client.plugin;
    let topology = of_client(&client)?;
    let (bytes, again) = (serialize(plugin, topology)?, serialize(plugin, topology)?);
    expect_bytes(&again, &bytes, "a topology that is serialized again")?;
    let restored = deserialize(plugin, &bytes)?;
    let restored = plugin.require("TopologyDescription_Deserialize", restored)?;
    let restored = restored.pointer("topology")?;
    let (count, expected) = (
        descriptions(plugin, restored)?.len(),
        descriptions(plugin, topology)?.len(),
    );
    ensure(count == expected, || {
        format!("a deserialized topology has {count} devices, expected {expected}")
    })?;
    plugin.call("TopologyDescription_Destroy", &[("topology", restored)])?;
    expect_error(
        deserialize(plugin, b"\xff\xff\xffgarbage")?,
        "a topology of other bytes",
    )?;
    Ok(format!("{} bytes", bytes.len()))
}

fn serialize(plugin: &Plugin<'_>, topology: u64) -> Result<Vec<u8>, Stop> {
    let args = plugin.call("TopologyDescription_Serialize", &[("topology", topology)])?;
    take_bytes(plugin, &args, "serialized_topology")
}

/// Returns the bytes that `args` has as `serialized_bytes`, after the object `holder` was freed.
pub(super) fn take_bytes(
    plugin: &Plugin<'_>,
    args: &Args<'_>,
    holder: &str,
) -> Result<Vec<u8>, Stop> {
    let size = args.get("serialized_bytes_size")? as usize;
    let bytes = memory::bytes(args.get("serialized_bytes")?, size, "serialized_bytes")?;
    let deleter = format!("{holder}_deleter");
    plugin.call_deleter(args.get(&deleter)?, args.pointer(holder)?, &deleter)?;
    Ok(bytes)
}

fn deserialize<'a>(plugin: &Plugin<'a>, bytes: &[u8]) -> Result<crate::plugin::Called<'a>, Stop> {
    let set = [
        ("serialized_topology", bytes.as_ptr() as u64),
        ("serialized_topology_size", bytes.len() as u64),
    ];
    plugin.try_call("TopologyDescription_Deserialize", &set)
}

/// A topology with a name that does not exist is an error, or a topology that can be destroyed.
pub(super) fn creation(session: &Session<'_>) -> CheckResult {
    let plugin = session.plugin()?;
    let name = "sp_gen_unknown";
    let set = [
        ("topology_name", name.as_ptr() as u64),
        ("topology_name_size", name.len() as u64),
    ];
    match plugin.try_call("TopologyDescription_Create", &set)? {
        Ok(args) => {
            let topology = args.pointer("topology")?;
            let count = descriptions(&plugin, topology)?.len();
            plugin.call("TopologyDescription_Destroy", &[("topology", topology)])?;
            Ok(format!("a topology of {count} devices"))
        }
        Err(error) => Ok(expect_error(Err(error), "an unknown topology")?.to_string()),
    }
}
