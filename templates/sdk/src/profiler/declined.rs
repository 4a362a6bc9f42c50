//! The profiler of a plugin that declines its host: it records nothing.

use sp_abi::pluggable_profiler::{TP_Profiler, TP_ProfilerFns};
use sp_abi::tf_status::TF_Status;
use sp_runtime::PrefixMut;

/// Fills in the slots that TensorFlow requires. They access only the output parameter for the size.
pub fn fill(fns: &mut PrefixMut<'_, TP_ProfilerFns>) {
    fns.set(TP_ProfilerFns::start, Some(nothing));
    fns.set(TP_ProfilerFns::stop, Some(nothing));
    fns.set(TP_ProfilerFns::collect_data_xspace, Some(no_data));
}

unsafe extern "C" fn nothing(_: *const TP_Profiler, _: *mut TF_Status) {}

unsafe extern "C" fn no_data(
    _: *const TP_Profiler,
    _: *mut u8,
    size: *mut usize,
    _: *mut TF_Status,
) {
    // SAFETY: `size` is TensorFlow's output parameter, writable during the call.
    unsafe { size.write(0) }
}
