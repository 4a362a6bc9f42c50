//! `enum { PJRT_Api_STRUCT_SIZE = PJRT_STRUCT_SIZE(PJRT_Api, PJRT_Event_Set) };`, as in
//! pjrt_c_api.h.

use clang_sys::CXCursor_EnumConstantDecl;

use super::super::cursor::Cursor;
use super::{SizeDefinition, read_declaration};

/// Reads an enumerator.
pub fn read(cursor: Cursor) -> Option<SizeDefinition> {
    // The name is checked first: reading it is faster than reading the tokens, which may be those of a whole macro.
    let is_size = cursor.kind() == CXCursor_EnumConstantDecl && cursor.name().ends_with("_SIZE");
    is_size.then(|| read_declaration(cursor))?
}
