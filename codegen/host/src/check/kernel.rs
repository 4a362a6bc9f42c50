//! Checks of registered kernels, and of the objects that a plugin never deletes.

use std::collections::BTreeSet;

use super::session::{CheckSession, ensure, skip_unregistered};
use crate::channel;
use crate::core;
use crate::host::register_platform;
use crate::objects::ObjectReport;
use crate::outcome::CheckResult;
use crate::plugin_settings;
use crate::registration::{self, DefinedOp, RegisteredKernel};

/// A plugin may register kernels for a device that another plugin has.
pub(super) fn registered(session: &CheckSession<'_>) -> CheckResult {
    let plugin = session.with("TF_InitKernel")?;
    let own = plugin.entry_points().contains(&"SE_InitPlugin");
    let platform = own.then(|| register_platform(&plugin)).transpose();
    let device = platform
        .map_err(skip_unregistered)?
        .map(|it| it.device_type());
    core::take_registered_kernels();
    plugin.register_kernels();
    let kernels = core::take_registered_kernels();
    let lacking = plugin_settings::lacking_ops(&plugin.settings());
    let kernels: Vec<RegisteredKernel> = kernels.iter().map(RegisteredKernel::from).collect();
    let defined: Vec<DefinedOp> = core::defined().iter().map(DefinedOp::from).collect();
    let reports = registration::reports(device.as_deref(), &defined, &kernels, &lacking);
    channel::send_registrations(&reports);
    for (n, kernel) in kernels.iter().enumerate() {
        let (op, constraints) = (&kernel.op, &kernel.constraints);
        let served = device.as_ref().unwrap_or(&kernel.device);
        ensure(kernel.device == *served, || {
            format!(
                "{op} is registered for {}, and the device type is {served}",
                kernel.device
            )
        })?;
        let equal = kernels[..n].iter().find(|it| it.is_ambiguous_with(kernel));
        ensure(equal.is_none(), || {
            let other = equal.map(|it| &it.constraints);
            format!(
                "{op} {constraints:?} is registered twice: kernel {other:?} serves the same nodes with the same \
                 priority, and TensorFlow then runs neither"
            )
        })?;
    }
    let ops: BTreeSet<&String> = kernels.iter().map(|kernel| &kernel.op).collect();
    let tally = ObjectReport::now().without_unimplemented();
    ensure(tally.is_clean(), || tally.to_string())?;
    Ok(format!(
        "registered {} kernels for {} ops",
        kernels.len(),
        ops.len()
    ))
}

/// Loads the plugin, creates a device and destroys it: the plugin deletes all objects that it owns.
pub(super) fn objects_released(session: &CheckSession<'_>) -> CheckResult {
    let tally = session.host()?.close()?;
    ensure(tally.is_clean(), || tally.to_string())?;
    Ok("the plugin deleted every object that it owned".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::DType;

    const TABLE: &str = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/kernel_overlap.txt"
    );

    /// Parses `Sum T=FLOAT Tidx=INT32`.
    fn parse_kernel(text: &str) -> RegisteredKernel {
        let mut words = text.split_whitespace();
        let op = words.next().unwrap();
        let constraint = |word: &str| {
            let (name, dtype) = word.split_once('=').unwrap();
            let found = (0..32).map(DType).find(|known| known.name() == Some(dtype));
            (name.to_owned(), found.unwrap())
        };
        RegisteredKernel {
            op: op.to_owned(),
            device: "DEMO".to_owned(),
            constraints: words.map(constraint).collect(),
            host_memory: Vec::new(),
            priority: 0,
            label: String::new(),
            is_async: false,
        }
    }

    #[test]
    fn ambiguity_is_that_of_the_table_in_both_orders() {
        let table = std::fs::read_to_string(TABLE).unwrap();
        let rows = table.lines().filter(|line| !line.starts_with('#'));
        for row in rows.clone() {
            let [first, second, result] = row.split(" | ").collect::<Vec<_>>()[..] else {
                panic!("{row}");
            };
            let (first, second) = (parse_kernel(first), parse_kernel(second));
            let expected = result == "overlap";
            assert_eq!(first.is_ambiguous_with(&second), expected, "{row}");
            assert_eq!(second.is_ambiguous_with(&first), expected, "{row}");
        }
        assert!(rows.count() > 10);
    }

    #[test]
    fn other_priority_or_label_is_not_ambiguous() {
        let kernel = parse_kernel("Relu");
        let preferred = RegisteredKernel {
            priority: 1,
            ..kernel.clone()
        };
        let labelled = RegisteredKernel {
            label: "fast".to_owned(),
            ..kernel.clone()
        };
        assert!(!kernel.is_ambiguous_with(&preferred));
        assert!(!kernel.is_ambiguous_with(&labelled));
    }
}
