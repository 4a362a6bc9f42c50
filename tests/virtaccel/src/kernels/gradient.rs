//! The loss: softmax cross entropy with one label for each row, and its gradient.

use sp_cpu::compute::arith::Float;
use sp_cpu::compute::nn::cross_entropy::{Label, sparse_softmax_cross_entropy};

use super::call::{Element, Type};
use super::elementwise::check;
use super::linear::reals;
use super::{Call, Kernel, Role};
use crate::abi::{Result, Status};

/// The kernels of this file.
pub const KERNELS: &[Kernel] = &[Kernel {
    name: "sparse_softmax_cross_entropy",
    arguments: &[Role::In, Role::In, Role::Out, Role::Out],
    run: |call| reals!(call, cross_entropy),
}];

fn cross_entropy<T: Element + Float>(call: &Call) -> Result {
    match call.element_type(1)? {
        Type::I32 => cross_entropy_of_labels::<T, i32>(call),
        Type::I64 => cross_entropy_of_labels::<T, i64>(call),
        _ => Err(Status::INVALID_VALUE),
    }
}

fn cross_entropy_of_labels<T: Element + Float, L: Element + Label>(call: &Call) -> Result {
    let [rows, classes] = *call.dims(0)? else {
        return Err(Status::INVALID_VALUE);
    };
    check(classes > 0 && call.dims(1)? == [rows] && call.dims(2)? == [rows])?;
    check(call.dims(3)? == [rows, classes])?;
    let (logits, labels) = (call.input::<T>(0)?, call.input::<L>(1)?);
    let (loss, gradient) = (call.output::<T>(2)?, call.output::<T>(3)?);
    let computed = sparse_softmax_cross_entropy(&logits, &labels, classes, loss, gradient);
    computed.map_err(|_| Status::INVALID_VALUE)
}
