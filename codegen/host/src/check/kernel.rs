//! Registered kernels, and what a whole life of the plugin leaves behind.

use std::collections::BTreeSet;

use super::session::{Session, ensure, unregistered};
use crate::core::{self, Builder};
use crate::dtype::DType;
use crate::host::adopt;
use crate::objects::Tally;
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
    for (n, kernel) in kernels.iter().enumerate() {
        let (op, constraints) = (&kernel.op, &kernel.constraints);
        let served = device.as_ref().unwrap_or(&kernel.device);
        ensure(kernel.device == *served, || {
            format!(
                "{op} is registered for {}, and the device type is {served}",
                kernel.device
            )
        })?;
        let equal = kernels[..n].iter().find(|it| is_ambiguous(it, kernel));
        ensure(equal.is_none(), || {
            let other = equal.map(|it| &it.constraints);
            format!(
                "{op} {constraints:?} is registered twice: kernel {other:?} serves the same nodes with the same \
                 priority, and TensorFlow then runs neither"
            )
        })?;
    }
    let ops: BTreeSet<&String> = kernels.iter().map(|kernel| &kernel.op).collect();
    let tally = Tally::now().of_the_plugin();
    ensure(tally.is_clean(), || tally.to_string())?;
    Ok(format!("{} kernels for {} ops", kernels.len(), ops.len()))
}

/// Returns true if there is a node for which TensorFlow finds both kernels and cannot choose.
fn is_ambiguous(left: &Builder, right: &Builder) -> bool {
    let differs = |(name, dtype): &(String, DType)| {
        let mut others = right.constraints.iter();
        others.any(|(other, other_dtype)| other == name && other_dtype != dtype)
    };
    let key = |it: &Builder| (it.op.clone(), it.priority, it.label.clone());
    key(left) == key(right) && !left.constraints.iter().any(differs)
}

/// Load, create, destroy: nothing of core's stays with the plugin, and every function it called is
/// one that this host has.
pub(super) fn given_back(session: &Session<'_>) -> Seen {
    let tally = session.host()?.close()?;
    ensure(tally.is_clean(), || tally.to_string())?;
    Ok("no object of core's left with the plugin".into())
}
