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
    /// An axis, counted from 0, is listed twice.
    AxisRepeated(usize),
    /// An integer has a negative exponent.
    NegativePower,
    /// A label is not a class.
    LabelOutOfRange {
        /// The index of the label.
        row: usize,
        /// The label.
        label: i64,
        /// The number of classes.
        classes: usize,
    },
}

/// The result of a computation.
pub type Result<T> = std::result::Result<T, Error>;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Incompatible(x, y) => write!(f, "shapes {x:?} and {y:?} do not broadcast"),
            Self::AxisOutOfRange { axis, rank } => {
                write!(
                    f,
                    "axis {axis} is out of range for a tensor of {rank} dimension(s)"
                )
            }
            Self::AxisRepeated(axis) => write!(f, "axis {axis} is given more than once"),
            Self::NegativePower => write!(f, "an integer cannot be raised to a negative power"),
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
        }
    }
}

impl std::error::Error for Error {}
