//! Objects that calls on several threads use at the same time.
//!
//! Core enqueues on one stream from several threads, and so may a plugin use one kernel's context: both is allowed. Nothing
//! locks a status, nor a kernel's output and failure. Nothing keeps an object that one thread destroys while another one uses it.

use super::arguments::Arguments;
use super::finding::finding;
use super::{handles, kernel, objects};
use crate::runtime::description::{Kind, Type};
use crate::runtime::log::thread_log;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The type of an object, its address, and the number of its part.
type Object = (&'static str, u64, u64);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    Reads,
    Writes,
    Destroys,
}

/// A use by a call that has not returned.
struct Use {
    call: u64,
    thread: i32,
    object: Object,
    effect: Effect,
    function: &'static str,
}

static USES: Mutex<Vec<Use>> = Mutex::new(Vec::new());
static LAST: AtomicU64 = AtomicU64::new(0);

fn lock() -> MutexGuard<'static, Vec<Use>> {
    USES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The uses of a call. They end when it returns to its caller, or when a C++ exception ends it.
#[derive(Debug)]
pub struct Uses(u64);

impl Drop for Uses {
    fn drop(&mut self) {
        lock().retain(|it| it.call != self.0);
    }
}

/// Checks the objects of a call that begins against those of other threads; returns its uses.
pub fn begin(call: &Arguments<'_>) -> Option<Uses> {
    let objects = match call.function.kind {
        Kind::Slot => used_handles(call),
        Kind::Host => used_objects(call),
        _ => return None,
    };
    let number = LAST.fetch_add(1, Ordering::Relaxed);
    let thread = thread_log().thread();
    let function = call.function.name;
    let details: Vec<String> = {
        let mut uses = lock();
        let new = objects.iter().map(|&(object, effect)| Use {
            call: number,
            thread,
            object,
            effect,
            function,
        });
        let new: Vec<Use> = new.collect();
        let details = new.iter().filter_map(|it| conflict(it, &uses)).collect();
        // The address of a destroyed object may be that of a new one before the call has returned.
        uses.extend(new.into_iter().filter(|it| it.effect != Effect::Destroys));
        details
    };
    for detail in details {
        finding("concurrent_use", function, &detail);
    }
    (!objects.is_empty()).then_some(Uses(number))
}

/// Returns the text about a use of another thread with which `new` conflicts.
fn conflict(new: &Use, uses: &[Use]) -> Option<String> {
    let is_conflict = |it: &&Use| {
        it.thread != new.thread
            && it.object == new.object
            && (it.effect, new.effect) != (Effect::Reads, Effect::Reads)
    };
    let other = uses.iter().find(is_conflict)?;
    let ((name, address, _), function) = (new.object, other.function);
    Some(format!(
        "{function} uses the {name} {address:#x} at the same time on thread {}",
        other.thread
    ))
}

/// Returns the streams, events and timers of a slot, except those whose value is that of another device's object too.
fn used_handles(call: &Arguments<'_>) -> Vec<(Object, Effect)> {
    let effect = match call.function.short_name().starts_with("destroy_") {
        true => Effect::Destroys,
        false => Effect::Reads,
    };
    let parameters = call.function.parameters.iter().zip(call.values);
    let handles =
        parameters.filter_map(|(it, value)| Some((handles::handle_type(&it.ty)?, *value)));
    let unique = handles.filter(|(name, value)| handles::is_unique(name, *value));
    unique
        .map(|(name, value)| ((name, value, 0), effect))
        .collect()
}

/// Returns what a function of core uses. One with a callback runs code of the plugin, which may wait for another thread.
fn used_objects(call: &Arguments<'_>) -> Vec<(Object, Effect)> {
    let function = call.function;
    let is_function = |ty: &Type| matches!(ty, Type::Function);
    if function.parameters.iter().any(|it| is_function(&it.ty)) {
        return Vec::new();
    }
    let parameters = function.parameters.iter().zip(call.values);
    let owned = parameters.filter_map(|(it, address)| {
        let (name, deletes) = objects::owned(&it.ty, function)?;
        let is_status = name.ends_with("_Status") && is_mutable(&it.ty);
        let effect = match (deletes, is_status) {
            (true, _) => Effect::Destroys,
            // A failure is only read, and may be a constant of the plugin.
            (false, true) if !function.name.ends_with("_Failure") => Effect::Writes,
            _ => Effect::Reads,
        };
        (*address != 0).then_some(((name, *address, 0), effect))
    });
    let result = kernel::set_result(call).map(|it| (it, Effect::Writes));
    owned.chain(result).collect()
}

fn is_mutable(ty: &Type) -> bool {
    matches!(ty, Type::Pointer { mutable: true, .. })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new_use(thread: i32, address: u64, effect: Effect) -> Use {
        Use {
            call: 1,
            thread,
            object: ("TF_Status", address, 0),
            effect,
            function: "TF_SetStatus",
        }
    }

    #[test]
    fn uses_of_two_threads_conflict_unless_both_read() {
        let uses = [new_use(1, 8, Effect::Reads), new_use(1, 16, Effect::Writes)];
        let is_found =
            |thread, address, effect| conflict(&new_use(thread, address, effect), &uses).is_some();
        assert!(is_found(2, 8, Effect::Writes) && is_found(2, 8, Effect::Destroys));
        assert!(is_found(2, 16, Effect::Reads));
        assert!(!is_found(2, 8, Effect::Reads));
        assert!(!is_found(1, 16, Effect::Writes));
        assert!(!is_found(2, 24, Effect::Writes));
    }
}
