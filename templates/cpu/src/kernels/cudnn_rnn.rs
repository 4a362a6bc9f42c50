//! The recurrent networks that TensorFlow's and Keras' Python choose for a device of type GPU.
//!
//! The order of the parameters is that of `compute::nn::recurrent`; Keras writes it for networks of one layer.

mod call;
mod parameters;

use super::prelude::*;
use crate::compute::elementary::Real;
use crate::compute::matmul::Tiled;
use crate::compute::nn::recurrent::{self, Cell, Computed, Gradients, Results};
use crate::compute::workspace::Buffer;
use call::{Call, Operands, Rnn};
use sp_plugin::kernel::{Kernel, kernels};

/// The outputs of a network.
struct Outputs<'a, T> {
    output: Out<'a, T>,
    output_h: Out<'a, T>,
    output_c: Out<'a, T>,
    reserve_space: Out<'a, T>,
}

fn forward<T: Element + Precision<Compute: Tiled + Real>>(
    rnn: &Rnn,
    operands: &Operands<'_, '_, T>,
    is_training: bool,
    outputs: Outputs<'_, T>,
) -> Result<()> {
    let call = Call::new(rnn, operands)?;
    let input = call.read(operands.input.data(), operands.input.dims());
    let mut state = call.read(operands.input_h.data(), &call.state_dims);
    let mut memory = read_memory(rnn, &call, operands);
    let mut saved = Buffer::new(call.saved()?);
    // Steps after the end of a sequence save nothing.
    saved.fill(T::Compute::ZERO);
    let draw = |factors: &mut [T::Compute]| rnn.draw_factors(factors, is_training);
    call.network.set_factors(&mut saved, call.count(), draw);
    let mut output = Buffer::new(call.count() * call.network.output());
    let results = Results {
        output: &mut output,
        state: &mut state,
        memory: &mut memory,
        saved: &mut saved,
    };
    let params = T::widened(operands.params.data());
    recurrent::forward(&call.network, &call.steps(), &params, &input, results);
    call.write(&output, call.output_dims(), outputs.output)?;
    call.write(&state, call.state_dims, outputs.output_h)?;
    write_memory(rnn, &call, &memory, outputs.output_c)?;
    let saved = if is_training { &saved[..] } else { &[] };
    write_vector(saved, outputs.reserve_space)
}

/// Returns the memories of an LSTM; other cells have none.
fn read_memory<T: Element + Precision>(
    rnn: &Rnn,
    call: &Call,
    operands: &Operands<'_, '_, T>,
) -> Buffer<T::Compute> {
    match rnn.cell {
        Cell::Lstm => call.read(operands.input_c.data(), &call.state_dims),
        _ => Buffer::new(0),
    }
}

/// Writes the memories of an LSTM, or a scalar.
fn write_memory<T: Element + Precision<Compute: Real>>(
    rnn: &Rnn,
    call: &Call,
    memory: &[T::Compute],
    out: Out<'_, T>,
) -> Result<()> {
    match rnn.cell {
        Cell::Lstm => call.write(memory, call.state_dims, out),
        _ => out.zeroed(&[]).map(drop),
    }
}

fn write_vector<T: Element + Precision<Compute: Real>>(
    x: &[T::Compute],
    out: Out<'_, T>,
) -> Result<()> {
    let mut out = out.unspecified(&[x.len()])?;
    T::overwrite(&mut out, |out| out.copy_from_slice(x));
    Ok(())
}

/// The gradients of the outputs, and what the network has saved.
struct Derived<'a, T> {
    output_backprop: In<'a, T>,
    output_h_backprop: In<'a, T>,
    output_c_backprop: In<'a, T>,
    reserve_space: In<'a, T>,
}

/// The outputs of the gradients.
struct GradientOutputs<'a, T> {
    input: Out<'a, T>,
    input_h: Out<'a, T>,
    input_c: Out<'a, T>,
    params: Out<'a, T>,
}

fn backward<T: Element + Precision<Compute: Tiled + Real>>(
    rnn: &Rnn,
    operands: &Operands<'_, '_, T>,
    derived: &Derived<'_, T>,
    outputs: GradientOutputs<'_, T>,
) -> Result<()> {
    let call = Call::new(rnn, operands)?;
    check_derived(rnn, &call, derived)?;
    let read = |x: &In<'_, T>| call.read(x.data(), x.dims());
    let (input, state) = (read(&operands.input), read(&operands.input_h));
    let memory = read_memory(rnn, &call, operands);
    let (params, saved) = (
        T::widened(operands.params.data()),
        T::widened(derived.reserve_space.data()),
    );
    let computed = Computed {
        parameters: &params,
        input: &input,
        state: &state,
        memory: &memory,
        saved: &saved,
    };
    let mut of_input = Buffer::new(input.len());
    let mut of_state = read(&derived.output_h_backprop);
    let mut of_memory = match rnn.cell {
        Cell::Lstm => read(&derived.output_c_backprop),
        _ => Buffer::new(0),
    };
    let mut of_params = Buffer::new(params.len());
    let gradients = Gradients {
        input: &mut of_input,
        state: &mut of_state,
        memory: &mut of_memory,
        parameters: &mut of_params,
    };
    let output = read(&derived.output_backprop);
    recurrent::backward(&call.network, &call.steps(), &computed, &output, gradients);
    call.write(&of_input, call.input_dims(), outputs.input)?;
    call.write(&of_state, call.state_dims, outputs.input_h)?;
    write_memory(rnn, &call, &of_memory, outputs.input_c)?;
    write_vector(&of_params, outputs.params)
}

fn check_derived<T: Element>(rnn: &Rnn, call: &Call, derived: &Derived<'_, T>) -> Result<()> {
    Call::check(
        "output_backprop",
        derived.output_backprop.dims(),
        &call.output_dims(),
    )?;
    Call::check(
        "output_h_backprop",
        derived.output_h_backprop.dims(),
        &call.state_dims,
    )?;
    if rnn.cell == Cell::Lstm {
        Call::check(
            "output_c_backprop",
            derived.output_c_backprop.dims(),
            &call.state_dims,
        )?;
    }
    let saved = [call.saved()?];
    Call::check("reserve_space", derived.reserve_space.dims(), &saved)
}

fn check_projection(num_proj: i64) -> Result<()> {
    match num_proj {
        0 => Ok(()),
        other => Err(Error::unimplemented(format!(
            "num_proj is {other}: a network with a projection of its state is not supported"
        ))),
    }
}

/// Kernels of the networks: `name: Op, [attributes and the input of the lengths], (the output in host memory)`.
macro_rules! networks {
    ($($name:ident: $op:ident, $([$projection:ident, $time_major:ident, $lengths:ident],)? ($($host:ident)?);)*) => {$(
        #[kernel($op, T = [F16, Bf16, f32, f64])]
        fn $name<T: Element + Precision<Compute: Tiled + Real>>(
            #[state] rnn: &Rnn,
            input: In<'_, T>,
            input_h: In<'_, T>,
            input_c: In<'_, T>,
            params: In<'_, T>,
            $($lengths: HostIn<'_, i32>,)?
            output: Out<'_, T>,
            output_h: Out<'_, T>,
            output_c: Out<'_, T>,
            reserve_space: Out<'_, T>,
            $($host: HostOut<'_, i8>,)?
            is_training: bool,
            $($projection: i64, $time_major: bool,)?
        ) -> Result<()> {
            $(check_projection($projection)?;)?
            let operands = Operands::new([input, input_h, input_c, params]);
            $(let operands = operands.with_lengths($lengths, $time_major);)?
            let outputs = Outputs { output, output_h, output_c, reserve_space };
            forward(rnn, &operands, is_training, outputs)?;
            $($host.zeroed(&[0])?;)?
            Ok(())
        }
    )*};
}

networks! {
    network: CudnnRNN, ();
    network_v2: CudnnRNNV2, (host_reserved);
    network_v3: CudnnRNNV3, [num_proj, time_major, sequence_lengths], (host_reserved);
}

/// Kernels of the gradients, as `networks`.
macro_rules! gradients {
    ($($name:ident: $op:ident, $([$projection:ident, $time_major:ident, $lengths:ident],)? ($($host:ident)?);)*) => {$(
        #[kernel($op, T = [F16, Bf16, f32, f64])]
        fn $name<T: Element + Precision<Compute: Tiled + Real>>(
            #[state] rnn: &Rnn,
            input: In<'_, T>,
            input_h: In<'_, T>,
            input_c: In<'_, T>,
            params: In<'_, T>,
            $($lengths: HostIn<'_, i32>,)?
            output: In<'_, T>,
            output_h: In<'_, T>,
            output_c: In<'_, T>,
            output_backprop: In<'_, T>,
            output_h_backprop: In<'_, T>,
            output_c_backprop: In<'_, T>,
            reserve_space: In<'_, T>,
            $($host: HostIn<'_, i8>,)?
            input_backprop: Out<'_, T>,
            input_h_backprop: Out<'_, T>,
            input_c_backprop: Out<'_, T>,
            params_backprop: Out<'_, T>,
            $($projection: i64, $time_major: bool,)?
        ) -> Result<()> {
            let _ = (output, output_h, output_c, $($host)?);
            $(check_projection($projection)?;)?
            let operands = Operands::new([input, input_h, input_c, params]);
            $(let operands = operands.with_lengths($lengths, $time_major);)?
            let derived = Derived { output_backprop, output_h_backprop, output_c_backprop, reserve_space };
            let outputs = GradientOutputs {
                input: input_backprop,
                input_h: input_h_backprop,
                input_c: input_c_backprop,
                params: params_backprop,
            };
            backward(rnn, &operands, &derived, outputs)
        }
    )*};
}

gradients! {
    network_grad: CudnnRNNBackprop, ();
    network_grad_v2: CudnnRNNBackpropV2, (host_reserved);
    network_grad_v3: CudnnRNNBackpropV3, [num_proj, time_major, sequence_lengths], (host_reserved);
}

/// Returns the kernels of this file.
pub fn table() -> Vec<&'static Kernel> {
    let mut table = kernels![
        network,
        network_v2,
        network_v3,
        network_grad,
        network_grad_v2,
        network_grad_v3
    ];
    table.extend(parameters::table());
    table
}
