//! Calls from the host into the plugin. A slot's address comes from a record; its C signature is
//! written down once, where it is called.

use std::ffi::c_void;

use crate::core::Status;
use crate::ledger::{self, Owner};
use crate::{Code, Error};

/// A pointer to something of the C API.
pub(crate) type Ptr = *mut c_void;

/// Calls the function in a slot of a record: `call!(table, "destroy_stream", (device, stream): (Ptr, Ptr))`.
macro_rules! call {
    ($table:expr, $slot:literal, ($($arg:expr),*): ($($ty:ty),*) $(-> $ret:ty)?) => {{
        let address = $table.slot($slot)?;
        $crate::fault::entering(&$slot);
        // SAFETY: the plugin put this address into this slot, whose C signature is this one in
        // every release; records and statuses among the arguments live until the call is over.
        unsafe {
            std::mem::transmute::<*mut std::ffi::c_void, unsafe extern "C" fn($($ty),*) $(-> $ret)?>(address)($($arg),*)
        }
    }};
}
pub(crate) use call;

/// Runs `body` with a fresh status, and gives what the plugin put into it. `call` names the
/// plugin's function.
pub(crate) fn checked<T>(
    call: &str,
    body: impl FnOnce(Ptr) -> Result<T, Error>,
) -> Result<T, Error> {
    let status = ledger::give(Status::new(), Owner::Host);
    let result = body(status.cast());
    let outcome = ledger::find(status).map(Status::get);
    drop(ledger::take(status));
    let value = result?;
    match outcome {
        Some((Code::OK, _)) => Ok(value),
        Some((code, message)) => Err(Error::Status {
            call: call.to_owned(),
            code,
            message,
        }),
        None => Err(Error::Refused(format!(
            "{call} deleted the status that it was lent"
        ))),
    }
}
