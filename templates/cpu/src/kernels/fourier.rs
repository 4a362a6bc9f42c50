//! Discrete Fourier transforms of one to three axes.

use super::prelude::*;
use crate::compute::complex::{Complex, parts, parts_mut};
use crate::compute::fourier::{self, Direction, Part};
use sp_plugin::kernel::{Kernel, kernels};

/// Checks that a tensor has the transformed axes.
fn check_rank(dims: &[usize], rank: usize) -> Result<()> {
    match dims.len() < rank {
        false => Ok(()),
        true => invalid!(
            "Input must have rank of at least {rank} but got: {}",
            Dims(dims)
        ),
    }
}

fn complex<C: Element + Complex<Part: Part>>(
    rank: usize,
    direction: Direction,
    input: In<'_, C>,
    output: Out<'_, C>,
) -> Result<()> {
    check_rank(input.dims(), rank)?;
    let mut output = output.unspecified(input.dims())?;
    fourier::complex(
        input.dims(),
        rank,
        direction,
        parts(input.data()),
        parts_mut(&mut output),
    );
    Ok(())
}

/// Returns the lengths of the transformed axes. The tensor must have as many elements along them; along the last one half
/// and one if it has frequencies of real numbers.
fn lengths(
    fft_length: &HostIn<'_, i32>,
    rank: usize,
    dims: &[usize],
    is_half: bool,
) -> Result<Vec<usize>> {
    let invalid = |text: String| Err(Error::invalid_argument(text));
    if fft_length.dims() != [rank] {
        let dims = fft_length.dims();
        return invalid(format!("fft_length must have shape [{rank}], not {dims:?}"));
    }
    let mut lengths = Vec::new();
    for (index, (length, dim)) in fft_length
        .data()
        .iter()
        .zip(&dims[dims.len() - rank..])
        .enumerate()
    {
        let Ok(length) = usize::try_from(*length) else {
            return invalid(format!("fft_length must be >= 0, not {length}"));
        };
        let is_last = index + 1 == rank;
        let least = if is_half && is_last {
            frequencies(length)
        } else {
            length
        };
        if *dim < least && *dim != 0 {
            return invalid(format!(
                "Input dimension {index} must have length of at least {least} but got: {dim}"
            ));
        }
        lengths.push(length);
    }
    Ok(lengths)
}

/// Returns the number of frequencies of real numbers that are not the conjugates of others.
fn frequencies(length: usize) -> usize {
    match length {
        0 => 0,
        length => length / 2 + 1,
    }
}

fn from_real<C: Element + Complex<Part: Element + Part>>(
    rank: usize,
    input: In<'_, C::Part>,
    fft_length: HostIn<'_, i32>,
    output: Out<'_, C>,
) -> Result<()> {
    check_rank(input.dims(), rank)?;
    let lengths = lengths(&fft_length, rank, input.dims(), false)?;
    let dims = result_dims(input.dims(), &lengths, frequencies(lengths[rank - 1]));
    if input.is_empty() || lengths.contains(&0) {
        return output.zeroed(&dims).map(drop);
    }
    let mut output = output.unspecified(&dims)?;
    fourier::from_real(input.dims(), &lengths, input.data(), parts_mut(&mut output));
    Ok(())
}

fn to_real<C: Element + Complex<Part: Element + Part>>(
    rank: usize,
    input: In<'_, C>,
    fft_length: HostIn<'_, i32>,
    output: Out<'_, C::Part>,
) -> Result<()> {
    check_rank(input.dims(), rank)?;
    let lengths = lengths(&fft_length, rank, input.dims(), true)?;
    let dims = result_dims(input.dims(), &lengths, lengths[rank - 1]);
    if input.is_empty() || lengths.contains(&0) {
        return output.zeroed(&dims).map(drop);
    }
    let mut output = output.unspecified(&dims)?;
    fourier::to_real(input.dims(), &lengths, parts(input.data()), &mut output);
    Ok(())
}

/// Returns the dims of a result whose last axis has `last` elements.
fn result_dims(dims: &[usize], lengths: &[usize], last: usize) -> Vec<usize> {
    let batch = &dims[..dims.len() - lengths.len()];
    [batch, &lengths[..lengths.len() - 1], &[last]].concat()
}

/// Transforms of complex numbers: `name: Op => number of axes, direction`.
macro_rules! complex {
    ($($name:ident: $op:ident => $rank:expr, $direction:ident;)*) => {
        $(
            #[kernel($op, Tcomplex: T = [Complex64, Complex128])]
            fn $name<T: Element + Complex<Part: Part>>(input: In<'_, T>, output: Out<'_, T>) -> Result<()> {
                complex($rank, Direction::$direction, input, output)
            }
        )*

        fn complex_table() -> Vec<&'static Kernel> {
            kernels![$($name),*]
        }
    };
}

/// Transforms of real numbers: `name, inverse: Op of real, Inverse => number of axes, (real, complex)`.
macro_rules! real {
    ($($name:ident, $inverse:ident: $op:ident, $inverse_op:ident => $rank:expr, ($real:ident, $complex:ident);)*) => {
        $(
            #[kernel($op, Treal = [$real], Tcomplex = [$complex])]
            fn $name(
                input: In<'_, $real>,
                fft_length: HostIn<'_, i32>,
                output: Out<'_, $complex>,
            ) -> Result<()> {
                from_real($rank, input, fft_length, output)
            }

            #[kernel($inverse_op, Treal = [$real], Tcomplex = [$complex])]
            fn $inverse(
                input: In<'_, $complex>,
                fft_length: HostIn<'_, i32>,
                output: Out<'_, $real>,
            ) -> Result<()> {
                to_real($rank, input, fft_length, output)
            }
        )*

        fn real_table() -> Vec<&'static Kernel> {
            kernels![$($name, $inverse),*]
        }
    };
}

complex! {
    fft: FFT => 1, Forward;
    fft_2d: FFT2D => 2, Forward;
    fft_3d: FFT3D => 3, Forward;
    ifft: IFFT => 1, Inverse;
    ifft_2d: IFFT2D => 2, Inverse;
    ifft_3d: IFFT3D => 3, Inverse;
}

real! {
    rfft, irfft: RFFT, IRFFT => 1, (f32, Complex64);
    rfft_2d, irfft_2d: RFFT2D, IRFFT2D => 2, (f32, Complex64);
    rfft_3d, irfft_3d: RFFT3D, IRFFT3D => 3, (f32, Complex64);
    rfft_double, irfft_double: RFFT, IRFFT => 1, (f64, Complex128);
    rfft_2d_double, irfft_2d_double: RFFT2D, IRFFT2D => 2, (f64, Complex128);
    rfft_3d_double, irfft_3d_double: RFFT3D, IRFFT3D => 3, (f64, Complex128);
}

/// Returns the kernels of this file.
pub fn table() -> Vec<&'static Kernel> {
    let mut table = complex_table();
    table.extend(real_table());
    table
}
