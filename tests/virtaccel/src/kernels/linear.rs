//! Matrix products, biases and reductions.

use sp_cpu::compute::arith::Number;
use sp_cpu::compute::matmul::{Product, Tiled, matmul};
use sp_cpu::compute::nn::bias::{self, ChannelLayout};
use sp_cpu::compute::reduce::{Fold, Mean, Reduction, Sum, reduce};

use super::call::{Element, Type};
use super::elementwise::check;
use super::{Call, Kernel, Role};
use crate::abi::{Result, Status};

/// Selects the function for `f32` or `f64` by the type of argument 0.
macro_rules! reals {
    ($call:ident, $function:ident $(::<$($parameter:ty),*>)?) => {
        match $call.element_type(0)? {
            Type::F32 => $function::<f32 $($(, $parameter)*)?>($call),
            Type::F64 => $function::<f64 $($(, $parameter)*)?>($call),
            _ => Err(Status::INVALID_VALUE),
        }
    };
}
pub(super) use reals;

/// The kernels of this file.
pub const KERNELS: &[Kernel] = &[
    Kernel {
        name: "matmul",
        arguments: &[Role::In, Role::In, Role::Out, Role::Integer, Role::Integer],
        run: |call| reals!(call, product),
    },
    Kernel {
        name: "bias_add",
        arguments: &[Role::In, Role::In, Role::Out],
        run: |call| reals!(call, bias_add),
    },
    Kernel {
        name: "bias_add_grad",
        arguments: &[Role::In, Role::Out],
        run: |call| reals!(call, bias_add_grad),
    },
    Kernel {
        name: "sum",
        arguments: &[Role::In, Role::Out, Role::Integer],
        run: |call| reals!(call, reduction::<Sum>),
    },
    Kernel {
        name: "mean",
        arguments: &[Role::In, Role::Out, Role::Integer],
        run: |call| reals!(call, reduction::<Mean>),
    },
];

fn product<T: Element + Tiled>(call: &Call) -> Result {
    let matrix = |index| -> Result<[usize; 2]> {
        let dims = call.dims(index)?;
        dims.try_into().map_err(|_| Status::INVALID_VALUE)
    };
    let transposed = (call.integer(3)? != 0, call.integer(4)? != 0);
    let product = Product::new(matrix(0)?, matrix(1)?, transposed.0, transposed.1);
    let product = product.ok_or(Status::INVALID_VALUE)?;
    check(matrix(2)? == [product.m, product.n])?;
    let (a, b) = (call.input::<T>(0)?, call.input::<T>(1)?);
    matmul(product, &a, &b, call.output(2)?);
    Ok(())
}

fn bias_add<T: Element + Number>(call: &Call) -> Result {
    let dims = call.dims(0)?;
    check(!dims.is_empty() && call.dims(2)? == dims)?;
    let (x, biases) = (call.input::<T>(0)?, call.input::<T>(1)?);
    let layout = ChannelLayout::ChannelsLast;
    let added = bias::bias_add(dims, layout, &x, &biases, call.output(2)?);
    added.map_err(|_| Status::INVALID_VALUE)
}

fn bias_add_grad<T: Element + Number>(call: &Call) -> Result
where
    Sum: Fold<T>,
{
    let dims = call.dims(0)?;
    check(dims.last().is_some() && call.dims(1)? == &dims[dims.len() - 1..])?;
    let x = call.input::<T>(0)?;
    let layout = ChannelLayout::ChannelsLast;
    let summed = bias::bias_add_grad(dims, layout, &x, call.output(1)?);
    summed.map_err(|_| Status::INVALID_VALUE)
}

/// Reduces the axes whose bits are set in the integer.
fn reduction<T: Element + Number, F: Fold<T>>(call: &Call) -> Result {
    let (dims, mask) = (call.dims(0)?, call.integer(2)?);
    let axes: Vec<i64> = (0..dims.len() as i64)
        .filter(|axis| mask >> axis & 1 != 0)
        .collect();
    let plan = Reduction::new(dims, &axes).map_err(|_| Status::INVALID_VALUE)?;
    let x = call.input::<T>(0)?;
    let out = call.output::<T>(1)?;
    check(out.len() == plan.len())?;
    reduce::<T, F>(&plan, &x, out);
    Ok(())
}
