//! `const size_t TF_InputRange_Args_STRUCT_SIZE = TF_OFFSET_OF_END(TF_InputRange_Args, status);`, as
//! in kernels.h.

use clang_sys::CXCursor_VarDecl;

use super::super::cursor::Cursor;
use super::{SizeDefinition, read_declaration};

/// Reads a constant.
pub fn read(cursor: Cursor) -> Option<SizeDefinition> {
    let is_constant = cursor.kind() == CXCursor_VarDecl && cursor.ty().is_const();
    is_constant.then(|| read_declaration(cursor))?
}
