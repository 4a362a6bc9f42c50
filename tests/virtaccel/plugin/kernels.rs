//! Kernels that the driver computes. They are enqueued and return; the other kernels are sp-cpu's, with staging copies.

use sp_plugin::Result;
use sp_plugin::kernel::{Context, In, Kernel, Out, kernel, kernels};

use crate::device::{Vaccel, launch};
use crate::driver::{va_argument, va_argument__value, va_argument_kind, va_tensor, va_type};

/// Returns the kernels, in order.
pub fn table() -> Vec<&'static Kernel> {
    kernels![relu, mat_mul]
}

fn tensor(address: *const f32, dims: &[usize]) -> va_argument {
    let rank = dims.len() as u32;
    let mut tensor = va_tensor {
        address: address.cast_mut().cast(),
        rank,
        r#type: va_type::VA_F32,
        ..Default::default()
    };
    tensor
        .dims
        .iter_mut()
        .zip(dims)
        .for_each(|(to, dim)| *to = *dim as u64);
    va_argument {
        kind: va_argument_kind::VA_TENSOR,
        value: va_argument__value { tensor },
    }
}

fn integer(value: bool) -> va_argument {
    va_argument {
        kind: va_argument_kind::VA_INTEGER,
        value: va_argument__value {
            integer: value.into(),
        },
    }
}

#[kernel(Relu, T = [f32], device = Vaccel)]
fn relu(
    features: In<'_, f32, Vaccel>,
    activations: Out<'_, f32, Vaccel>,
    #[context] context: &Context<'_, Vaccel>,
) -> Result<()> {
    let mut activations = activations.uninit(features.dims())?;
    if features.is_empty() {
        return Ok(());
    }
    // The kernel is elementwise, and the driver has at most 8 dims.
    let dims = [features.len()];
    let arguments = [
        tensor(features.address()?, &dims),
        tensor(activations.address()?, &dims),
    ];
    launch(context, c"relu", &arguments)
}

#[kernel(MatMul, T = [f32], device = Vaccel)]
fn mat_mul(
    a: In<'_, f32, Vaccel>,
    b: In<'_, f32, Vaccel>,
    product: Out<'_, f32, Vaccel>,
    transpose_a: bool,
    transpose_b: bool,
    #[context] context: &Context<'_, Vaccel>,
) -> Result<()> {
    let (&[a0, a1], &[b0, b1]) = (a.dims(), b.dims()) else {
        return Err(sp_plugin::Error::invalid_argument("matrices are expected"));
    };
    let [rows, inner] = if transpose_a { [a1, a0] } else { [a0, a1] };
    let [other, columns] = if transpose_b { [b1, b0] } else { [b0, b1] };
    if inner != other {
        return Err(sp_plugin::Error::invalid_argument(format!(
            "inner dims {inner} and {other} differ"
        )));
    }
    let dims = [rows, columns];
    let mut product = product.uninit(&dims)?;
    if product.is_empty() {
        return Ok(());
    }
    if inner == 0 {
        let message = "virtaccel has no MatMul of matrices without inner elements";
        return Err(sp_plugin::Error::unimplemented(message));
    }
    let tensors = [
        tensor(a.address()?, a.dims()),
        tensor(b.address()?, b.dims()),
        tensor(product.address()?, &dims),
    ];
    let [a, b, out] = tensors;
    let arguments = [a, b, out, integer(transpose_a), integer(transpose_b)];
    launch(context, c"matmul", &arguments)
}
