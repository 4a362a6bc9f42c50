//! Registered kernels, and what a whole life of the plugin leaves behind.

use std::collections::BTreeSet;

use super::{Session, ensure};
use crate::ledger::Tally;
use crate::outcome::Seen;

pub(super) fn registered(session: &Session<'_>) -> Seen {
    session.with("TF_InitKernel")?;
    let host = session.host()?;
    let device = host.device_type();
    let mut seen = BTreeSet::new();
    for kernel in host.kernels() {
        let (op, constraints) = (&kernel.op, &kernel.constraints);
        ensure(kernel.device == device, || {
            format!(
                "{op} is registered for {}, and the device type is {device}",
                kernel.device
            )
        })?;
        let mut sorted = constraints.clone();
        sorted.sort();
        let new = seen.insert((op.clone(), sorted, kernel.priority));
        ensure(new, || {
            format!("{op} {constraints:?} is registered twice; TensorFlow then runs neither")
        })?;
    }
    let ops: BTreeSet<String> = host.kernels().map(|kernel| kernel.op).collect();
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
