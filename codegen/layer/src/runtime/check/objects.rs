//! Lifetimes of the objects that core creates for the plugin.

use super::arguments::Arguments;
use super::finding::{dead_object_rule, finding};
use crate::runtime::description::{Function, Kind, Type};
use crate::runtime::host;
use crate::runtime::log::thread_log;
use crate::runtime::shared::Shared;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Objects of core that a plugin owns, the number of them that may remain at the end of the process (a plugin may hold some
/// for its life), and the functions that delete or consume one.
const OWNED: &[(&str, usize, &[&str])] = &[
    ("TF_Status", 64, &["TF_DeleteStatus", "TSL_DeleteStatus"]),
    ("TSL_Status", 64, &["TF_DeleteStatus", "TSL_DeleteStatus"]),
    ("TF_Tensor", 0, &["TF_DeleteTensor"]),
    ("TF_Buffer", 64, &["TF_DeleteBuffer"]),
    (
        "TF_KernelBuilder",
        0,
        &[
            "TF_RegisterKernelBuilder",
            "TF_RegisterKernelBuilderWithKernelDef",
            "TF_DeleteKernelBuilder",
        ],
    ),
    (
        "TF_OpDefinitionBuilder",
        0,
        &["TF_RegisterOpDefinition", "TF_DeleteOpDefinitionBuilder"],
    ),
    ("TF_ShapeHandle", 0, &["TF_DeleteShapeHandle"]),
    ("TF_DimensionHandle", 0, &["TF_DeleteDimensionHandle"]),
    ("TF_GraphProperties", 0, &["TF_DeleteGraphProperties"]),
    (
        "TF_FunctionLibraryDefinition",
        0,
        &["TF_DeleteFunctionLibraryDefinition"],
    ),
];

/// Those of them that core passes to a plugin, too.
const PASSED_BY_CORE: [&str; 4] = ["TF_Status", "TSL_Status", "TF_Tensor", "TF_Buffer"];

/// Creating function, and the op whose kernel ran.
type Origin = (&'static str, &'static str);

#[derive(Default)]
struct Objects {
    /// Live objects of core, with the function that has created them.
    owned: HashMap<(&'static str, u64), Origin>,
    deleted: HashSet<(&'static str, u64)>,
}

static OBJECTS: Shared<Objects> = Shared::new();

/// Returns the name of the type behind a pointer, which may be a struct or opaque.
fn pointed_name(ty: &Type) -> &'static str {
    match ty.pointed_struct() {
        Some(structure) => structure.name,
        None => ty.pointed_opaque(),
    }
}

fn owned_type(name: &str) -> Option<&'static (&'static str, usize, &'static [&'static str])> {
    OWNED.iter().find(|(owned, ..)| *owned == name)
}

/// Returns the type of core's objects to which `ty` points, and true if `function` deletes or consumes one.
pub fn owned(ty: &Type, function: &Function) -> Option<(&'static str, bool)> {
    let (name, _, deleting) = owned_type(pointed_name(ty))?;
    Some((name, deleting.contains(&function.name)))
}

/// Checks the objects that a call uses or destroys.
pub fn before(call: &Arguments<'_>) {
    match call.function.kind {
        Kind::Host | Kind::HostCallback => before_host(call),
        Kind::Slot | Kind::EntryPoint | Kind::Callback => accept_borrowed(call),
    }
    check_status(call);
}

/// Forgets that the objects that core passes were deleted: it has created others at their addresses.
fn accept_borrowed(call: &Arguments<'_>) {
    thread_log().enter_plugin();
    for (parameter, address) in call.function.parameters.iter().zip(call.values) {
        if let Some((name, ..)) = owned_type(pointed_name(&parameter.ty)) {
            OBJECTS.with(|objects| objects.deleted.remove(&(*name, *address)));
            thread_log().borrow(*address);
        }
    }
}

fn end_borrows(call: &Arguments<'_>) {
    thread_log().leave_plugin();
    for (parameter, address) in call.function.parameters.iter().zip(call.values) {
        if owned_type(pointed_name(&parameter.ty)).is_some() {
            thread_log().end_borrow(*address);
        }
    }
}

fn before_host(call: &Arguments<'_>) {
    let function = call.function;
    for (parameter, address) in function.parameters.iter().zip(call.values) {
        let Some((name, deletes)) = owned(&parameter.ty, function) else {
            continue;
        };
        let key = (name, *address);
        // Outside of a known call the object may be core's.
        let may_be_new = PASSED_BY_CORE.contains(&name) && !thread_log().is_in_plugin();
        let is_deleted = OBJECTS.with(|objects| objects.use_object(key, deletes)) && !may_be_new;
        if is_deleted {
            let detail = format!("the {name} {address:#x} was deleted before");
            finding(dead_object_rule(deletes), function.name, &detail);
        }
    }
}

impl Objects {
    /// Returns true if the object was deleted before. If `deletes`, a live one is removed.
    fn use_object(&mut self, key: (&'static str, u64), deletes: bool) -> bool {
        let was_deleted = self.deleted.contains(&key);
        if deletes && self.owned.remove(&key).is_some() {
            self.deleted.insert(key);
        }
        was_deleted
    }
}

/// Checks the use of statuses.
fn check_status(call: &Arguments<'_>) {
    let name = call.function.name;
    if call.function.kind != Kind::Host || call.values.is_empty() {
        return;
    }
    match name {
        "TF_SetStatus" | "TSL_SetStatus" if !(0..=16).contains(&(call.values[1] as i32)) => {
            finding(
                "status_misuse",
                name,
                &format!("{} is no TF_Code", call.values[1] as i32),
            );
        }
        "TF_OpKernelContext_Failure" | "TF_OpKernelConstruction_Failure"
            // SAFETY: the caller passes a live status.
            if unsafe { host::status_code(call.values[1]) } == Some(0) =>
        {
            finding(
                "status_misuse",
                name,
                "reports a failure with a status that is OK",
            );
        }
        "TF_DeleteStatus" | "TSL_DeleteStatus" if thread_log().is_borrowed(call.values[0]) => {
            finding(
                "status_misuse",
                name,
                "deletes a status that core has passed to the plugin",
            );
        }
        _ => {}
    }
}

/// Notes the objects that a call has created.
///
/// # Safety
/// The arguments are those of a call that has returned `result`.
pub unsafe fn after(call: &Arguments<'_>, result: u64) {
    let function = call.function;
    if matches!(
        function.kind,
        Kind::Slot | Kind::EntryPoint | Kind::Callback
    ) {
        end_borrows(call);
    }
    if function.kind == Kind::Host {
        // SAFETY: as the caller states.
        unsafe { created_by_host(call, result) };
    }
}

/// # Safety
/// As of [`after`].
unsafe fn created_by_host(call: &Arguments<'_>, result: u64) {
    let function = call.function;
    let op = thread_log().op().map_or("", |it| it.op);
    let mut created = Vec::new();
    if let Some((name, ..)) = owned_type(pointed_name(&function.result)) {
        created.push((*name, result));
    }
    // A list of tensors is followed by the length that it may have.
    let is_single =
        function.position("max_values").is_none() && function.position("num_values").is_none();
    for (_, pointee, address) in call.stored() {
        let name = owned_type(pointed_name(pointee)).map(|it| it.0);
        if let (Some(name), true, 4096..) = (name, is_single, address) {
            // SAFETY: the callee has stored an object, or its caller's value is still there.
            created.push((name, unsafe { (address as *const u64).read_unaligned() }));
        }
    }
    // SAFETY: the status is live.
    if created.is_empty() || !unsafe { call.is_ok() } {
        return;
    }
    OBJECTS.with(|objects| {
        for key in created.into_iter().filter(|it| it.1 != 0) {
            objects.deleted.remove(&key);
            objects.owned.insert(key, (function.name, op));
        }
    });
}

/// Reports the objects of core that the plugin has not deleted. Core itself leaves its devices, and so streams and events,
/// to the end of the process.
pub fn at_exit() {
    let mut groups: BTreeMap<(&str, Origin), usize> = BTreeMap::new();
    OBJECTS.with(|objects| {
        for ((name, _), origin) in &objects.owned {
            *groups.entry((name, *origin)).or_default() += 1;
        }
    });
    for ((name, (creator, op)), count) in groups {
        let allowed = owned_type(name).map_or(0, |it| it.1);
        if count > allowed {
            let place = if op.is_empty() {
                String::new()
            } else {
                format!(" in {op}")
            };
            let detail = format!("{count} {name} that it has returned{place} were not deleted");
            finding("objects_released", creator, &detail);
        }
    }
}
