//! Numbers that clang computes.

use clang_sys::*;

use super::Cursor;

/// The value of an expression.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// An integer of up to 64 bits.
    Int(i128),
    /// A floating-point number, rounded to 64 bits.
    Float(f64),
}

impl Cursor<'_> {
    /// Returns the value of a variable's initializer, or `None` if it is no number.
    pub fn initial_number(self) -> Option<Number> {
        // SAFETY: `self` borrows its unit, so the cursor is valid. The result is disposed once; null is allowed.
        unsafe {
            let result = clang_Cursor_Evaluate(self.raw);
            let number = number(result);
            clang_EvalResult_dispose(result);
            number
        }
    }

    /// Returns the value of a constant's initializer, or `None` if it is not an integer. One above the range of `i64` has the
    /// bits of a negative number.
    pub fn initial_value(self) -> Option<i64> {
        match self.initial_number()? {
            Number::Int(value) => Some(value as i64),
            Number::Float(_) => None,
        }
    }
}

/// Converts a result.
///
/// # Safety
/// - `result` is null, or not yet disposed.
unsafe fn number(result: CXEvalResult) -> Option<Number> {
    // SAFETY: the caller's result is valid; libclang returns no kind for null.
    unsafe {
        match clang_EvalResult_getKind(result) {
            CXEval_Int if clang_EvalResult_isUnsignedInt(result) != 0 => {
                Some(Number::Int(clang_EvalResult_getAsUnsigned(result).into()))
            }
            CXEval_Int => Some(Number::Int(clang_EvalResult_getAsLongLong(result).into())),
            CXEval_Float => Some(Number::Float(clang_EvalResult_getAsDouble(result))),
            _ => None,
        }
    }
}
