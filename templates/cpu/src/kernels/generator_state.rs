//! The state of a generator as a tensor: the SDK's optimizer writes the op where no kernel can use a variable.

use super::generator::{STATE, advance, check_algorithm};
use super::prelude::*;

mod ops {
    use sp_plugin::Result;
    use sp_plugin::op::{Shape, op};

    /// Reserves numbers of a generator: as many as a tensor of the shape `reserved` has, or `reserved` ones if that is a
    /// scalar. Returns the state without what follows it in the variable, its key and its counter, and the variable's next
    /// value.
    #[op(SpReserveNumbers(value: i64, algorithm: A, reserved: R) -> (state: i64, key: u64, counter: u64, next: i64), A: {i32, i64}, R: {i32, i64, u64})]
    pub fn reserve_numbers(
        value: Shape,
        algorithm: Shape,
        reserved: Shape,
    ) -> Result<(Shape, Shape, Shape, Shape)> {
        let _ = (algorithm, reserved);
        let [state, key, counter] = [3_i64, 1, 2].map(|len| Shape::new([len]));
        Ok((state, key, counter, value))
    }
}

#[kernel(ops::SpReserveNumbers, A = [i32, i64], R: T = [i32, i64, u64])]
fn reserve_numbers<T: Element + Into<i128>>(
    value: In<'_, i64>,
    algorithm: HostIn<'_, Index>,
    reserved: HostIn<'_, T>,
    state: Out<'_, i64>,
    key: Out<'_, u64>,
    counter: Out<'_, u64>,
    next: Out<'_, i64>,
) -> Result<()> {
    check_algorithm(scalar("algorithm", &algorithm)?)?;
    // An invalid shape is an error of the op that draws the numbers.
    let sizes = reserved.data().iter().map(|it| (*it).into() as u64);
    let count = sizes.fold(1, u64::wrapping_mul);
    let mut advanced = allocation::copied(value.data());
    let generator = advance(value.dims(), &mut advanced, count)?;
    let [low, high, key_value] = generator.state();
    state
        .uninit(&[STATE])?
        .copy_from_slice(&generator.state())?;
    key.uninit(&[1])?.fill(key_value.cast_unsigned());
    counter
        .uninit(&[2])?
        .copy_from_slice(&[low, high].map(i64::cast_unsigned))?;
    next.uninit(value.dims())?.copy_from_slice(&advanced)?;
    Ok(())
}

fn scalar(name: &str, value: &HostIn<'_, Index>) -> Result<i64> {
    check_scalar(name, value.dims())?;
    Ok(value.get(0))
}

table! { reserve_numbers }
