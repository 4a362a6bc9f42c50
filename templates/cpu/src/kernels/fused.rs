//! Products and convolutions with what follows them in a graph: a bias, and an activation function; or a sum.
//!
//! The SDK's fusion of graphs writes these ops, which have no function in Python. A result has the bits of the single ops.

use super::conv::{Conv, ConvAttributes}; // since 2.11
use super::image::{DataFormat, PaddingKind}; // since 2.11
use super::mat_mul;
use super::prelude::*;
use crate::compute::elementary::Elementary;
use crate::compute::matmul::{Factor, Finish, Part};
use crate::compute::nn::epilogue::{Activation, Addend, Epilogue};
use sp_plugin::kernel::BytesInList; // since 2.11

/// Returns the activation after the bias.
///
/// # Errors
/// Returns an error if the ops are not a bias and at most one activation.
fn activation(fused_ops: &[String], slope: f32) -> Result<Activation> {
    let names: Vec<&str> = fused_ops.iter().map(String::as_str).collect();
    let found = match names[..] {
        ["BiasAdd"] => Some(Activation::Identity),
        ["BiasAdd", name] => Activation::of_op(name, slope),
        _ => None,
    };
    found.ok_or_else(|| {
        let message = format!(
            "fused_ops {names:?} is not supported: expected BiasAdd, and {} or nothing after it; or Add, after a product",
            Activation::ops().join(", ")
        );
        Error::unimplemented(message)
    })
}

/// Checks that the only further input is a vector of biases.
fn check_bias(found: &[&[usize]], columns: usize) -> Result<()> {
    match *found == [&[columns]] {
        true => Ok(()),
        false => {
            invalid!("args must be one vector of {columns} biases, not of the shapes {found:?}")
        }
    }
}

/// Checks that the only further input is a matrix of the result's shape.
fn check_addend(found: &[&[usize]], dims: [usize; 2]) -> Result<()> {
    match *found == [&dims[..]] {
        true => Ok(()),
        false => invalid!("args must be one matrix of shape {dims:?}, not of the shapes {found:?}"),
    }
}

/// The attributes of a product that name the ops after it.
#[derive(Attributes)]
struct FusedAttributes {
    fused_ops: Vec<String>,
    leakyrelu_alpha: f32,
}

/// The checked ops after a product.
enum Fused {
    /// A bias and an activation.
    Bias(Activation),
    /// The sum with a matrix.
    Add,
}

impl Prepare for Fused {
    type Attributes = FusedAttributes;

    fn prepare(it: FusedAttributes) -> Result<Self> {
        match &it.fused_ops[..] {
            [op] if op == "Add" => Ok(Self::Add),
            ops => activation(ops, it.leakyrelu_alpha).map(Self::Bias),
        }
    }
}

#[kernel(_FusedMatMul, T = [
    F16, // since 2.10
    Bf16,
    f32,
])]
fn fused_mat_mul<T: Element + Factor<Compute: Elementary>>(
    #[state] fused: &Fused,
    a: In<'_, T>,
    b: In<'_, T>,
    args: InList<'_, T>,
    product: Out<'_, T>,
    transpose_a: bool,
    transpose_b: bool,
) -> Result<()> {
    let plan = mat_mul::plan([a.dims(), b.dims()], [transpose_a, transpose_b])?;
    let args = args.fetch()?;
    let dims: Vec<&[usize]> = args.iter().map(In::dims).collect();
    match fused {
        Fused::Bias(_) => check_bias(&dims, plan.n)?,
        Fused::Add => check_addend(&dims, [plan.m, plan.n])?,
    }
    let argument = T::widened(args.first().map_or(&[], |it| it.data()));
    let mut product = product.unspecified(&[plan.m, plan.n])?;
    let mut multiply = |finish: &Finish<'_, T::Compute>| {
        T::overwrite(&mut product, |product| {
            T::multiply(plan, a.data(), b.data(), product, Some(finish))
        });
    };
    match fused {
        Fused::Bias(activation) => {
            let epilogue = Epilogue::<T>::new(&argument, *activation);
            multiply(&|part| epilogue.apply(part));
        }
        Fused::Add => {
            let addend = Addend::<T>::new(&argument, plan.n);
            multiply(&|part| addend.apply(part));
        }
    }
    Ok(())
}

// since 2.11
/// A convolution, and what follows it.
#[derive(Attributes)]
struct FusedConvAttributes {
    strides: Vec<i64>,
    padding: PaddingKind,
    explicit_paddings: Vec<i64>,
    data_format: DataFormat,
    dilations: Vec<i64>,
    fused_ops: Vec<String>,
    leakyrelu_alpha: f32,
}

// since 2.11
/// The checked attributes.
struct FusedConv {
    conv: Conv,
    activation: Activation,
}

// since 2.11
impl Prepare for FusedConv {
    type Attributes = FusedConvAttributes;

    fn prepare(it: FusedConvAttributes) -> Result<Self> {
        Ok(Self {
            activation: activation(&it.fused_ops, it.leakyrelu_alpha)?,
            conv: Conv::prepare(ConvAttributes {
                strides: it.strides,
                padding: it.padding,
                explicit_paddings: it.explicit_paddings,
                data_format: it.data_format,
                dilations: it.dilations,
            })?,
        })
    }
}

// since 2.11
/// Convolution with a bias and an activation. Until 2.10 `args` is declared otherwise, and the op has no kernel.
#[kernel(_FusedConv2D, T = [F16, f32, f64], releases = "2.11..", ignore = [host_args])]
fn fused_conv2d<T: Element + Factor<Compute: Elementary>>(
    #[state] fused: &FusedConv,
    input: In<'_, T>,
    filter: In<'_, T>,
    args: BytesInList<'_>,
    output: Out<'_, T>,
) -> Result<()> {
    let plan = fused.conv.forward_plan(input.dims(), filter.dims())?;
    let args = args.fetch()?;
    let dims = args.iter().map(|it| it.dims()).collect::<Vec<_>>();
    check_bias(&dims, plan.output()[3])?;
    let bias = args.first().map_or(Ok(&[][..]), |it| it.data::<T>())?;
    let bias = T::widened(bias);
    let epilogue = Epilogue::<T>::new(&bias, fused.activation);
    let finish = |part: Part<'_, T::Compute>| epilogue.apply(part);
    (fused.conv).write_output_with(&plan, [&input, &filter], output, Some(&finish))
}

table! {
    fused_conv2d, // since 2.11
    fused_mat_mul,
}
