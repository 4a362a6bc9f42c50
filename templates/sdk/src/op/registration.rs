//! From definitions to TensorFlow's registry of ops.

use std::collections::BTreeSet;
use std::ffi::CStr;
use std::sync::{Mutex, PoisonError};

use sp_graph::ops::{ELEMENTWISE, ELEMENTWISE_RESULTS, RANDOM_BINOMIAL, RESERVE_NUMBERS};
use sp_runtime::{Release, Releases};

use super::builder::Builder;
use super::definition::OpDefinition;
use crate::release::is_running;
use crate::{Error, Result, graph, lacking};

/// The ops of the SDK.
const SDK_OPS: [&str; 4] = [
    ELEMENTWISE,
    ELEMENTWISE_RESULTS,
    RESERVE_NUMBERS,
    RANDOM_BINOMIAL,
];

/// The releases in which an op can be defined. 2.5 exports the functions, but an op does not work there.
const RELEASES: Releases = Releases::from(Release::new(2, 6));

/// Registers the ops, and returns the names of those that TensorFlow has then. What cannot be registered is reported.
pub(crate) fn register(ops: &[&'static OpDefinition]) -> Vec<&'static CStr> {
    if ops.is_empty() {
        return Vec::new();
    }
    if !is_running(&[RELEASES]) {
        report_undefined(ops);
        return Vec::new();
    }
    let registered = ops.iter().filter(|op| {
        let result = register_op(op);
        if let Err(error) = &result {
            sp_runtime::report!(
                Warn,
                "{error}; neither the op nor its kernels are registered"
            );
        }
        result.is_ok()
    });
    registered.map(|it| it.name).collect()
}

/// Reports the author's ops. Without the SDK's own ones, graphs have the single ops.
fn report_undefined(ops: &[&'static OpDefinition]) {
    let names = ops.iter().map(|it| it.name);
    let is_own = |it: &&CStr| !SDK_OPS.contains(&&*it.to_string_lossy());
    let names: Vec<_> = names.filter(is_own).collect();
    lacking::add_undefined_ops(&names, "ops of plugins need TensorFlow 2.6");
}

/// The ops that were registered. A plugin that is registered for a second host has registered them.
static REGISTERED: Mutex<BTreeSet<&CStr>> = Mutex::new(BTreeSet::new());

fn register_op(op: &OpDefinition) -> Result<()> {
    let mut registered = REGISTERED.lock().unwrap_or_else(PoisonError::into_inner);
    if registered.contains(op.name) {
        return Ok(());
    }
    let name = op.name.to_string_lossy();
    // Another plugin of this SDK may have registered it. If the definition changes, so does the name.
    if SDK_OPS.contains(&&*name) && graph::has_op(&name) {
        registered.insert(op.name);
        return Ok(());
    }
    // TensorFlow ends the process if an op is registered twice.
    if graph::has_op(&name) {
        let message = format!("{name}: TensorFlow or another plugin has an op of this name");
        return Err(Error::new(sp_runtime::Code::ALREADY_EXISTS, message));
    }
    Builder::new(op)?.register(op.name)?;
    registered.insert(op.name);
    Ok(())
}
