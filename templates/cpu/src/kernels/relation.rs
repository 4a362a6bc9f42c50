//! Functions of truth values.

use super::elementwise::{map_one, map_two};
use super::prelude::*;
use crate::compute::relation as f;

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
    map_one(cost::Cheap, x, y, f::not)
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
    map_one(cost::Cheap, x.into_input(), y.into_output(), f::not)
}

table! {
    logical_and, logical_or, logical_not,
    and_of_conditions, // since 2.11
    or_of_conditions, // since 2.11
    not_of_condition, // since 2.11
}
