//! Checks of calls while a program runs. Each looks at the arguments of a call before it, or at what it has stored after it.

pub mod arguments;
mod clock;
mod contexts;
mod finding;
mod handles;
mod inputs;
mod kernel;
pub mod memory;
mod objects;
mod order;
mod structs;
mod uses;

use super::description::Function;
use super::settings::settings;
use arguments::Arguments;

pub use finding::{RULES, Rule, finding};
pub use uses::Uses;

/// Checks a call before it is made; returns its uses of objects, to be dropped when it has returned.
///
/// # Safety
/// The arguments are those of a call with the signature of `function`, valid as the API requires.
pub unsafe fn before(function: &'static Function, values: &[u64]) -> Option<Uses> {
    let call = Arguments { function, values };
    let uses = uses::begin(&call);
    objects::before(&call);
    contexts::before(&call);
    // SAFETY: as the caller states.
    unsafe {
        structs::before(&call);
        inputs::before(&call);
        handles::before(&call);
        kernel::before(&call);
        memory::before(&call);
        order::before(&call);
    }
    uses
}

/// Checks a call that has returned.
///
/// # Safety
/// As of [`before`].
pub unsafe fn after(function: &'static Function, values: &[u64], result: u64) {
    let call = Arguments { function, values };
    // SAFETY: as the caller states.
    unsafe {
        objects::after(&call, result);
        structs::after(&call);
        inputs::after(&call);
        handles::after(&call);
        memory::after(&call, result);
        order::after(&call, result);
        kernel::after(&call, result);
    }
    contexts::after(&call);
}

/// Reports what remains at the end of the process.
pub fn at_exit() {
    if settings().validates {
        objects::at_exit();
    }
}
