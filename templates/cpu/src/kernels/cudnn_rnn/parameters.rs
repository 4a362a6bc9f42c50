//! The vector of the parameters of a network, and its matrices and biases.

use super::super::prelude::*;
use super::call::{Call, Rnn, check_params};
use super::check_projection;
use crate::compute::nn::recurrent::Network;
use sp_plugin::kernel::OutList;
use std::ops::Range;

/// The parameters of one gate of a layer and direction: a matrix, or a vector of biases.
struct Part {
    range: Range<usize>,
    dims: InlineList<usize>,
}

/// Returns the matrices, first of the inputs and then of the state, of each layer and direction.
fn weights(network: &Network) -> Vec<Part> {
    let mut parts = Vec::new();
    for parameters in network.all_parameters() {
        for matrix in [parameters.input, parameters.state] {
            let columns = matrix.len() / network.rows().max(1);
            let gates = gates(network, matrix, &[network.units(), columns]);
            allocation::extend(&mut parts, gates);
        }
    }
    parts
}

/// Returns the biases, first of the inputs and then of the state, of each layer and direction.
fn biases(network: &Network) -> Vec<Part> {
    let vectors = network.all_parameters().flat_map(|it| it.biases);
    let parts = vectors.flat_map(|it| gates(network, it, &[network.units()]));
    allocation::collect_unsized(parts)
}

fn gates(network: &Network, range: Range<usize>, dims: &[usize]) -> Vec<Part> {
    let len = range.len() / network.gates();
    let part = |gate: usize| Part {
        range: range.start + gate * len..range.start + (gate + 1) * len,
        dims: InlineList::from(dims),
    };
    (0..network.gates()).map(part).collect()
}

/// Returns the network of the inputs that all ops have.
fn network(
    rnn: &Rnn,
    num_layers: &HostIn<'_, i32>,
    num_units: &HostIn<'_, i32>,
    input_size: &HostIn<'_, i32>,
) -> Result<Network> {
    let layers = count("num_layers", num_layers)?;
    rnn.network(
        layers,
        count("num_units", num_units)?,
        count("input_size", input_size)?,
    )
}

fn count(name: &str, input: &HostIn<'_, i32>) -> Result<usize> {
    let value = read_scalar(name, input)?;
    usize::try_from(value).map_err(|_| {
        Error::invalid_argument(format!("{name} must be non-negative, but is {value}"))
    })
}

/// A type of the size of a vector.
trait Size: Element + TryFrom<usize> {}

impl Size for i32 {}
impl Size for i64 {}

#[kernel(CudnnRNNParamsSize, T = [F16, Bf16, f32, f64], S: I = [i32, i64])]
fn size<I: Size>(
    #[state] rnn: &Rnn,
    num_layers: HostIn<'_, i32>,
    num_units: HostIn<'_, i32>,
    input_size: HostIn<'_, i32>,
    params_size: HostOut<'_, I>,
    num_proj: i64,
) -> Result<()> {
    check_projection(num_proj)?;
    let count = network(rnn, &num_layers, &num_units, &input_size)?.len();
    let too_many = |_| Error::invalid_argument(format!("{count} parameters exceed the type S"));
    let count = I::try_from(count).map_err(too_many)?;
    params_size.uninit(&[1])?.fill(count);
    Ok(())
}

fn to_canonical<T: Element>(
    network: &Network,
    params: In<'_, T>,
    weight_outputs: OutList<'_, T>,
    bias_outputs: OutList<'_, T>,
) -> Result<()> {
    check_params(network, params.dims())?;
    check_counts(network, [weight_outputs.len(), bias_outputs.len()])?;
    let parts = weights(network).into_iter().chain(biases(network));
    for (part, output) in parts.zip(weight_outputs.chain(bias_outputs)) {
        let part_of_params = &params.data()[part.range];
        output.uninit(&part.dims)?.copy_from_slice(part_of_params)?;
    }
    Ok(())
}

fn from_canonical<T: Element>(
    network: &Network,
    weight_inputs: InList<'_, T>,
    bias_inputs: InList<'_, T>,
    params: Out<'_, T>,
) -> Result<()> {
    let (weight_inputs, bias_inputs) = (weight_inputs.fetch()?, bias_inputs.fetch()?);
    check_counts(network, [weight_inputs.len(), bias_inputs.len()])?;
    let mut params = params.zeroed(&[network.len()])?;
    let parts = weights(network).into_iter().chain(biases(network));
    for (part, input) in parts.zip(weight_inputs.iter().chain(bias_inputs.iter())) {
        Call::check("a matrix or bias", input.dims(), &part.dims)?;
        params[part.range].copy_from_slice(input.data());
    }
    Ok(())
}

/// Checks the numbers of matrices and of biases.
fn check_counts(network: &Network, found: [usize; 2]) -> Result<()> {
    let expected = 2 * network.cells() * network.gates();
    match found == [expected; 2] {
        true => Ok(()),
        false => invalid!(
            "the network has {expected} matrices and as many biases, not {} and {}",
            found[0],
            found[1]
        ),
    }
}

/// Kernels of both directions: `name: Op, name: Op, the attribute of the projection`.
macro_rules! conversions {
    ($($to:ident: $to_op:ident, $from:ident: $from_op:ident, ($($projection:ident)?);)*) => {$(
        #[kernel($to_op, T = [F16, Bf16, f32, f64])]
        fn $to<T: Element>(
            #[state] rnn: &Rnn,
            num_layers: HostIn<'_, i32>,
            num_units: HostIn<'_, i32>,
            input_size: HostIn<'_, i32>,
            params: In<'_, T>,
            weights: OutList<'_, T>,
            biases: OutList<'_, T>,
            $($projection: i64,)?
        ) -> Result<()> {
            $(check_projection($projection)?;)?
            let network = network(rnn, &num_layers, &num_units, &input_size)?;
            to_canonical(&network, params, weights, biases)
        }

        #[kernel($from_op, T = [F16, Bf16, f32, f64])]
        fn $from<T: Element>(
            #[state] rnn: &Rnn,
            num_layers: HostIn<'_, i32>,
            num_units: HostIn<'_, i32>,
            input_size: HostIn<'_, i32>,
            weights: InList<'_, T>,
            biases: InList<'_, T>,
            params: Out<'_, T>,
            $($projection: i64,)?
        ) -> Result<()> {
            $(check_projection($projection)?;)?
            let network = network(rnn, &num_layers, &num_units, &input_size)?;
            from_canonical(&network, weights, biases, params)
        }
    )*};
}

conversions! {
    to_parts: CudnnRNNParamsToCanonical, from_parts: CudnnRNNCanonicalToParams, ();
    to_parts_v2: CudnnRNNParamsToCanonicalV2, from_parts_v2: CudnnRNNCanonicalToParamsV2, (num_proj);
}

table! { size, to_parts, from_parts, to_parts_v2, from_parts_v2 }
