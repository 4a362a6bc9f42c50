//! A plugin whose kernels read every kind of attribute, and take every kind of argument.

use std::mem::MaybeUninit;

use sp_abi::kernels::TF_KernelBuilder_Priority;
use sp_cpu::CpuDevice;
use sp_plugin::kernel::marker::{Resource, Text, Variant};
use sp_plugin::kernel::{
    AnyIn, AnyOut, BytesIn, BytesOut, CallInfo, FullShape, FunctionName, HostIn, HostOut, In,
    InList, Kernel, KernelBuilder, Out, PartialShape, TensorValue, kernel, kernels,
};
use sp_plugin::{Bool, Complex64, Complex128, Element, Error, F8E5M2, F16, Int4, QInt8, Result};

#[kernel(Const, dtype: T = [i32, Complex64, Bool])]
fn constant<T: Element>(output: Out<'_, T>, value: &TensorValue) -> Result<()> {
    let value_data = value.data::<T>()?;
    output.uninit(value.dims())?.copy_from_slice(value_data)?;
    Ok(())
}

/// The sizes of the shape, -1 for what is not known; no elements if the rank is not known.
#[kernel(Placeholder, dtype = [i64])]
fn placeholder(output: Out<'_, i64>, shape: &PartialShape) -> Result<()> {
    let Some(dims) = shape.dims() else {
        return output.empty();
    };
    let size = |index: usize| dims[index].map_or(-1, |it| i64::try_from(it).unwrap_or(i64::MAX));
    output.uninit(&[dims.len()])?.write_with(size);
    Ok(())
}

#[kernel(PlaceholderWithDefault, dtype = [i64], ignore = [input])]
fn placeholder_with_default(output: Out<'_, i64>, shape: &[usize]) -> Result<()> {
    let size = |index: usize| i64::try_from(shape[index]).unwrap_or(i64::MAX);
    output.uninit(&[shape.len()])?.write_with(size);
    Ok(())
}

/// Reports its attributes.
#[kernel(OneShotIterator)]
fn one_shot_iterator(
    _handle: AnyOut<'_>,
    dataset_factory: &FunctionName,
    output_shapes: &[PartialShape],
) -> Result<()> {
    let name = dataset_factory.as_str();
    Err(Error::unimplemented(format!("{name} {output_shapes:?}")))
}

/// Upper case. Empty strings stay as TensorFlow has created them.
#[kernel(StringUpper)]
fn string_upper(input: HostIn<'_, Text>, output: HostOut<'_, Text>, encoding: &str) -> Result<()> {
    if encoding == "utf-8" {
        return output.write_with(input.dims(), |index| input.get(index).to_ascii_uppercase());
    }
    let mut strings = output.empty_strings(input.dims())?;
    for (index, text) in input
        .iter()
        .enumerate()
        .filter(|(_, text)| !text.is_empty())
    {
        strings.set(index, "replaced by a longer text than fits inline");
        strings.set(index, text.to_ascii_uppercase());
    }
    Ok(())
}

#[kernel(
    Snapshot,
    T: any = [f32, F16, Complex128, F8E5M2, Int4, QInt8, Bool],
    configure = with_priority
)]
fn snapshot(input: BytesIn<'_>, output: BytesOut<'_>) -> Result<()> {
    copy(input, output)
}

/// Without constraints, as TensorFlow has none for small types.
#[kernel(DeepCopy)]
fn deep_copy(x: BytesIn<'_>, y: BytesOut<'_>) -> Result<()> {
    copy(x, y)
}

fn copy(input: BytesIn<'_>, output: BytesOut<'_>) -> Result<()> {
    let mut data = output.uninit(input.dims())?;
    if data.dtype() == f32::DTYPE {
        data.data::<f32>()?.fill(MaybeUninit::new(0.0));
    }
    data.as_uninit_slice()
        .copy_from_slice(input.as_uninit_slice());
    Ok(())
}

#[allow(unsafe_code)]
fn with_priority(builder: &KernelBuilder) -> Result<()> {
    let set = TF_KernelBuilder_Priority.get()?;
    // SAFETY: the builder is live, and the priority is neither a constraint nor the memory of an argument.
    unsafe { set(builder.as_raw(), 7) };
    Ok(())
}

/// The square, by way of temporary memory.
#[kernel(Square, T = [f32])]
fn square(#[context] context: &CallInfo<'_>, x: In<'_, f32>, y: Out<'_, f32>) -> Result<()> {
    let mut scratch = context.temporary::<f32>(x.dims())?;
    let squares = scratch.fill(1.0)?;
    for (square, x) in squares.iter_mut().zip(x.data()) {
        *square *= x * x;
    }
    let squares = &*squares;
    y.uninit(x.dims())?.copy_from_slice(squares)?;
    Ok(())
}

#[kernel(Conj, T = [Complex64])]
fn conj(input: In<'_, Complex64>, output: Out<'_, Complex64>) -> Result<()> {
    output.map_from(input, Complex64::conjugate)
}

/// 1 if the release's op has the attribute, else 0.
#[kernel(MatMul, T = [f32], ignore = [a, b])]
fn mat_mul(product: Out<'_, f32>, grad_a: Option<bool>, transpose_a: Option<bool>) -> Result<()> {
    let flags = [grad_a, transpose_a].map(|it| if it.is_some() { 1.0 } else { 0.0 });
    product.uninit(&[2])?.copy_from_slice(&flags)?;
    Ok(())
}

#[kernel(Identity, T: any = [f32, Resource, Variant, Text])]
fn identity(input: Option<AnyIn<'_>>, output: AnyOut<'_>) -> Result<()> {
    output.set(input.ok_or_else(|| Error::internal("no input"))?)
}

/// Compiles: known shapes of a list. sp-host has no ops with lists of tensors.
#[kernel(InfeedEnqueueTuple, releases = "2.11..", ignore = [inputs])]
fn infeed(shapes: &[FullShape]) -> Result<()> {
    Err(Error::unimplemented(format!("{shapes:?}")))
}

/// The sum of tensors of one shape, which it fetches several times, leaks, and drops in an order of its own.
#[kernel(AddN, T = [f32])]
fn add_n(inputs: InList<'_, f32>, sum: Out<'_, f32>) -> Result<()> {
    let fetch = || inputs.iter().collect::<Result<Vec<_>>>();
    fetch()?.into_iter().take(3).for_each(std::mem::forget);
    let mut odd: Vec<_> = fetch()?.into_iter().map(Some).collect();
    let even = (0..odd.len()).rev().filter(|index| index % 2 == 0);
    even.for_each(|index| odd[index] = None);
    let (first, last) = (fetch()?, fetch()?);
    drop(first);
    let mut total = vec![0.0; last.first().map_or(0, In::len)];
    for (input, odd) in last.iter().zip(&odd) {
        if odd.as_ref().is_some_and(|odd| odd.data() != input.data()) {
            return Err(Error::internal("an input has changed during the call"));
        }
        for (total, x) in total.iter_mut().zip(input.data()) {
            *total += x;
        }
    }
    sum.uninit(&[total.len()])?.copy_from_slice(&total)?;
    Ok(())
}

fn table() -> Vec<&'static Kernel> {
    kernels![
        constant,
        placeholder,
        placeholder_with_default,
        one_shot_iterator,
        string_upper,
        snapshot,
        deep_copy,
        square,
        conj,
        mat_mul,
        identity,
        infeed,
        add_n
    ]
}

sp_plugin::plugin! {
    device: CpuDevice,
    device_type: c"TYPES",
    platform_name: c"TYPES",
    kernels: [table],
}
