//! Errors in the caller's data. A bug of the caller, such as a slice of another length than its dims have, panics.

use std::fmt;

/// An invalid argument of a computation. The text is for users of TensorFlow.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Error {
    /// Two shapes cannot be broadcast.
    Incompatible(Vec<usize>, Vec<usize>),
    /// The tensor has no such axis.
    AxisOutOfRange {
        /// The axis as given, possibly negative.
        axis: i64,
        /// The rank of the tensor.
        rank: usize,
    },
    /// The tensor has no such axis over which to reduce.
    ReductionAxis {
        /// The axis as given, possibly negative.
        axis: i64,
        /// The rank of the tensor.
        rank: usize,
    },
    /// An axis, counted from 0, is listed twice.
    AxisRepeated(usize),
    /// An integer has a negative exponent.
    NegativePower,
    /// An integer is divided by 0.
    DivisionByZero,
    /// Another reason.
    Invalid(String),
    /// A label is not a class.
    LabelOutOfRange {
        /// The index of the label.
        row: usize,
        /// The label.
        label: i64,
        /// The number of classes.
        classes: usize,
    },
    /// An equation of Einstein summation is malformed, or does not match the operands.
    Equation(String),
    /// A window does not fit in the padded input.
    WindowTooLarge {
        /// The length of the input.
        input: usize,
        /// The length of the window.
        extent: i64,
        /// The distance of two windows.
        stride: usize,
    },
    /// Channels or filters cannot be divided into groups.
    Groups {
        /// The number of channels of the input.
        channels: usize,
        /// The number of channels of the filter, which are those of a group.
        depth: usize,
        /// The number of filters.
        filters: usize,
    },
    /// A tensor has too few dimensions.
    TooFewDims {
        /// The shape.
        dims: Vec<usize>,
        /// The least number of dimensions.
        least: usize,
    },
    /// An index is not a row.
    IndexOutOfRange {
        /// The position of the index.
        at: Vec<usize>,
        /// The index.
        index: i64,
        /// The number of rows.
        rows: usize,
    },
    /// Updates have another shape than the rows that they change.
    UpdatesMismatch {
        /// The shape of the updates.
        updates: Vec<usize>,
        /// The shape of the rows.
        expected: Vec<usize>,
    },
}

/// The result of a computation.
pub type Result<T> = std::result::Result<T, Error>;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Incompatible(x, y) => f.write_str(&incompatible_text(x, y)),
            Self::AxisOutOfRange { axis, rank } => {
                write!(
                    f,
                    "axis = {axis} not in [-{rank}, {rank}): axis {axis} is out of range, Expected an axis in the range [-{rank}, {rank}), but got {axis}"
                )
            }
            Self::ReductionAxis { axis, rank } => {
                write!(
                    f,
                    "Invalid reduction dimension ({axis} for input with {rank} dimension(s))"
                )
            }
            Self::AxisRepeated(axis) => write!(
                f,
                "axis {axis} specified more than once: Axes contains duplicate dimension: {axis}"
            ),
            Self::DivisionByZero => write!(f, "Integer division by zero"),
            Self::NegativePower => write!(f, "Integers to negative integer powers are not allowed"),
            Self::Invalid(reason) => f.write_str(reason),
            Self::LabelOutOfRange {
                row,
                label,
                classes,
            } => {
                write!(
                    f,
                    "label {label} at index {row} is not one of the {classes} classes"
                )
            }
            Self::Equation(reason) => f.write_str(reason),
            Self::WindowTooLarge {
                input,
                extent,
                stride,
            } => write!(
                f,
                "a window of {extent} elements with stride {stride} does not fit in an input of {input}"
            ),
            Self::Groups {
                channels,
                depth,
                filters,
            } => write!(
                f,
                "input depth must be evenly divisible by filter depth: {channels} vs {depth}, and {filters} filters into as many groups"
            ),
            Self::TooFewDims { dims, least } => {
                write!(
                    f,
                    "expected a tensor of at least {least} dimension(s), got shape {dims:?}"
                )
            }
            Self::IndexOutOfRange { at, index, rows } => {
                let at: Vec<String> = at.iter().map(ToString::to_string).collect();
                let at = at.join(",");
                write!(f, "indices[{at}] = {index} is not in [0, {rows})")
            }
            Self::UpdatesMismatch { updates, expected } => {
                write!(
                    f,
                    "expected updates of the shape of the indices and a row, {expected:?}, or one element, got {updates:?}"
                )
            }
        }
    }
}

impl std::error::Error for Error {}

/// The number of values that a message lists, which is the largest rank of a tensor. An input with a shape may have more
/// elements than a message has memory.
const MAX_LISTED: usize = 254;

/// A shape as TensorFlow writes it in its messages: `[2,3]`.
pub struct Dims<'a>(pub &'a [usize]);

impl fmt::Display for Dims<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let listed = self.0.iter().take(MAX_LISTED);
        let dims: Vec<String> = listed.map(ToString::to_string).collect();
        write!(f, "[{}{}]", dims.join(","), rest(self.0.len()))
    }
}

/// Returns the values as `{:?}` formats a list, the first 254 of them.
pub fn listed<T: fmt::Debug>(values: impl IntoIterator<Item = T>) -> String {
    let mut values = values.into_iter();
    let first: Vec<T> = values.by_ref().take(MAX_LISTED).collect();
    let text = format!("{first:?}");
    match values.count() {
        0 => text,
        more => format!("{}{}]", &text[..text.len() - 1], rest(MAX_LISTED + more)),
    }
}

/// Returns the end of a list of `len` values.
fn rest(len: usize) -> String {
    match len.saturating_sub(MAX_LISTED) {
        0 => String::new(),
        more => format!(", and {more} more"),
    }
}

/// Returns the error of shapes that do not broadcast, of which the second may be an input's values.
pub fn incompatible(dims: &[usize], stated: &[usize]) -> Error {
    match stated.len() <= MAX_LISTED {
        true => Error::Incompatible(dims.to_vec(), stated.to_vec()),
        false => Error::Invalid(incompatible_text(dims, stated)),
    }
}

fn incompatible_text(x: &[usize], y: &[usize]) -> String {
    let (x, y) = (Dims(x), Dims(y));
    format!("Incompatible shapes: {x} vs. {y}: they do not broadcast")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_lists_as_many_values_as_a_tensor_has_dims() {
        assert_eq!(listed([1, 2]), "[1, 2]");
        assert_eq!(listed(Vec::<i32>::new()), "[]");
        let many = vec![1_usize; 1 << 20];
        for text in [
            listed(&many),
            Dims(&many).to_string(),
            incompatible(&[2], &many).to_string(),
        ] {
            assert!(text.len() < 1_000, "{} bytes", text.len());
            assert!(text.contains("1, and 1048322 more]"), "{text}");
        }
    }
}
