//! The kernels that core has created.

use super::file;
use super::format::{Created, Record};
use crate::runtime::core;
use crate::runtime::host;
use crate::runtime::shared::Shared;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// The live kernels of an object. A plugin may return one object for several kernels.
static KERNELS: Shared<HashMap<u64, Vec<Created>>> = Shared::new();
static LAST: AtomicU64 = AtomicU64::new(0);

/// Notes a kernel that was created.
///
/// # Safety
/// - `construction` is live.
pub unsafe fn created(construction: u64, object: u64, op: &str) {
    // SAFETY: as the caller guarantees.
    let (node, node_def) = unsafe {
        (
            host::construction_name(construction),
            core::node_def(construction),
        )
    };
    let kernel = Created {
        kernel: LAST.fetch_add(1, Ordering::Relaxed) + 1,
        op: op.into(),
        node,
        node_def,
    };
    file::write(&Record::Created(kernel.clone()));
    KERNELS.with(|kernels| kernels.entry(object).or_default().push(kernel));
}

/// Notes that the kernel of an object was deleted. One of several that share the object stays.
pub fn deleted(object: u64) {
    let removed = KERNELS.with(|kernels| match kernels.get(&object).map(Vec::len) {
        Some(1) => kernels.remove(&object),
        _ => None,
    });
    for kernel in removed.into_iter().flatten() {
        file::write(&Record::Deleted(kernel.kernel));
    }
}

/// Returns the number of the kernel of an object; 0 if it was created without a function of the plugin.
///
/// # Errors
/// Returns the reason if several kernels share the object and the name of their node.
pub fn find(object: u64, node: &str) -> Result<u64, &'static str> {
    KERNELS.with(|kernels| {
        let Some(all) = kernels.get(&object) else {
            return Ok(0);
        };
        let mut named = all.iter().filter(|it| all.len() == 1 || it.node == node);
        let Some(first) = named.next() else {
            return Ok(0);
        };
        match named.all(|it| it.node_def == first.node_def && it.op == first.op) {
            true => Ok(first.kernel),
            false => Err("several kernels share its object"),
        }
    })
}
