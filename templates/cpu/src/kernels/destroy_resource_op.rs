//! DestroyResourceOp. In 2.6 and 2.7 core has no kernel for a plugin's device, and the C API has no function
//! that destroys a resource. Without this kernel the end of each variable raises an error. Its memory is not
//! freed in either case, which is reported once.

use std::sync::Once;

use super::prelude::*;

#[kernel(op = "DestroyResourceOp", host = ["resource"], releases = "2.6..2.7")]
fn destroy_resource_op(_: &Host<'_>) -> Result<()> {
    static REPORTED: Once = Once::new();
    REPORTED.call_once(|| {
        sp_runtime::report!(
            Warn,
            "DestroyResourceOp: TensorFlow 2.6 and 2.7 cannot free a variable on a plugin's device; its memory is not freed"
        );
    });
    Ok(())
}
