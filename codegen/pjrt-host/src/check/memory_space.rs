//! Memories: those of a device, its default one, and their descriptions.

use std::collections::{BTreeMap, BTreeSet};

use sp_host::child_checks::{CheckResult, Stop};

use super::api;
use crate::buffer::{HostArray, ensure};
use crate::memory;
use crate::session::{Client, Session, list};

/// Returns the memories that a device can address.
pub(super) fn of_device(client: &Client<'_>, device: u64) -> Result<Vec<u64>, Stop> {
    let set = [("device", device)];
    list(
        &client.plugin,
        "Device_AddressableMemories",
        &set,
        "memories",
    )
}

/// Each device has memories, and its default memory is one of them.
pub(super) fn lists(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let client = &device.client;
    let all = client.list("Client_AddressableMemories", "addressable_memories")?;
    let own = client.list("Client_AddressableDevices", "addressable_devices")?;
    for device in own {
        let memories = of_device(client, device)?;
        ensure(!memories.is_empty(), || "a device has no memory".into())?;
        ensure(memories.iter().all(|it| all.contains(it)), || {
            "a memory of a device is not among the client's addressable memories".into()
        })?;
        let args = client
            .plugin
            .call("Device_DefaultMemory", &[("device", device)])?;
        let default = args.pointer("memory")?;
        ensure(memories.contains(&default), || {
            "the default memory of a device is not among its memories".into()
        })?;
    }
    let unique: BTreeSet<&u64> = all.iter().collect();
    ensure(unique.len() == all.len(), || {
        "a memory is listed twice".into()
    })?;
    Ok(format!("{} memories", all.len()))
}

/// Each memory has an id of its own, a kind and texts; equal kinds have equal ids of kinds.
pub(super) fn descriptions(session: &Session<'_>) -> CheckResult {
    let client = session.client()?;
    let (mut ids, mut kinds) = (BTreeSet::new(), BTreeMap::new());
    for memory in client.list("Client_AddressableMemories", "addressable_memories")? {
        let set = [("memory", memory)];
        let id = client.plugin.call("Memory_Id", &set)?.int("id")?;
        ensure(ids.insert(id), || format!("two memories have the id {id}"))?;
        let mut kind = String::new();
        for (function, field) in TEXTS {
            let args = client.plugin.call(function, &set)?;
            let text = client.plugin.text(&args, field)?;
            ensure(!text.is_empty(), || {
                format!("{field} of memory {id} is empty")
            })?;
            if field == "kind" {
                kind = text;
            }
        }
        let kind_id = match client.plugin.has("Memory_Kind_Id") {
            true => client.plugin.call("Memory_Kind_Id", &set)?.int("kind_id")?,
            false => 0,
        };
        let first = *kinds.entry(kind.clone()).or_insert(kind_id);
        ensure(first == kind_id, || {
            format!("memories of the kind {kind} have the kind ids {first} and {kind_id}")
        })?;
    }
    Ok(format!("kinds {:?}", kinds.keys().collect::<Vec<_>>()))
}

/// The texts of a memory.
const TEXTS: [(&str, &str); 3] = [
    ("Memory_Kind", "kind"),
    ("Memory_DebugString", "debug_string"),
    ("Memory_ToString", "to_string"),
];

/// The devices of a memory are those that list it.
pub(super) fn devices(session: &Session<'_>) -> CheckResult {
    let client = session.client()?;
    let own = client.list("Client_AddressableDevices", "addressable_devices")?;
    let mut pairs = 0;
    for memory in client.list("Client_AddressableMemories", "addressable_memories")? {
        let set = [("memory", memory)];
        let devices = list(
            &client.plugin,
            "Memory_AddressableByDevices",
            &set,
            "devices",
        )?;
        ensure(!devices.is_empty(), || "a memory has no device".into())?;
        for device in &own {
            let lists = of_device(&client, *device)?.contains(&memory);
            ensure(lists == devices.contains(device), || {
                "a device and a memory do not agree that the device addresses the memory".into()
            })?;
            pairs += usize::from(lists);
        }
    }
    Ok(format!("{pairs} pairs of device and memory"))
}

/// A buffer is created in each memory of a device, and reports that memory.
pub(super) fn buffers(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let array = HostArray::counting(&[3, 5]);
    let memories = of_device(&device.client, device.handle)?;
    let mut used = 0;
    for memory in &memories {
        let called = device.try_put(&array, "kImmutableOnlyDuringCall", &[("memory", *memory)])?;
        let Ok(args) = called else { continue };
        let buffer = crate::buffer::Buffer::new(device.plugin(), args.pointer("buffer")?);
        buffer.finish(args.pointer("done_with_host_buffer")?)?;
        let found = buffer.call("Buffer_Memory", &[])?.get("memory")?;
        ensure(found == *memory, || {
            "a buffer is in another memory than requested".into()
        })?;
        buffer.expect(&array, "a buffer in a memory")?;
        buffer.destroy()?;
        used += 1;
    }
    ensure(used > 0, || "no memory of the device takes a buffer".into())?;
    Ok(format!("{used} of {} memories", memories.len()))
}

/// The size of the part of a memory's table that hosts read, and the places of its functions in words.
const TABLE_WORDS: usize = 5;
const TABLE_FUNCTIONS: std::ops::Range<usize> = 3..5;

/// Memories begin with a pointer to a table whose functions are null or code, if the host reads it.
pub(super) fn tables(session: &Session<'_>) -> CheckResult {
    let client = session.client()?;
    if !client
        .plugin
        .demand
        .reads_memory_tables(client.plugin.minor()?)
    {
        let text = "this host reads no tables of the memories of a plugin of this version";
        return Err(Stop::Skip(text.into()));
    }
    let memories = client.list("Client_AddressableMemories", "addressable_memories")?;
    for (index, memory) in memories.iter().enumerate() {
        let table = memory::words(*memory, 1, "a memory")?[0];
        ensure(table != 0, || {
            format!("memory {index} begins with a null pointer, expected a table of functions")
        })?;
        let words = memory::words(table, TABLE_WORDS, "the table of a memory")?;
        let functions = &words[TABLE_FUNCTIONS];
        let is_table = (40..65536).contains(&words[0]) && api::are_code_or_null(functions)?;
        ensure(is_table, || {
            format!("memory {index} begins with {table:#x}, which is no table of functions")
        })?;
    }
    Ok(format!("{} memories", memories.len()))
}
