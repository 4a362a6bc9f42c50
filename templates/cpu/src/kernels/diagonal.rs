//! Kernels of the diagonals of matrices.

use super::prelude::*;
use crate::compute::movement::checked_len;
use crate::compute::movement::diagonal::{Diagonals, Side, band as write_band, matrix_dims};
use crate::compute::movement::{View, copy, scatter};
use std::mem::MaybeUninit;

/// A zero of any type.
const ZERO: [MaybeUninit<u8>; 16] = [MaybeUninit::new(0); 16];

/// The sides of the diagonals above, with the main one, and below.
#[derive(Clone, Copy, AttributeValue)]
enum Align {
    #[value("LEFT_RIGHT")]
    LeftRight,
    #[value("RIGHT_LEFT")]
    RightLeft,
    #[value("LEFT_LEFT")]
    LeftLeft,
    #[value("RIGHT_RIGHT")]
    RightRight,
}

impl Align {
    fn sides(self) -> [Side; 2] {
        match self {
            Self::LeftRight => [Side::Left, Side::Right],
            Self::RightLeft => [Side::Right, Side::Left],
            Self::LeftLeft => [Side::Left; 2],
            Self::RightRight => [Side::Right; 2],
        }
    }
}

/// Returns the lowest and the highest diagonal.
fn diagonals(k: &HostIn<'_, i32>) -> Result<[i64; 2]> {
    let range = match *k.data() {
        _ if k.dims().len() > 1 => None,
        [only] => Some([only.into(); 2]),
        [low, high] => Some([low.into(), high.into()]),
        _ => None,
    };
    range.filter(|[low, high]| low <= high).ok_or_else(|| {
        Error::invalid_argument(format!(
            "diag_index must be a scalar, or a vector of one or two elements in ascending order, got {} of shape {:?}",
            listed(k.data()),
            k.dims()
        ))
    })
}

/// Returns the dims before the matrices, and those of a matrix.
fn split_matrix(dims: &[usize]) -> Result<(&[usize], [usize; 2])> {
    match dims {
        [batch @ .., rows, columns] => Ok((batch, [*rows, *columns])),
        _ => invalid!(
            "input must be at least 2-dim, received shape: {}",
            Dims(dims)
        ),
    }
}

/// Returns the bytes of a scalar, or of a vector of one element, which TensorFlow accepts too.
fn scalar<'a>(name: &str, value: &'a BytesIn<'_>) -> Result<&'a [MaybeUninit<u8>]> {
    if value.dims() != [1] {
        check_scalar(name, value.dims())?;
    }
    Ok(value.as_uninit_slice())
}

fn write_diagonals(
    input: BytesIn<'_>,
    range: [i64; 2],
    align: Align,
    padding: &[MaybeUninit<u8>],
    output: BytesOut<'_>,
) -> Result<()> {
    let (batch, matrix) = split_matrix(input.dims())?;
    let plan = Diagonals::new(range, matrix, align.sides()).check()?;
    let mut output = output.uninit(&[batch, &plan.dims()].concat())?;
    plan.read(
        input.width(),
        input.as_uninit_slice(),
        padding,
        output.as_uninit_slice(),
    );
    Ok(())
}

#[kernel(MatrixDiagPart, T = [..])]
fn part(input: BytesIn<'_>, diagonal: BytesOut<'_>) -> Result<()> {
    let width = input.width();
    write_diagonals(input, [0, 0], Align::LeftLeft, &ZERO[..width], diagonal)
}

/// Writes matrices with these diagonals; the other elements are `padding`.
fn write_matrices(
    diagonal: BytesIn<'_>,
    range: [i64; 2],
    stated: [i64; 2],
    align: Align,
    padding: &[MaybeUninit<u8>],
    output: BytesOut<'_>,
) -> Result<()> {
    let dims = diagonal.dims();
    let [low, high] = range;
    let (batch, max_len) = match dims {
        [batch @ .., max_len] if low == high => (batch, *max_len),
        [batch @ .., count, max_len] if usize::try_from(high - low + 1) == Ok(*count) => {
            (batch, *max_len)
        }
        _ => {
            return invalid!("a tensor of shape {dims:?} is not the diagonals {low} to {high}");
        }
    };
    let matrix = matrix_dims(range, max_len, stated)?;
    let dims = [batch, &matrix].concat();
    checked_len(&dims)?;
    let plan = Diagonals::new(range, matrix, align.sides());
    let mut output = output.uninit(&dims)?;
    let (width, out) = (diagonal.width(), output.as_uninit_slice());
    copy(&View::new([(out.len() / width, 0)], 0), width, padding, out);
    plan.write(width, diagonal.as_uninit_slice(), out);
    Ok(())
}

#[kernel(MatrixDiag, T = [..])]
fn diag(diagonal: BytesIn<'_>, output: BytesOut<'_>) -> Result<()> {
    let width = diagonal.width();
    write_matrices(
        diagonal,
        [0, 0],
        [-1, -1],
        Align::LeftLeft,
        &ZERO[..width],
        output,
    )
}

/// Writes the matrices with other diagonals.
fn replace(
    input: BytesIn<'_>,
    diagonal: BytesIn<'_>,
    range: [i64; 2],
    align: Align,
    output: BytesOut<'_>,
) -> Result<()> {
    let (batch, matrix) = split_matrix(input.dims())?;
    let plan = Diagonals::new(range, matrix, align.sides()).check()?;
    let expected = [batch, &plan.dims()].concat();
    if diagonal.dims() != expected {
        return invalid!(
            "diagonals of the input have shape {expected:?}, got {:?}",
            diagonal.dims()
        );
    }
    let mut output = output.uninit(input.dims())?;
    let out = output.as_uninit_slice();
    out.copy_from_slice(input.as_uninit_slice());
    plan.write(input.width(), diagonal.as_uninit_slice(), out);
    Ok(())
}

#[kernel(MatrixSetDiag, T = [..])]
fn set(input: BytesIn<'_>, diagonal: BytesIn<'_>, output: BytesOut<'_>) -> Result<()> {
    replace(input, diagonal, [0, 0], Align::LeftLeft, output)
}

/// Kernels of the later versions, of which the last have an attribute for the alignment.
macro_rules! versions {
    ($($part:ident $part_op:ident, $diag:ident $diag_op:ident, $set:ident $set_op:ident: ($($align:ident)?) => $value:expr;)*) => {$(
        #[kernel($part_op, T = [..])]
        fn $part(
            input: BytesIn<'_>,
            k: HostIn<'_, i32>,
            padding_value: BytesIn<'_>,
            diagonal: BytesOut<'_>,
            $($align: Align,)?
        ) -> Result<()> {
            let padding = scalar("padding_value", &padding_value)?;
            write_diagonals(input, diagonals(&k)?, $value, padding, diagonal)
        }

        #[kernel($diag_op, T = [..])]
        fn $diag(
            diagonal: BytesIn<'_>,
            k: HostIn<'_, i32>,
            num_rows: HostIn<'_, i32>,
            num_cols: HostIn<'_, i32>,
            padding_value: BytesIn<'_>,
            output: BytesOut<'_>,
            $($align: Align,)?
        ) -> Result<()> {
            let padding = scalar("padding_value", &padding_value)?;
            let stated = [
                read_scalar("num_rows", &num_rows)?.into(),
                read_scalar("num_cols", &num_cols)?.into(),
            ];
            write_matrices(diagonal, diagonals(&k)?, stated, $value, padding, output)
        }

        #[kernel($set_op, T = [..])]
        fn $set(
            input: BytesIn<'_>,
            diagonal: BytesIn<'_>,
            k: HostIn<'_, i32>,
            output: BytesOut<'_>,
            $($align: Align,)?
        ) -> Result<()> {
            replace(input, diagonal, diagonals(&k)?, $value, output)
        }
    )*};
}

versions! {
    part_v2 MatrixDiagPartV2, diag_v2 MatrixDiagV2, set_v2 MatrixSetDiagV2: () => Align::LeftLeft;
    part_v3 MatrixDiagPartV3, diag_v3 MatrixDiagV3, set_v3 MatrixSetDiagV3: (align) => align;
}

#[kernel(MatrixBandPart, T = [..])]
fn band_part(
    input: BytesIn<'_>,
    num_lower: HostIn<'_, Index>,
    num_upper: HostIn<'_, Index>,
    band: BytesOut<'_>,
) -> Result<()> {
    let (_, sizes) = split_matrix(input.dims())?;
    let limits = [
        read_index("num_lower", &num_lower)?,
        read_index("num_upper", &num_upper)?,
    ];
    let names = [("num_lower", "rows"), ("num_upper", "columns")];
    for ((limit, size), (name, unit)) in limits.iter().zip(sizes).zip(names) {
        if usize::try_from(*limit).is_ok_and(|it| it > size) {
            return invalid!(
                "{name} must be negative or less or equal to number of {unit} ({size}) got: {limit}"
            );
        }
    }
    let mut output = band.uninit(input.dims())?;
    let (width, matrices) = (input.width(), input.as_uninit_slice());
    write_band(
        input.dims(),
        limits,
        width,
        matrices,
        &ZERO[..width],
        output.as_uninit_slice(),
    );
    Ok(())
}

/// The tensor with an element for each pair of elements: those of two different ones are 0.
#[kernel(Diag, T = [..])]
fn tensor_diag(diagonal: BytesIn<'_>, output: BytesOut<'_>) -> Result<()> {
    let (dims, width) = (diagonal.dims(), diagonal.width());
    if dims.is_empty() {
        return invalid!("diagonal must have a dimension or more, but is a scalar");
    }
    let result = [dims, dims].concat();
    checked_len(&result)?;
    let mut output = output.uninit(&result)?;
    output.as_uninit_slice().fill(ZERO[0]);
    scatter(
        &diagonal_of(len(dims)),
        width,
        diagonal.as_uninit_slice(),
        output.as_uninit_slice(),
    );
    Ok(())
}

#[kernel(DiagPart, T = [..])]
fn tensor_diag_part(input: BytesIn<'_>, diagonal: BytesOut<'_>) -> Result<()> {
    let (first, second) = input.dims().split_at(input.dims().len() / 2);
    if first != second {
        return invalid!(
            "input must have the dimensions of its diagonal twice, not shape {:?}",
            input.dims()
        );
    }
    let mut output = diagonal.uninit(first)?;
    copy(
        &diagonal_of(len(first)),
        input.width(),
        input.as_uninit_slice(),
        output.as_uninit_slice(),
    );
    Ok(())
}

/// Returns the main diagonal of a matrix.
fn diagonal_of(size: usize) -> View {
    View::new([(size, size as isize + 1)], 0)
}

table! {
    part, part_v2, part_v3, diag, diag_v2, diag_v3, set, set_v2, set_v3, band_part, tensor_diag,
    tensor_diag_part,
}
