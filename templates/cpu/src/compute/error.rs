//! What the caller's data can be wrong info. Everything else that is wrong (a slice that is not as long as its dims say) is a bug
//! of the caller and panics.

use std::fmt;

/// Why a computation has no result. The text is fit for a user of TensorFlow; all of these are invalid arguments.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Error {
    /// Two shapes that do not broadcast against each other.
    Incompatible(Vec<usize>, Vec<usize>),
    /// An axis that the tensor does not have.
    AxisOutOfRange {
        /// As given, perhaps negative.
        axis: i64,
        /// Of the tensor.
        rank: usize,
    },
    /// An axis that is named twice, counted from 0.
    AxisRepeated(usize),
    /// An integer raised to a negative power.
    NegativePower,
    /// A label that is no class.
    LabelOutOfRange {
        /// Where in the labels.
        row: usize,
        /// What stands there.
        label: i64,
        /// How many classes there are.
        classes: usize,
    },
}

/// What a computation gives.
pub type Result<T> = std::result::Result<T, Error>;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Incompatible(x, y) => write!(f, "shapes {x:?} and {y:?} do not broadcast"),
            Self::AxisOutOfRange { axis, rank } => {
                write!(f, "axis {axis} of a tensor of {rank} dimension(s)")
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
