//! A plugin for `SP_COMPARE`: its own kernels, right ones and wrong ones, beside those of the reference.

use sp_cpu::CpuDevice;
use sp_plugin::kernel::{Context, HostIn, In, Kernel, Out, OutList, Text, kernel, kernels};
use sp_plugin::{Error, Result};

/// Right, in the input's buffer if nobody else uses it.
#[kernel(Neg, T = [f32])]
fn right_in_place(x: In<'_, f32>, y: Out<'_, f32>) -> Result<()> {
    y.map_from(x, |x| -x)
}

/// Right within the tolerance.
#[kernel(Exp, T = [f32])]
fn right_with_rounding_errors(x: In<'_, f32>, y: Out<'_, f32>) -> Result<()> {
    y.uninit(x.dims())?
        .write_with(|index| x.data()[index].exp() * 1.000_01);
    Ok(())
}

/// Wrong for negative numbers, in the input's buffer if nobody else uses it.
#[kernel(Relu, T = [f32])]
fn wrong_in_place(features: In<'_, f32>, activations: Out<'_, f32>) -> Result<()> {
    activations.map_from(features, |x| if x < 0.0 { 0.5 * x } else { x })
}

/// Wrong for one integer.
#[kernel(Square, T = [i64])]
fn wrong_integer(x: In<'_, i64>, y: Out<'_, i64>) -> Result<()> {
    let square = |x: i64| if x == -7 { 8 } else { x * x };
    y.uninit(x.dims())?
        .write_with(|index| square(x.data()[index]));
    Ok(())
}

/// The output has another shape.
#[kernel(Square, T = [f32])]
fn wrong_shape(x: In<'_, f32>, y: Out<'_, f32>) -> Result<()> {
    let data = x.data();
    y.uninit(&[data.len(), 1])?
        .write_with(|index| data[index] * data[index]);
    Ok(())
}

/// Wrong in the second of several outputs. The reference's are the input's buffer under another shape or copies of it.
#[kernel(Split, T = [f32])]
fn wrong_output(
    _split_dim: HostIn<'_, i32>,
    value: In<'_, f32>,
    output: OutList<'_, f32>,
) -> Result<()> {
    let len = value.len() / output.len();
    for (index, output) in output.enumerate() {
        let (first, wrong) = (index * len, if index == 1 { 1.0 } else { 0.0 });
        output
            .uninit(&[len])?
            .write_with(|element| value.data()[first + element] + wrong);
    }
    Ok(())
}

/// Wrong, in the buffer of an input that is the output of the reference too.
#[kernel(Reshape, T = [f32], ignore = [shape])]
fn wrong_in_buffer_of_reference(tensor: In<'_, f32>, output: Out<'_, f32>) -> Result<()> {
    output.map_from(tensor, |x| x + 1.0)
}

/// Accepts what the reference rejects.
#[kernel(BiasAdd, T = [f32], ignore = [bias])]
fn without_checks(value: In<'_, f32>, output: Out<'_, f32>) -> Result<()> {
    output.set(value)
}

/// Wrong on the device's stream.
#[kernel(Tanh, T = [f32], device = CpuDevice)]
fn wrong_on_device(
    #[context] context: &Context<'_, CpuDevice>,
    x: In<'_, f32, CpuDevice>,
    y: Out<'_, f32, CpuDevice>,
) -> Result<()> {
    let mut y = y.uninit(x.dims())?;
    context.device().launch(context, &x, &mut y, |x, y| {
        for (x, y) in x.iter().zip(y) {
            y.write(if *x > 2.0 { 1.0 } else { x.tanh() });
        }
    })
}

/// Wrong, on a thread of the SDK.
#[kernel(Sigmoid, T = [f32], asynchronous)]
fn wrong_later(x: In<'_, f32>, y: Out<'_, f32>) -> Result<()> {
    y.uninit(x.dims())?.fill(0.25);
    Ok(())
}

/// Fails where the reference does not.
#[kernel(Sin, T = [f32], ignore = [x])]
fn fails(_y: Out<'_, f32>) -> Result<()> {
    Err(Error::unimplemented("expected"))
}

/// The reference has no kernel for it.
#[kernel(Cholesky, T = [f32])]
fn without_reference(input: In<'_, f32>, output: Out<'_, f32>) -> Result<()> {
    output.uninit(input.dims())?.fill(0.0);
    Ok(())
}

/// Strings are not compared.
#[kernel(StringLength)]
fn strings(input: HostIn<'_, Text>, output: Out<'_, i32>) -> Result<()> {
    output.uninit(input.dims())?.fill(0);
    Ok(())
}

fn table() -> Vec<&'static Kernel> {
    kernels![
        right_in_place,
        right_with_rounding_errors,
        wrong_in_place,
        wrong_integer,
        wrong_shape,
        wrong_output,
        wrong_in_buffer_of_reference,
        without_checks,
        wrong_on_device,
        wrong_later,
        fails,
        without_reference,
        strings,
    ]
}

sp_plugin::plugin! {
    device: CpuDevice,
    device_type: c"COMPARE",
    platform_name: c"COMPARE",
    kernels: [table, sp_cpu::kernels::table],
}
