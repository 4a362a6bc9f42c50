//! The kernels that the plugin registers.

use super::file;
use super::format::{Record, Registered};
use crate::runtime::description::Function;
use crate::runtime::shared::Shared;
use std::collections::HashMap;
use std::ffi::{CStr, c_char};

static BUILDERS: Shared<HashMap<u64, Registered>> = Shared::new();

/// # Safety
/// - `address` is null or that of a C string.
unsafe fn text(address: u64) -> String {
    if address == 0 {
        return String::new();
    }
    // SAFETY: as the caller guarantees.
    let text = unsafe { CStr::from_ptr(address as *const c_char) };
    text.to_string_lossy().into_owned()
}

/// Notes a registration, which deletes the builder.
///
/// # Safety
/// - The arguments are those of a call of `function`.
pub unsafe fn before(function: &Function, arguments: &[u64]) {
    if function.name.starts_with("TF_RegisterKernelBuilder") {
        let builder = function.position("builder").map(|it| arguments[it]);
        let registered = BUILDERS.with(|builders| builders.remove(&builder.unwrap_or(0)));
        if let Some(registered) = registered {
            file::write(&Record::Registered(registered));
        }
    }
}

/// Notes a new builder and what is added to it.
///
/// # Safety
/// - The arguments are those of a call of `function` that has returned `result`.
pub unsafe fn after(function: &Function, arguments: &[u64], result: u64) {
    // SAFETY: the parameters are C strings.
    unsafe {
        match function.name {
            "TF_NewKernelBuilder" | "TF_NewAsyncKernelBuilder" => {
                let registered = Registered {
                    op: text(arguments[0]),
                    device: text(arguments[1]),
                    ..Registered::default()
                };
                BUILDERS.with(|builders| builders.insert(result, registered));
            }
            "TF_KernelBuilder_TypeConstraint" => {
                let constraint = (text(arguments[1]), arguments[2] as u32);
                change(arguments[0], |it| it.constraints.push(constraint));
            }
            "TF_KernelBuilder_HostMemory" => {
                let name = text(arguments[1]);
                change(arguments[0], |it| it.host_memory.push(name));
            }
            _ => {}
        }
    }
}

fn change(builder: u64, change: impl FnOnce(&mut Registered)) {
    BUILDERS.with(|builders| builders.get_mut(&builder).map(change));
}
