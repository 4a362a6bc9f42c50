//! `const size_t TF_InputRange_Args_STRUCT_SIZE = TF_OFFSET_OF_END(TF_InputRange_Args, status);`, as
//! in kernels.h.

use clang_sys::CXCursor_VarDecl;

use super::super::cursor::Cursor;
use super::{Spelling, end_of};

/// Reads a variable.
pub fn read(cursor: Cursor) -> Option<Spelling> {
    if cursor.kind() != CXCursor_VarDecl || !cursor.ty().is_const() {
        return None;
    }
    let (symbol, tokens) = (cursor.name(), cursor.tokens());
    // A declaration that a macro makes has the macro's own tokens; `traits` reads those.
    if !tokens.iter().any(|token| token.text == symbol) {
        return None;
    }
    let (structure, last_field) = end_of(&tokens)?;
    Some(Spelling {
        symbol,
        structure,
        last_field,
    })
}
