//! The optimizer of a plugin that declines its host. If the entry point exists, TensorFlow requires an
//! optimizer and aborts on an error. So the plugin registers one that TensorFlow never runs.

use std::ffi::{CStr, c_void};

use sp_abi::grappler::{TF_GrapplerItem, TP_Optimizer, TP_Optimizer__optimize_func};
use sp_abi::tf_buffer::TF_Buffer;
use sp_abi::tf_status::TF_Status;
use sp_runtime::{PrefixMut, guard};

use crate::graph::{self, Item};
use crate::registered;

/// Returns a device type that no device has and that no other plugin registers. TensorFlow runs an optimizer
/// only on graphs with nodes on devices of its type.
pub fn device_type(plugin_type: &'static CStr) -> &'static CStr {
    registered::declined_name(plugin_type)
}

/// Fills in the slot that TensorFlow requires: with a function that returns its input if the slot's signature
/// is known, else with one that does nothing.
pub fn fill(table: &mut PrefixMut<'_, TP_Optimizer>) {
    if TP_Optimizer::set_optimize_func::<Unchanged>(table).is_err() {
        table.set(TP_Optimizer::optimize_func, Some(do_nothing));
    }
}

/// Optimizer that returns the graph unchanged.
struct Unchanged;

impl TP_Optimizer__optimize_func for Unchanged {
    unsafe extern "C" fn call(
        _: *mut c_void,
        graph: *const TF_Buffer,
        item: *const TF_GrapplerItem,
        optimized: *mut TF_Buffer,
        status: *mut TF_Status,
    ) {
        let body = || {
            // SAFETY: all three are TensorFlow's arguments: live during the call, and no other code uses
            // `optimized` meanwhile.
            unsafe { graph::fill(optimized, Item::new(graph, item)?.bytes().to_vec()) }
        };
        // SAFETY: `status` is TensorFlow's argument, a live status object.
        unsafe { guard::run_with_status("TP_Optimizer.optimize_func", status, body) }
    }
}

unsafe extern "C" fn do_nothing(
    _: *mut c_void,
    _: *const TF_Buffer,
    _: *const TF_GrapplerItem,
    _: *mut TF_Buffer,
    _: *mut TF_Status,
) {
}
