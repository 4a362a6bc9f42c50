//! From tables of kernels to TensorFlow's registry: the body of `TF_InitKernel`.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use sp_runtime::{Host, guard};

use super::Entry;
use crate::Device;
use crate::platform::About;

/// Registers the kernels of all tables; an earlier table's entry shadows a later one's with the
/// same op and types. What TensorFlow refuses is told on stderr and left out.
pub fn register<D: Device>(about: &About, tables: impl FnOnce() -> Vec<Vec<Entry<D>>>) {
    guard::value("TF_InitKernel", (), || {
        let host = Host::enter(&about.terms(), &sp_abi::KNOWLEDGE, Vec::new);
        // What is wrong with the host has been told with the device, which it does not get.
        if host.serve().is_err() {
            return;
        }
        let entries = shadowed(tables()).into_iter().filter(|it| it.serves(host));
        for entry in served(entries.collect()) {
            if let Err(error) = entry.register(about.device_type) {
                sp_runtime::report!("{} is not registered: {error}", entry.label());
            }
        }
    });
}

/// Those whose means the host has; of the others a line for each thing that it lacks.
fn served<D: Device>(entries: Vec<Entry<D>>) -> Vec<Entry<D>> {
    let mut left: BTreeMap<String, BTreeSet<Cow<'_, str>>> = BTreeMap::new();
    let mut served = Vec::new();
    for entry in entries {
        match entry.lacks() {
            None => served.push(entry),
            Some(missing) => {
                let ops = left.entry(missing.to_string()).or_default();
                ops.insert(entry.op().to_string_lossy());
            }
        }
    }
    for (missing, ops) in left {
        let ops: Vec<_> = ops.into_iter().collect();
        let ops = ops.join(", ");
        sp_runtime::report!("{ops}: left to TensorFlow's own kernels, since {missing}");
    }
    served
}

/// The entries that remain: the first for each op and types.
fn shadowed<D: Device>(tables: Vec<Vec<Entry<D>>>) -> Vec<Entry<D>> {
    let mut kept: Vec<Entry<D>> = Vec::new();
    for entry in tables.into_iter().flatten() {
        if !kept.iter().any(|earlier| earlier.serves_the_same(&entry)) {
            kept.push(entry);
        }
    }
    kept
}
