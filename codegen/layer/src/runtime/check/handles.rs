//! Lifetimes of the objects that the plugin creates for core: streams, events and timers.

use super::arguments::Arguments;
use super::finding::{dead_object_rule, finding};
use crate::runtime::description::{Kind, Type};
use crate::runtime::shared::Shared;
use std::collections::{BTreeMap, HashMap};

/// The types of these objects.
const TYPES: [&str; 3] = ["SP_Stream", "SP_Event", "SP_Timer"];

/// A live object: its device, and the slot that has created it.
struct Handle {
    device: u64,
    creator: &'static str,
}

/// The live objects of a type and value: two devices may use equal values.
type Handles = HashMap<(&'static str, u64), Vec<Handle>>;

static HANDLES: Shared<Handles> = Shared::new();

/// Returns the name of the type of these objects to which `ty` points.
pub fn handle_type(ty: &Type) -> Option<&'static str> {
    let name = ty.pointed_opaque();
    TYPES.into_iter().find(|it| *it == name)
}

/// Returns true if one live object of this type has this value.
pub fn is_unique(name: &'static str, value: u64) -> bool {
    HANDLES.with(|handles| handles.get(&(name, value)).is_some_and(|it| it.len() == 1))
}

/// Checks the objects that a slot uses or destroys.
///
/// # Safety
/// The arguments are those of a call.
pub unsafe fn before(call: &Arguments<'_>) {
    if call.function.kind != Kind::Slot {
        return;
    }
    // SAFETY: as the caller states.
    let device = unsafe { call.device() };
    if call.function.short_name() == "destroy_device" {
        check_left(call, device);
    }
    let destroys = call.function.short_name().starts_with("destroy_");
    for (parameter, value) in call.function.parameters.iter().zip(call.values) {
        if let Some(name) = handle_type(&parameter.ty) {
            let is_live =
                HANDLES.with(|handles| use_handle(handles, (name, *value), device, destroys));
            if !is_live && *value != 0 {
                let detail = format!("the {name} {value:#x} is not live");
                finding(dead_object_rule(destroys), call.function.name, &detail);
            }
        }
    }
}

/// Returns true if there is such an object. If `destroys`, one of the device is removed.
fn use_handle(
    handles: &mut Handles,
    key: (&'static str, u64),
    device: u64,
    destroys: bool,
) -> bool {
    let Some(live) = handles.get_mut(&key) else {
        return false;
    };
    if destroys {
        let own = live.iter().position(|it| it.device == device);
        live.swap_remove(own.unwrap_or(0));
        if live.is_empty() {
            handles.remove(&key);
        }
    }
    true
}

/// Reports the objects of a device that core destroys.
fn check_left(call: &Arguments<'_>, device: u64) {
    let mut left: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    HANDLES.with(|handles| {
        for ((name, _), live) in handles.iter() {
            for handle in live.iter().filter(|it| it.device == device) {
                *left.entry((name, handle.creator)).or_default() += 1;
            }
        }
    });
    for ((name, creator), count) in left {
        let detail = format!("{count} {name} of {creator} were not destroyed before the device");
        finding("objects_released", call.function.name, &detail);
    }
}

/// Notes the objects that a slot has created.
///
/// # Safety
/// The arguments are those of a call that has returned.
pub unsafe fn after(call: &Arguments<'_>) {
    let function = call.function;
    let creates = function.kind == Kind::Slot && function.short_name().starts_with("create_");
    // SAFETY: the status is live.
    if !creates || !unsafe { call.is_ok() } {
        return;
    }
    // SAFETY: as the caller states.
    let device = unsafe { call.device() };
    for (parameter, pointee, address) in call.stored() {
        let Some(name) = handle_type(pointee) else {
            continue;
        };
        // SAFETY: core passes the address of a handle, which the slot has filled since its status is OK.
        let value = unsafe { (address as *const u64).read_unaligned() };
        if value == 0 {
            let detail = format!("reported no error and left its `{}` null", parameter.name);
            finding("field_access", function.name, &detail);
        }
        let creator = function.name;
        let handle = Handle { device, creator };
        HANDLES.with(|handles| handles.entry((name, value)).or_default().push(handle));
    }
}
