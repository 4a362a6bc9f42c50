//! Kernels of variables, for releases that export the functions for them: where core has none for a plugin's device,
//! and where core's own use device memory from the host (AssignAdd and AssignSub from 2.15 on).

use super::prelude::*;
use crate::compute::map::update;
use crate::compute::scatter_nd::{Accumulate, Deduct};
use sp_abi::kernels_experimental::TF_AssignVariable;
use sp_plugin::kernel::{LazyIn, ResourceHandle, Variable};
use std::sync::Once;

#[kernel(
    AssignVariableOp,
    dtype: T = [Bool, u8, i8, i16, u16, i32, u32, i64, u64, f32, f64],
    releases = "2.6..2.10",
    needs = [TF_AssignVariable]
)]
fn assign<T: Element>(
    resource: Variable<'_, T>,
    value: LazyIn<'_, T>,
    validate_shape: bool,
) -> Result<()> {
    resource.assign(value, validate_shape)
}

/// Kernels that change a variable: `name: Op, [bounds] in [types] => change`, of the variable's elements and the value's.
macro_rules! updates {
    ($($name:ident: $op:ident, [$($bound:tt)*] in [$($ty:ident),*] => $change:expr;)*) => {
        $(
            #[kernel($op, dtype: T = [$($ty),*], releases = "2.6..")]
            fn $name<T: Element + $($bound)*>(
                resource: Variable<'_, T>,
                value: LazyIn<'_, T>,
            ) -> Result<()> {
                resource.update(value, $change)
            }
        )*

        table! { assign, destroy, $($name),* }
    };
}

updates! {
    add: AssignAddVariableOp, [Precision<Compute: Number>] in [F16, Bf16, f32, f64, u8, i8, u16, i16, u32, i32, u64, i64] => |variable, value| {
        T::update(variable, |it| update(it, &T::widened(value), arith::add))
    };
    sub: AssignSubVariableOp, [Precision<Compute: Number>] in [F16, Bf16, f32, f64, u8, i8, u16, i16, u32, i32, u64, i64] => |variable, value| {
        T::update(variable, |it| update(it, &T::widened(value), arith::sub))
    };
    add_complex: AssignAddVariableOp, [Accumulate] in [Complex64, Complex128] => |variable, value| update(variable, value, T::accumulate);
    sub_complex: AssignSubVariableOp, [Deduct] in [Complex64, Complex128] => |variable, value| update(variable, value, T::deduct);
}

/// Reports once that the memory of variables is not freed. In 2.6 and 2.7 core has no kernel for a plugin's device, and the
/// C API has no function that destroys a resource. Without this kernel the end of each variable raises an error.
#[kernel(DestroyResourceOp, releases = "2.6..2.7")]
fn destroy(_resource: ResourceHandle<'_>) -> Result<()> {
    static REPORTED: Once = Once::new();
    REPORTED.call_once(|| {
        sp_runtime::report!(
            Info,
            "DestroyResourceOp: TensorFlow 2.6 and 2.7 cannot free a variable on a plugin's device; its memory is not freed"
        );
    });
    Ok(())
}
