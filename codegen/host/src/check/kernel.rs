//! Registered kernels, and what a whole life of the plugin leaves behind.

use std::collections::BTreeSet;

use super::{Session, ensure, unregistered};
use crate::core;
use crate::host::adopt;
use crate::ledger::Tally;
use crate::outcome::Seen;

/// Kernels are registered with a device or without: a plugin may serve one that it does not bring.
pub(super) fn registered(session: &Session<'_>) -> Seen {
    let plugin = session.with("TF_InitKernel")?;
    let own = plugin.entry_points().contains(&"SE_InitPlugin");
    let platform = own.then(|| adopt(&plugin)).transpose();
    let device = platform.map_err(unregistered)?.map(|it| it.device_type());
    core::recorded();
    plugin.register_kernels();
    let kernels = core::recorded();
    let mut seen = BTreeSet::new();
    for kernel in &kernels {
        let (op, constraints) = (&kernel.op, &kernel.constraints);
        let served = device.as_ref().unwrap_or(&kernel.device);
        ensure(kernel.device == *served, || {
            format!(
                "{op} is registered for {}, and the device type is {served}",
                kernel.device
            )
        })?;
        let mut sorted = constraints.clone();
        sorted.sort();
        let new = seen.insert((op, sorted, kernel.priority, &kernel.label));
        ensure(new, || {
            format!("{op} {constraints:?} is registered twice; TensorFlow then runs neither")
        })?;
    }
    let ops: BTreeSet<&String> = kernels.iter().map(|kernel| &kernel.op).collect();
    let tally = Tally::now().of_the_plugin();
    ensure(tally.is_clean(), || tally.to_string())?;
    Ok(format!("{} kernels for {} ops", seen.len(), ops.len()))
}

/// Load, create, destroy: nothing of core's stays with the plugin, and every function it called is
/// one that this host has.
pub(super) fn given_back(session: &Session<'_>) -> Seen {
    let tally = session.host()?.close()?;
    ensure(tally.is_clean(), || tally.to_string())?;
    Ok("no object of core's left with the plugin".into())
}
