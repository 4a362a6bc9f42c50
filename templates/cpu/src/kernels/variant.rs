//! Kernels of variants, such as lists of tensors: gradients of loops are sums of these.

use super::prelude::*;
use sp_plugin::kernel::marker::Variant;
use sp_plugin::kernel::{AnyIn, AnyInList, DataType, VariantOut};

#[kernel(ZerosLike, T: any = [Variant])]
fn zeros_like(x: AnyIn<'_>, y: VariantOut<'_>) -> Result<()> {
    y.zeros_like(x)
}

#[kernel(AddN, T: any = [Variant])]
fn add_n(inputs: AnyInList<'_>, sum: VariantOut<'_>) -> Result<()> {
    sum.sum(inputs, |it| match it.dtype()? {
        DataType::TF_HALF => it.sum_with(arith::add::<F16>),
        DataType::TF_BFLOAT16 => it.sum_with(arith::add::<Bf16>),
        DataType::TF_FLOAT => it.sum_with(arith::add::<f32>),
        DataType::TF_DOUBLE => it.sum_with(arith::add::<f64>),
        DataType::TF_COMPLEX64 => it.sum_with(|x: Complex64, y| x + y),
        DataType::TF_COMPLEX128 => it.sum_with(|x: Complex128, y| x + y),
        DataType::TF_INT8 => it.sum_with(arith::add::<i8>),
        DataType::TF_INT16 => it.sum_with(arith::add::<i16>),
        DataType::TF_INT32 => it.sum_with(arith::add::<i32>),
        DataType::TF_INT64 => it.sum_with(arith::add::<i64>),
        DataType::TF_UINT8 => it.sum_with(arith::add::<u8>),
        DataType::TF_UINT16 => it.sum_with(arith::add::<u16>),
        DataType::TF_UINT32 => it.sum_with(arith::add::<u32>),
        DataType::TF_UINT64 => it.sum_with(arith::add::<u64>),
        other => Err(Error::unimplemented(format!(
            "a sum of variants of {other:?}"
        ))),
    })
}
