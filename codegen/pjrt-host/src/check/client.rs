//! The client: creation, options, names, and assignments of devices.

use sp_host::child_checks::{CheckResult, Stop};

use crate::buffer::{ensure, expect_error};
use crate::plugin::Plugin;
use crate::session::{Client, Session, create};

/// A client is created and destroyed, and created again.
pub(super) fn creation(session: &Session<'_>) -> CheckResult {
    let plugin = session.plugin()?;
    let called = plugin.try_call("Client_Create", &[])?;
    let args = called.map_err(|error| {
        Stop::Skip(format!(
            "the plugin creates no client on this machine: {error}"
        ))
    })?;
    let client = args.pointer("client")?;
    plugin.call("Client_Destroy", &[("client", client)])?;
    let client = Client::new(plugin)?;
    let name = client.text("Client_PlatformName", "platform_name")?;
    client.destroy()?;
    Ok(format!("a client of the platform {name}, twice"))
}

/// Two clients exist at the same time, or the second one is an error.
pub(super) fn two_clients(session: &Session<'_>) -> CheckResult {
    let client = session.client()?;
    let second = client.plugin.try_call("Client_Create", &[])?;
    let text = match second {
        Ok(args) => {
            let second = args.pointer("client")?;
            ensure(second != client.handle, || {
                "two clients have the same handle, which would be destroyed twice".into()
            })?;
            client
                .plugin
                .call("Client_Destroy", &[("client", second)])?;
            "two clients".to_owned()
        }
        Err(error) => format!("a second client is an error: {error}"),
    };
    let name = client.text("Client_PlatformName", "platform_name")?;
    ensure(!name.is_empty(), || "the platform's name is gone".into())?;
    client.destroy()?;
    Ok(text)
}

/// Bytes of a `PJRT_NamedValue`, in words.
const NAMED_VALUE: usize = 7;

/// An option that the plugin does not know, of each type, is ignored or an error.
pub(super) fn unknown_options(session: &Session<'_>) -> CheckResult {
    let plugin = session.plugin()?;
    let (name, text, list) = ("sp_gen_unknown", "text", [1_i64, 2, 3]);
    let one = 1.0_f32.to_bits();
    let kinds: [(u64, u64, u64); 5] = [
        (0, text.as_ptr() as u64, text.len() as u64),
        (1, 7, 1),
        (2, list.as_ptr() as u64, 3),
        (3, u64::from(one), 1),
        (4, 1, 1),
    ];
    let mut accepted = 0;
    for (kind, data, size) in kinds {
        let address = name.as_ptr() as u64;
        let length = name.len() as u64;
        let option: [u64; NAMED_VALUE] = [56, 0, address, length, kind, data, size];
        let set = [
            ("create_options", option.as_ptr() as u64),
            ("num_options", 1),
        ];
        accepted += usize::from(accepts(&plugin, &set)?);
    }
    create(&plugin)
        .map_err(|_| Stop::Skip("the plugin creates no client: see pjrt_client".into()))?;
    Ok(format!("{accepted} of {} types accepted", kinds.len()))
}

/// Returns true if a client is created with these inputs, and false if they are an error.
fn accepts(plugin: &Plugin<'_>, set: &[(&str, u64)]) -> Result<bool, Stop> {
    match plugin.try_call("Client_Create", set)? {
        Ok(args) => {
            plugin.call("Client_Destroy", &[("client", args.pointer("client")?)])?;
            Ok(true)
        }
        Err(error) => expect_error(Err(error), "an unknown option").map(|_| false),
    }
}

/// The platform's name and version are not empty, and the same in two calls.
pub(super) fn platform(session: &Session<'_>) -> CheckResult {
    let client = session.client()?;
    let mut texts = vec![];
    for (function, field) in [
        ("Client_PlatformName", "platform_name"),
        ("Client_PlatformVersion", "platform_version"),
    ] {
        let (first, second) = (client.text(function, field)?, client.text(function, field)?);
        ensure(!first.is_empty(), || format!("{field} is empty"))?;
        ensure(first == second, || {
            format!("{field} is {first:?}, then {second:?}")
        })?;
        texts.push(first);
    }
    let name = &texts[0];
    ensure(!name.contains(char::is_whitespace), || {
        format!("the platform's name {name:?} has white space: JAX_PLATFORMS cannot name it")
    })?;
    Ok(format!("{name}: {}", texts[1]))
}

/// The index of the process is 0 in a program of one process.
pub(super) fn process_index(session: &Session<'_>) -> CheckResult {
    let client = session.client()?;
    let index = client
        .call("Client_ProcessIndex", &[])?
        .int("process_index")?;
    ensure(index == 0, || {
        format!("the process index is {index}, expected 0")
    })?;
    Ok("0".into())
}

/// The default assignment has an id of a device for each replica and partition.
pub(super) fn device_assignment(session: &Session<'_>) -> CheckResult {
    let client = session.client()?;
    let devices = client.list("Client_Devices", "devices")?;
    let mut assigned: Vec<i32> = vec![-9; devices.len() + 1];
    for replicas in 1..=devices.len().min(4) {
        assigned.fill(-9);
        let set = [
            ("num_replicas", replicas as u64),
            ("num_partitions", 1),
            ("default_assignment_size", replicas as u64),
            ("default_assignment", assigned.as_mut_ptr() as u64),
        ];
        client.call("Client_DefaultDeviceAssignment", &set)?;
        let (ids, rest) = assigned.split_at(replicas);
        ensure(rest.iter().all(|it| *it == -9), || {
            "PJRT_Client_DefaultDeviceAssignment wrote after the end of the assignment".into()
        })?;
        for (at, id) in ids.iter().enumerate() {
            let found = client.try_call("Client_LookupDevice", &[("id", *id as u32 as u64)])?;
            ensure(found.is_ok(), || {
                format!("{id} is assigned, and no device has that id")
            })?;
            ensure(!ids[..at].contains(id), || {
                format!("device {id} is assigned twice")
            })?;
        }
    }
    Ok(format!("{} devices", devices.len()))
}

/// An assignment to a list that is too short is an error, and writes nothing after it.
pub(super) fn short_assignment(session: &Session<'_>) -> CheckResult {
    let client = session.client()?;
    let mut assigned = [-9_i32; 8];
    let set = [
        ("num_replicas", 2),
        ("num_partitions", 1),
        ("default_assignment_size", 1),
        ("default_assignment", assigned.as_mut_ptr() as u64),
    ];
    let called = client.try_call("Client_DefaultDeviceAssignment", &set)?;
    ensure(assigned[1..].iter().all(|it| *it == -9), || {
        "PJRT_Client_DefaultDeviceAssignment wrote after the end of the assignment".into()
    })?;
    let error = expect_error(called, "an assignment of two devices to a list for one")?;
    Ok(error.to_string())
}
