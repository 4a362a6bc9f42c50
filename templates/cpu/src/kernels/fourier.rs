//! Discrete Fourier transforms of one to three axes, computed in `f64`.

use super::prelude::*;
use crate::compute::cast::Cast;
use crate::compute::fourier::{Direction, Fourier, complete_rows};
use sp_plugin::kernel::{Kernel, kernels};
use sp_plugin::{Complex64, Complex128};

/// Copies a tensor that has the transformed axes.
fn read<T: Element + Cast<Complex128>>(input: &In<'_, T>, rank: usize) -> Result<Fourier> {
    if input.dims().len() < rank {
        return Err(Error::invalid_argument(format!(
            "input must have {rank} dimensions or more, not shape {:?}",
            input.dims()
        )));
    }
    Ok(Fourier {
        dims: input.dims().to_vec(),
        elements: input.data().iter().map(|it| it.cast()).collect(),
    })
}

fn write<T: Element>(it: &Fourier, output: Out<'_, T>) -> Result<()>
where
    Complex128: Cast<T>,
{
    let output = output.uninit(&it.dims)?;
    output.write_with(|at| it.elements[at].cast());
    Ok(())
}

fn complex<T: Element + Cast<Complex128>>(
    rank: usize,
    direction: Direction,
    input: In<'_, T>,
    output: Out<'_, T>,
) -> Result<()>
where
    Complex128: Cast<T>,
{
    let mut tensor = read(&input, rank)?;
    for axis in (tensor.dims.len() - rank..tensor.dims.len()).rev() {
        tensor.transform(axis, direction);
    }
    write(&tensor, output)
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
        let Ok(length @ 1..) = usize::try_from(*length) else {
            return invalid(format!("fft_length must be positive, not {length}"));
        };
        let is_last = index + 1 == rank;
        let least = if is_half && is_last {
            length / 2 + 1
        } else {
            length
        };
        if *dim < least && !dims.contains(&0) {
            return invalid(format!(
                "dimension {index} of input must have {least} elements or more, not {dim}"
            ));
        }
        lengths.push(length);
    }
    Ok(lengths)
}

fn from_real<T: Element + Cast<Complex128>, C: Element>(
    rank: usize,
    input: In<'_, T>,
    fft_length: HostIn<'_, i32>,
    output: Out<'_, C>,
) -> Result<()>
where
    Complex128: Cast<C>,
{
    let mut tensor = read(&input, rank)?;
    let (first, last) = (tensor.dims.len() - rank, tensor.dims.len() - 1);
    let lengths = lengths(&fft_length, rank, &tensor.dims, false)?;
    if tensor.elements.is_empty() {
        return write_empty(&tensor, &lengths, lengths[rank - 1] / 2 + 1, output);
    }
    for (index, length) in lengths.iter().enumerate() {
        tensor.crop(first + index, *length);
    }
    tensor.transform(last, Direction::Forward);
    tensor.crop(last, lengths[rank - 1] / 2 + 1);
    (first..last).for_each(|axis| tensor.transform(axis, Direction::Forward));
    write(&tensor, output)
}

fn to_real<T: Element, C: Element + Cast<Complex128>>(
    rank: usize,
    input: In<'_, C>,
    fft_length: HostIn<'_, i32>,
    output: Out<'_, T>,
) -> Result<()>
where
    Complex128: Cast<T>,
{
    let mut tensor = read(&input, rank)?;
    let (first, last) = (tensor.dims.len() - rank, tensor.dims.len() - 1);
    let lengths = lengths(&fft_length, rank, &tensor.dims, true)?;
    let size = lengths[rank - 1];
    if tensor.elements.is_empty() {
        return write_empty(&tensor, &lengths, size, output);
    }
    for (index, length) in lengths[..rank - 1].iter().enumerate() {
        tensor.crop(first + index, *length);
    }
    tensor.crop(last, size / 2 + 1);
    (first..last).for_each(|axis| tensor.transform(axis, Direction::Inverse));
    tensor.elements = complete_rows(&tensor.elements, size);
    tensor.dims[last] = size;
    tensor.transform(last, Direction::Inverse);
    write(&tensor, output)
}

/// Writes the result of a tensor without elements: zeros.
fn write_empty<T: Element>(
    tensor: &Fourier,
    lengths: &[usize],
    last: usize,
    output: Out<'_, T>,
) -> Result<()> {
    let batch = &tensor.dims[..tensor.dims.len() - lengths.len()];
    let dims = [batch, &lengths[..lengths.len() - 1], &[last]].concat();
    output.zeroed(&dims).map(drop)
}

/// Transforms of complex numbers: `name: Op => number of axes, direction`.
macro_rules! complex {
    ($($name:ident: $op:ident => $rank:expr, $direction:ident;)*) => {
        $(
            #[kernel($op, Tcomplex: T = [Complex64, Complex128])]
            fn $name<T: Element + Cast<Complex128>>(input: In<'_, T>, output: Out<'_, T>) -> Result<()>
            where
                Complex128: Cast<T>,
            {
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
