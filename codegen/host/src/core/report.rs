//! The result of a call in the status that a plugin passed.

use super::argument::Arg;
use super::failure::{CallError, DefaultReturn, StatusResult};
use crate::StatusCode;
use crate::status_object::StatusObject;

/// Sets the status that a plugin passed for the result of `call`.
pub(super) fn report(status: &Arg<StatusObject>, call: &str, result: StatusResult<()>) {
    let Some(status) = status.get(call) else {
        return;
    };
    match result {
        Ok(()) => status.set(StatusCode::OK, ""),
        Err((code, message)) => status.set(code, &message),
    }
}

/// Sets the status for the result of `call`, and returns its value or the default return value.
pub(super) fn report_result<R: DefaultReturn>(
    status: &Arg<StatusObject>,
    call: &str,
    result: Result<R, CallError>,
) -> R {
    match result {
        Ok(value) => {
            report(status, call, Ok(()));
            return value;
        }
        Err(CallError::Status(code, message)) => report(status, call, Err((code, message))),
        Err(CallError::Recorded) => {}
    }
    R::DEFAULT
}
