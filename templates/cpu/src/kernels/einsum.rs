//! Einstein summation and batches of matrix products.

use super::prelude::*;
use crate::compute::Broadcast;
use crate::compute::einsum::{self, Einsum, Equation};
use crate::compute::matmul::{Batch, Multiplied, Multiply, Product, multiply_batch};
use std::borrow::Cow;

#[derive(Attributes)]
struct EinsumAttributes {
    equation: String,
}

/// The parsed equation.
struct State(Equation);

impl Prepare for State {
    type Attributes = EinsumAttributes;

    fn prepare(it: EinsumAttributes) -> Result<Self> {
        Ok(Self(Equation::parse(&it.equation)?))
    }
}

#[kernel(Einsum, T = [F16, Bf16, f32, f64, i32, i64, Complex64])]
fn einsum<T: Element + Precision<Compute: Multiply>>(
    #[state] State(equation): &State,
    inputs: InList<'_, T>,
    output: Out<'_, T>,
) -> Result<()> {
    let inputs = inputs.fetch()?;
    let dims: InlineList<_> = inputs.iter().map(|it| it.dims()).collect();
    let plan = Einsum::new(equation, &dims)?;
    let mut output = output.zeroed(plan.dims())?;
    // `Einsum::new` has checked that there are one or two.
    let mut operands = inputs.iter().map(|it| T::widened(it.data()));
    let (x, y) = (operands.next(), operands.next());
    let data: InlineList<&[_]> = x.iter().chain(&y).map(|it| &**it).collect();
    T::update(&mut output, |output| einsum::einsum(&plan, &data, output));
    Ok(())
}

#[kernel(BatchMatMulV2, T = [F16, Bf16, f32, f64, i32, i64])]
fn batch_mat_mul<T: Element + Multiplied>(
    x: In<'_, T>,
    y: In<'_, T>,
    output: Out<'_, T>,
    adj_x: bool,
    adj_y: bool,
) -> Result<()> {
    let operands = [(x.dims(), x.data()), (y.dims(), y.data())];
    write_products(operands, [adj_x, adj_y], output)
}

/// The adjoint of a complex matrix is the transpose of its conjugate.
#[kernel(BatchMatMulV2, T = [Complex64])]
fn batch_mat_mul_complex(
    x: In<'_, Complex64>,
    y: In<'_, Complex64>,
    output: Out<'_, Complex64>,
    adj_x: bool,
    adj_y: bool,
) -> Result<()> {
    let (left, right) = (conjugate_if(adj_x, x.data()), conjugate_if(adj_y, y.data()));
    let operands = [(x.dims(), &*left), (y.dims(), &*right)];
    write_products(operands, [adj_x, adj_y], output)
}

fn conjugate_if(condition: bool, x: &[Complex64]) -> Cow<'_, [Complex64]> {
    match condition {
        true => Cow::Owned(allocation::collect(x.iter().map(|x| x.conjugate()))),
        false => x.into(),
    }
}

/// Writes the products of the matrices of two operands, given with their shapes.
fn write_products<T: Element + Multiplied>(
    [(x_dims, x), (y_dims, y)]: [(&[usize], &[T]); 2],
    [adj_x, adj_y]: [bool; 2],
    output: Out<'_, T>,
) -> Result<()> {
    let shapes = || format!("In[0]: {}, In[1]: {}", Dims(x_dims), Dims(y_dims));
    let (Some((batch_x, a)), Some((batch_y, b))) = (
        x_dims.split_last_chunk::<2>(),
        y_dims.split_last_chunk::<2>(),
    ) else {
        return invalid!(
            "In[{}] ndims must be >= 2: {}",
            usize::from(x_dims.len() >= 2),
            shapes()
        );
    };
    let Some(product) = Product::new(*a, *b, adj_x, adj_y) else {
        return invalid!(
            "Matrix size-incompatible: {}, adj_x {adj_x}, adj_y {adj_y}",
            shapes()
        );
    };
    // The output is allocated first, so that TensorFlow reports one that memory has no room for.
    let Ok(plan) = Broadcast::new([batch_x, batch_y]) else {
        return invalid!(
            "In[0] and In[1] must have compatible batch dimensions: {} vs. {}",
            Dims(x_dims),
            Dims(y_dims)
        );
    };
    let dims = [plan.dims(), &[product.m, product.n]].concat();
    let mut output = output.unspecified(&dims)?;
    let (batch, _) = Batch::broadcast([batch_x, batch_y], product)?;
    T::overwrite(&mut output, |output| multiply_batch(&batch, x, y, output));
    Ok(())
}

table! { einsum, batch_mat_mul, batch_mat_mul_complex }
