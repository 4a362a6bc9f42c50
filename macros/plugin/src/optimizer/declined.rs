//! The optimizer of a plugin that cannot serve its host. TensorFlow demands one once it has found
//! the entry point, and aborts on an error, so there is one that it never asks.

use std::ffi::{CStr, CString, c_void};
use std::sync::OnceLock;

use sp_abi::grappler::{TF_GrapplerItem, TP_Optimizer, TP_Optimizer__optimize_func};
use sp_abi::tf_buffer::TF_Buffer;
use sp_abi::tf_status::TF_Status;
use sp_runtime::{PrefixMut, guard};

use crate::graph::{self, Item};
use crate::part;

/// A type that no device has, and no other plugin declines by. TensorFlow asks an optimizer about
/// graphs with nodes on devices of its type only.
pub fn device_type(ours: &CStr) -> &'static CStr {
    static NAME: OnceLock<CString> = OnceLock::new();
    NAME.get_or_init(|| part::declined_name(ours))
}

/// Fills in the one slot that TensorFlow demands: with what returns its input where it is known how
/// the slot is called, else with what touches nothing.
pub fn fill(table: &mut PrefixMut<'_, TP_Optimizer>) {
    if TP_Optimizer::set_optimize_func::<Unchanged>(table).is_err() {
        table.set(TP_Optimizer::optimize_func, Some(untouched));
    }
}

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
            // SAFETY: TensorFlow lends all three for the call.
            unsafe { graph::fill(optimized, Item::new(graph, item)?.bytes().to_vec()) }
        };
        // SAFETY: the status is TensorFlow's own.
        unsafe { guard::status("TP_Optimizer.optimize_func", status, body) }
    }
}

unsafe extern "C" fn untouched(
    _: *mut c_void,
    _: *const TF_Buffer,
    _: *const TF_GrapplerItem,
    _: *mut TF_Buffer,
    _: *mut TF_Status,
) {
}
