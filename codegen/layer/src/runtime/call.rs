//! The two sides of a call: before and after the real function runs.

use super::callback::{Target, intern};
use super::capture;
use super::check;
use super::description::{Function, Kind, flag};
use super::exchange::exchange_slots;
use super::guard::{self, Guard};
use super::host;
use super::log::{Op, thread_log};
use super::system;
use super::value;
use std::collections::HashMap;
use std::ffi::{CStr, c_char};
use std::sync::{PoisonError, RwLock};

/// A call that has not returned. If a C++ exception ends it, its drop records that.
#[derive(Debug)]
pub struct Call {
    function: &'static Function,
    is_open: bool,
    is_kernel: bool,
    /// The op of a kernel's function, or "".
    label: &'static str,
    /// The context of a kernel that is captured.
    captured: Option<u64>,
    /// The objects that the call uses, if it is checked.
    _uses: Option<check::Uses>,
    /// The host memory of a copy, if it is guarded.
    guard: Option<Guard>,
}

impl Call {
    /// Returns the address of the host memory that the slot gets in place of `address`.
    pub fn guarded(&self, address: usize) -> usize {
        self.guard.as_ref().map_or(address, Guard::address)
    }
}

/// The nodes of live kernels, by the address that `create_func` has returned. `None` if two live kernels share an address.
static NODES: RwLock<Option<HashMap<u64, Option<String>>>> = RwLock::new(None);

/// Addresses below it are no objects: a plugin without state may return any value that is not null.
const FIRST_ADDRESS: u64 = 4096;

/// Records and checks the begin of a call.
///
/// # Safety
/// The arguments are those of a call with the signature of `function`: see [`value::push_arguments`].
pub unsafe fn begin(function: &'static Function, arguments: &[u64]) -> Call {
    let uses = match function.has(flag::CHECK) {
        // SAFETY: as the caller states.
        true => unsafe { check::before(function, arguments) },
        false => None,
    };
    if function.has(flag::CAPTURE) {
        // SAFETY: as the caller states.
        unsafe { capture::before(function, arguments) };
    }
    let is_open = function.has(flag::TRACE);
    if is_open {
        let mut text = String::with_capacity(128);
        // SAFETY: as the caller states.
        unsafe { value::push_arguments(function, arguments, &mut text) };
        thread_log().open(function.name, text);
    }
    Call {
        function,
        is_open,
        is_kernel: false,
        label: "",
        captured: None,
        _uses: uses,
        // SAFETY: as the caller states.
        guard: unsafe { guard::begin(function, arguments) },
    }
}

/// Records and checks the begin of a call of a callback.
///
/// # Safety
/// As of [`begin`].
pub unsafe fn begin_callback(
    function: &'static Function,
    arguments: &[u64],
    target: &Target,
) -> Call {
    let is_kernel = function.kind == Kind::Callback && function.short_name().starts_with("compute");
    if is_kernel {
        // SAFETY: the parameters of a kernel are its object and its context.
        let node = unsafe { node_name(arguments) };
        thread_log().enter_op(Op {
            op: target.label,
            node,
        });
    }
    // SAFETY: as the caller states.
    let mut call = unsafe { begin(function, arguments) };
    call.is_kernel = is_kernel;
    call.label = target.label;
    call.captured = (is_kernel && function.has(flag::CAPTURE)).then(|| arguments[1]);
    call
}

/// Records and checks the end of a call, and exchanges the slots of tables that the plugin has filled.
///
/// # Safety
/// As of [`begin`]; the call has returned `result`.
pub unsafe fn finish(mut call: Call, arguments: &[u64], result: u64) {
    let (end, function) = (system::now(), call.function);
    call.captured = None;
    if let Some(guard) = call.guard.take() {
        // SAFETY: as the caller states.
        unsafe { guard.finish(arguments) };
    }
    if std::mem::take(&mut call.is_open) {
        let mut text = String::new();
        // SAFETY: as the caller states.
        unsafe { value::push_results(function, arguments, result, &mut text) };
        thread_log().close(end, text);
    }
    // SAFETY: as the caller states.
    unsafe {
        if function.has(flag::CHECK) {
            check::after(function, arguments, result);
        }
        if function.has(flag::CAPTURE) {
            capture::after(function, arguments, result, call.label);
        }
        if function.has(flag::FILLS) {
            exchange_slots(function, arguments);
        }
    }
}

/// Records the end of a call of a callback.
///
/// # Safety
/// As of [`finish`].
pub unsafe fn finish_callback(call: Call, arguments: &[u64], result: u64) {
    if call.function.kind == Kind::Callback {
        match call.function.short_name() {
            // SAFETY: the parameter of `create_func` is a construction, which lives until it returns.
            "create_func" => unsafe { created(arguments[0], result) },
            "delete_func" => deleted(arguments[0]),
            _ => {}
        }
    }
    // SAFETY: as the caller states.
    unsafe { finish(call, arguments, result) };
}

impl Drop for Call {
    fn drop(&mut self) {
        if self.is_open {
            thread_log().close(system::now(), "a C++ exception".into());
        }
        if let Some(context) = self.captured {
            capture::abandon(context);
        }
        if self.is_kernel {
            thread_log().leave_op();
        }
    }
}

/// # Safety
/// `construction` is live.
unsafe fn created(construction: u64, kernel: u64) {
    if kernel < FIRST_ADDRESS {
        return;
    }
    // SAFETY: as the caller states.
    let name = unsafe { host::construction_name(construction) };
    let mut nodes = NODES.write().unwrap_or_else(PoisonError::into_inner);
    let nodes = nodes.get_or_insert_with(HashMap::new);
    let is_shared = nodes.contains_key(&kernel);
    nodes.insert(kernel, (!is_shared).then_some(name));
}

fn deleted(kernel: u64) {
    let mut nodes = NODES.write().unwrap_or_else(PoisonError::into_inner);
    if let Some(nodes) = nodes
        .as_mut()
        .filter(|it| it.get(&kernel).is_some_and(Option::is_some))
    {
        nodes.remove(&kernel);
    }
}

/// Returns the name of the node whose kernel runs, or "".
///
/// # Safety
/// The arguments are those of a kernel's `compute_func`.
unsafe fn node_name(arguments: &[u64]) -> String {
    // SAFETY: the second parameter is the live context.
    let name = unsafe { host::kernel_name(arguments[1]) };
    if !name.is_empty() {
        return name;
    }
    let nodes = NODES.read().unwrap_or_else(PoisonError::into_inner);
    let node = nodes.as_ref().and_then(|it| it.get(&arguments[0]).cloned());
    node.flatten().unwrap_or_default()
}

/// Returns the text of the argument `op_name`, for the life of the process; "" if the function has no such parameter.
///
/// # Safety
/// As of [`begin`].
pub unsafe fn label(function: &Function, arguments: &[u64]) -> &'static str {
    let Some(index) = function.position("op_name") else {
        return "";
    };
    if arguments[index] == 0 {
        return "";
    }
    // SAFETY: the parameter is a C string.
    let text = unsafe { CStr::from_ptr(arguments[index] as *const c_char) };
    intern(&text.to_string_lossy())
}
