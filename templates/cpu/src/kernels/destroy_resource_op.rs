//! DestroyResourceOp: on 2.6 and 2.7 core has no kernel that serves a plugin, and its C API no way to
//! end a resource. Without this one each variable that goes raises an error; its memory stays either
//! way, which is told once.

use std::sync::Once;

use super::prelude::*;

#[kernel(op = "DestroyResourceOp", host = ["resource"], releases = "2.6..2.7")]
fn destroy_resource_op(_: &Host<'_>) -> Result<()> {
    static TOLD: Once = Once::new();
    TOLD.call_once(|| {
        sp_runtime::report!(
            Warn,
            "this TensorFlow cannot free variables of a plugin's device; they stay"
        );
    });
    Ok(())
}
