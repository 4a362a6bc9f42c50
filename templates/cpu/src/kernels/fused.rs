//! Products and convolutions with what follows them in a graph: a bias, and an activation function.
//!
//! The SDK's fusion of graphs writes these ops, which have no function in Python. A result has the bits of the single ops.

use super::conv::{Conv, ConvAttributes}; // since 2.11
use super::image::{DataFormat, PaddingKind}; // since 2.11
use super::mat_mul;
use super::prelude::*;
use crate::compute::elementary::Elementary;
use crate::compute::matmul::{Factor, Part};
use crate::compute::nn::epilogue::{Activation, Epilogue};
use sp_plugin::kernel::BytesInList; // since 2.11
use sp_plugin::kernel::{Attributes, InList, Kernel, Prepare, kernels};

/// The activation functions by the ops that compute them. `LeakyRelu` has its slope in an attribute.
const ACTIVATIONS: &[(&str, Activation)] = &[
    ("Relu", Activation::Relu),
    ("Relu6", Activation::Relu6),
    ("Elu", Activation::Elu),
    ("Tanh", Activation::Tanh),
    ("Sigmoid", Activation::Sigmoid),
];

/// Returns the activation after the bias.
///
/// # Errors
/// Returns an error if the ops are not a bias and at most one activation.
fn activation(fused_ops: &[String], slope: f32) -> Result<Activation> {
    let names: Vec<&str> = fused_ops.iter().map(String::as_str).collect();
    let found = match names[..] {
        ["BiasAdd"] => Some(Activation::Identity),
        ["BiasAdd", "LeakyRelu"] => Some(Activation::LeakyRelu(slope)),
        ["BiasAdd", name] => ACTIVATIONS.iter().find(|it| it.0 == name).map(|it| it.1),
        _ => None,
    };
    found.ok_or_else(|| {
        let message = format!(
            "fused_ops {names:?} is not supported: expected BiasAdd, and Relu, Relu6, Elu, LeakyRelu, Tanh, Sigmoid or nothing after it"
        );
        Error::unimplemented(message)
    })
}

/// Checks that the only further input is a vector of biases.
fn check_bias(found: &[&[usize]], columns: usize) -> Result<()> {
    match *found == [&[columns]] {
        true => Ok(()),
        false => Err(Error::invalid_argument(format!(
            "args must be one vector of {columns} biases, not of the shapes {found:?}"
        ))),
    }
}

/// What follows a product.
#[derive(Attributes)]
struct FusedAttributes {
    fused_ops: Vec<String>,
    leakyrelu_alpha: f32,
}

/// The checked attributes.
struct Fused(Activation);

impl Prepare for Fused {
    type Attributes = FusedAttributes;

    fn prepare(it: FusedAttributes) -> Result<Self> {
        activation(&it.fused_ops, it.leakyrelu_alpha).map(Self)
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
    check_bias(&args.iter().map(In::dims).collect::<Vec<_>>(), plan.n)?;
    let bias = T::widened(args.first().map_or(&[], |it| it.data()));
    let epilogue = Epilogue::<T>::new(&bias, fused.0);
    let finish = |part: Part<'_, T::Compute>| epilogue.apply(part);
    let mut product = product.unspecified(&[plan.m, plan.n])?;
    T::overwrite(&mut product, |product| {
        T::multiply(plan, a.data(), b.data(), product, Some(&finish))
    });
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
/// Until 2.10 `args` is declared otherwise, and the op has no kernel.
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

/// Returns the kernels of this file.
pub fn table() -> Vec<&'static Kernel> {
    kernels![
        fused_conv2d, // since 2.11
        fused_mat_mul,
    ]
}
