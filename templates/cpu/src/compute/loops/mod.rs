//! Loops over tensors for any function: maps, folds, conversions, searches, rows.

#[allow(unsafe_code)]
pub mod cast;
pub mod fold;
pub mod map;
pub(crate) mod operand;
#[allow(unsafe_code)]
pub mod precision;
pub mod reduce;
pub mod rows;
pub mod search;
pub mod strided;
