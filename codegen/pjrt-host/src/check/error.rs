//! Errors: code, message, payloads and lifetime.

use sp_host::child_checks::{CheckResult, Stop};

use crate::buffer::{ensure, expect_error};
use crate::call::{Calls, record_payload};
use crate::plugin::Plugin;
use crate::session::{Client, Session};

/// An id that no device has.
const NO_DEVICE: u64 = 0x7fff_fff0;

/// Returns an error of the plugin: that of a lookup of a device that does not exist.
fn new_error(client: &Client<'_>) -> Result<u64, Stop> {
    let set = [("client", client.handle), ("id", NO_DEVICE)];
    let args = client.plugin.args("Client_LookupDevice", &set)?;
    match client.plugin.call_raw("Client_LookupDevice", args)? {
        (0, _) => Err(Stop::Fail(format!(
            "a device with the id {NO_DEVICE} was found"
        ))),
        (error, _) => Ok(error),
    }
}

/// An error has a known code and a message, which two reads return.
pub(super) fn code_and_message(session: &Session<'_>) -> CheckResult {
    let client = session.client()?;
    let plugin = &client.plugin;
    let error = new_error(&client)?;
    let (first, second) = (plugin.read_error(error)?, plugin.read_error(error)?);
    ensure(first == second, || {
        format!("an error is {first}, then {second}")
    })?;
    plugin.destroy_error(error)?;
    let error = expect_error(Err(first), "a lookup of a device that does not exist")?;
    Ok(error.to_string())
}

/// Errors are independent of each other and of the order of their destruction.
pub(super) fn independent(session: &Session<'_>) -> CheckResult {
    let client = session.client()?;
    let plugin = &client.plugin;
    let errors: Vec<u64> = (0..4)
        .map(|_| new_error(&client))
        .collect::<Result<_, _>>()?;
    let expected = plugin.read_error(errors[0])?;
    for at in [2, 0, 3] {
        plugin.destroy_error(errors[at])?;
        let left = plugin.read_error(errors[1])?;
        ensure(left == expected, || {
            format!("an error is {left} after another one was destroyed, and was {expected}")
        })?;
    }
    plugin.destroy_error(errors[1])?;
    Ok("4 errors, destroyed in another order".into())
}

/// PJRT_Error_Destroy accepts null.
pub(super) fn null(session: &Session<'_>) -> CheckResult {
    let plugin = session.plugin()?;
    plugin.destroy_error(0)?;
    Ok("destroyed a null error".into())
}

/// PJRT_Error_ForEachPayload visits payloads with names, and a null visitor or an error without payloads is no crash.
pub(super) fn payloads(session: &Session<'_>) -> CheckResult {
    let client = session.client()?;
    let plugin = &client.plugin;
    require_payloads(plugin)?;
    let error = new_error(&client)?;
    let calls = Calls::leaked();
    let set = [
        ("error", error),
        ("visitor", record_payload as *const () as u64),
        ("user_arg", calls.address()),
    ];
    let visited = plugin.try_call("Error_ForEachPayload", &set)?;
    plugin.require("Error_ForEachPayload", visited)?;
    let count = calls.count();
    let again = plugin.try_call("Error_ForEachPayload", &set)?;
    plugin.require("Error_ForEachPayload", again)?;
    ensure(calls.count() == 2 * count, || {
        format!("{count} payloads, then {}", calls.count() - count)
    })?;
    plugin.destroy_error(error)?;
    Ok(format!("{count} payloads"))
}

/// Skips the check if the plugin or the host is older than payloads.
fn require_payloads(plugin: &Plugin<'_>) -> Result<(), Stop> {
    match plugin.has("Error_ForEachPayload") {
        true => Ok(()),
        false => Err(Stop::Skip(
            "the plugin or the host has no PJRT_Error_ForEachPayload".into(),
        )),
    }
}
