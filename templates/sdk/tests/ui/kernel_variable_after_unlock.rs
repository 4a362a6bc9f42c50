use sp_plugin::Result;
use sp_plugin::kernel::{In, LazyIn, Variable, kernel};

#[kernel(AssignAddVariableOp, dtype = [f32])]
fn value_outlives_lock(resource: Variable<'_, f32>, value: In<'_, f32>) -> Result<()> {
    let mut lock = resource.lock()?;
    let mut variable = lock.value()?;
    drop(lock);
    variable[0] += value.scalar()?;
    Ok(())
}

#[kernel(AssignSubVariableOp, dtype = [f32])]
fn assigned_while_locked(resource: Variable<'_, f32>, value: LazyIn<'_, f32>) -> Result<()> {
    let mut lock = resource.lock()?;
    lock.value()?[0] = 0.0;
    resource.assign(value, true)
}

#[kernel(ResourceScatterAdd, dtype = [f32], Tindices = [i32])]
fn two_values_at_a_time(
    resource: Variable<'_, f32>,
    indices: In<'_, i32>,
    updates: In<'_, f32>,
) -> Result<()> {
    let mut lock = resource.lock()?;
    let (mut first, mut second) = (lock.value()?, lock.value()?);
    first[0] = updates.scalar()?;
    second[0] = indices.scalar()? as f32;
    Ok(())
}

fn main() {}
