//! Comparisons, properties of numbers, and functions of truth values.

use super::elementwise::{map_one, map_two};
use super::prelude::*;
use crate::compute::{Broadcast, relation as f};
use sp_plugin::kernel::HostOut; // since 2.11
use sp_plugin::kernel::{Kernel, kernels};

/// Comparisons by order: `name: Op => function`.
macro_rules! orders {
    ($($name:ident: $op:ident => $f:path;)*) => {$(
        #[kernel($op, T = [F16, Bf16, f32, f64, i64])]
        fn $name<T: Element + Precision<Compute: Number>>(x: In<'_, T>, y: In<'_, T>, z: Out<'_, Bool>) -> Result<()> {
            map_two(cost::Cheap, x, y, z, $f)
        }
    )*};
}

/// Comparisons for equality: `name: Op => function, result for shapes that do not broadcast`.
macro_rules! equalities {
    ($($name:ident: $op:ident => $f:path, $other:expr;)*) => {$(
        #[kernel($op, T = [Bool, F16, Bf16, f32, f64, i64])]
        fn $name<T: Element + Precision<Compute: PartialEq>>(
            x: In<'_, T>,
            y: In<'_, T>,
            z: Out<'_, Bool>,
            incompatible_shape_error: bool,
        ) -> Result<()> {
            let other = (!incompatible_shape_error).then_some($other);
            write_unless_incompatible(x, y, z, other, |x, y, z| map_two(cost::Cheap, x, y, z, $f))
        }
    )*};
}

/// Properties of a float: `name: Op => function`.
macro_rules! properties {
    ($($name:ident: $op:ident => $f:path;)*) => {$(
        #[kernel($op, T = [F16, Bf16, f32, f64])]
        fn $name<T: Element + Precision<Compute: Number>>(x: In<'_, T>, y: Out<'_, Bool>) -> Result<()> {
            map_one(x, y, $f)
        }
    )*};
}

/// Calls `write` for operands that broadcast, and writes `other` if they do not.
///
/// # Errors
/// Returns an error if the operands do not broadcast, and `other` is `None`.
pub fn write_unless_incompatible<'a, T: Element>(
    x: In<'a, T>,
    y: In<'a, T>,
    z: Out<'a, Bool>,
    other: Option<bool>,
    write: impl FnOnce(In<'a, T>, In<'a, T>, Out<'a, Bool>) -> Result<()>,
) -> Result<()> {
    match other {
        Some(other) if Broadcast::new([x.dims(), y.dims()]).is_err() => {
            z.uninit(&[])?.fill(Bool::from(other));
            Ok(())
        }
        _ => write(x, y, z),
    }
}

orders! {
    greater: Greater => f::greater;
    greater_equal: GreaterEqual => f::greater_equal;
    less: Less => f::less;
    less_equal: LessEqual => f::less_equal;
}

equalities! {
    equal: Equal => f::equal, false;
    not_equal: NotEqual => f::not_equal, true;
}

properties! {
    is_finite: IsFinite => f::is_finite;
    is_inf: IsInf => f::is_infinite;
    is_nan: IsNan => f::is_nan;
}

#[kernel(LogicalAnd)]
fn logical_and(x: In<'_, Bool>, y: In<'_, Bool>, z: Out<'_, Bool>) -> Result<()> {
    map_two(cost::Cheap, x, y, z, f::and)
}

#[kernel(LogicalOr)]
fn logical_or(x: In<'_, Bool>, y: In<'_, Bool>, z: Out<'_, Bool>) -> Result<()> {
    map_two(cost::Cheap, x, y, z, f::or)
}

#[kernel(LogicalNot)]
fn logical_not(x: In<'_, Bool>, y: Out<'_, Bool>) -> Result<()> {
    map_one(x, y, f::not)
}

// since 2.11
/// Conjunction of conditions of loops and branches, which the host reads.
#[kernel(LogicalAnd, label = "host", releases = "2.11..")]
fn and_of_conditions(x: HostIn<'_, Bool>, y: HostIn<'_, Bool>, z: HostOut<'_, Bool>) -> Result<()> {
    map_two(
        cost::Cheap,
        x.into_input(),
        y.into_input(),
        z.into_output(),
        f::and,
    )
}

// since 2.11
#[kernel(LogicalOr, label = "host", releases = "2.11..")]
fn or_of_conditions(x: HostIn<'_, Bool>, y: HostIn<'_, Bool>, z: HostOut<'_, Bool>) -> Result<()> {
    map_two(
        cost::Cheap,
        x.into_input(),
        y.into_input(),
        z.into_output(),
        f::or,
    )
}

// since 2.11
#[kernel(LogicalNot, label = "host", releases = "2.11..")]
fn not_of_condition(x: HostIn<'_, Bool>, y: HostOut<'_, Bool>) -> Result<()> {
    map_one(x.into_input(), y.into_output(), f::not)
}

/// Returns the kernels of this file.
pub fn table() -> Vec<&'static Kernel> {
    kernels![
        greater,
        greater_equal,
        less,
        less_equal,
        equal,
        not_equal,
        is_finite,
        is_inf,
        is_nan,
        logical_and,
        logical_or,
        logical_not,
        and_of_conditions, // since 2.11
        or_of_conditions,  // since 2.11
        not_of_condition,  // since 2.11
    ]
}
