//! Structs of arguments that are shorter or longer than the plugin's header has them, and extensions of arguments.

use sp_host::child_checks::{CheckResult, Stop};

use crate::buffer::ensure;
use crate::layout;
use crate::session::{Client, Session};

/// Functions with outputs that need the client only.
const FUNCTIONS: [&str; 6] = [
    "Client_PlatformName",
    "Client_PlatformVersion",
    "Client_ProcessIndex",
    "Client_Devices",
    "Client_AddressableDevices",
    "Client_AddressableMemories",
];

/// A struct that ends before its outputs is an error, or is left as it is.
pub(super) fn shorter(session: &Session<'_>) -> CheckResult {
    let client = session.client()?;
    let mut errors = 0;
    for function in FUNCTIONS {
        let args = client.plugin.args(function, &[("client", client.handle)])?;
        let called = client.plugin.call_with(function, args.with_size(24)?)?;
        errors += usize::from(called.is_err());
    }
    Ok(format!(
        "{errors} of {} functions report an error",
        FUNCTIONS.len()
    ))
}

/// A struct that is longer than the plugin's is used as far as the plugin has it.
pub(super) fn longer(session: &Session<'_>) -> CheckResult {
    let client = session.client()?;
    for function in FUNCTIONS {
        let name = format!("PJRT_{function}_Args");
        let (size, _) = layout::sizes(client.plugin.api, &name).unwrap_or_default();
        let args = client.plugin.args(function, &[("client", client.handle)])?;
        let called = client
            .plugin
            .call_with(function, args.with_size(size + 32)?)?;
        let longer = called.map_err(|error| {
            Stop::Fail(format!(
                "PJRT_{function} rejects a struct_size of {}, as of a newer host: {error}",
                size + 32
            ))
        })?;
        expect_same_outputs(&client, function, &longer)?;
    }
    Ok(format!("{} functions", FUNCTIONS.len()))
}

fn expect_same_outputs(
    client: &Client<'_>,
    function: &str,
    other: &crate::args::Args<'_>,
) -> Result<(), Stop> {
    let args = client.call(function, &[])?;
    let name = format!("PJRT_{function}_Args");
    let fields = client.plugin.api.structure(&name).map(|it| &it.fields);
    for field in fields.into_iter().flatten().skip(2) {
        let (expected, found) = (args.get(&field.name)?, other.get(&field.name)?);
        ensure(expected == found, || {
            format!(
                "{name}.{} is {found:#x} in a longer struct, and {expected:#x} else",
                field.name
            )
        })?;
    }
    Ok(())
}

/// An extension of the arguments that the plugin does not know is ignored.
pub(super) fn unknown_extension(session: &Session<'_>) -> CheckResult {
    let client = session.client()?;
    let extension: [u64; 3] = [24, 9999, 0];
    let set = [("extension_start", extension.as_ptr() as u64)];
    for function in FUNCTIONS {
        let args = client.call(function, &set)?;
        expect_same_outputs(&client, function, &args)?;
    }
    ensure(extension == [24, 9999, 0], || {
        "the extension was changed".into()
    })?;
    Ok(format!("{} functions", FUNCTIONS.len()))
}
