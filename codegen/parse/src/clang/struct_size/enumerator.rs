//! `enum { PJRT_Api_STRUCT_SIZE = PJRT_STRUCT_SIZE(PJRT_Api, PJRT_Event_Set) };`, as in
//! pjrt_c_api.h.

use clang_sys::CXCursor_EnumConstantDecl;

use super::super::cursor::Cursor;
use super::{Spelling, end_of};

/// Reads an enumerator.
pub fn read(cursor: Cursor) -> Option<Spelling> {
    // Its tokens are those of the whole macro where one wrote it; the name is cheaper to ask.
    if cursor.kind() != CXCursor_EnumConstantDecl || !cursor.name().ends_with("_SIZE") {
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
