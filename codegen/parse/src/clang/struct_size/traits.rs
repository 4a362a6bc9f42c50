//! `PJRT_DEFINE_STRUCT_TRAITS(PJRT_Error_Destroy_Args, error);`, as in pjrt_c_api.h: a macro that
//! expands to a constant or an enumerator `PJRT_Error_Destroy_Args_STRUCT_SIZE`.

use clang_sys::CXCursor_MacroExpansion;

use super::super::cursor::Cursor;
use super::{SizeDefinition, two_arguments};

/// Reads the use of a macro.
pub fn read(cursor: Cursor) -> Option<SizeDefinition> {
    if cursor.kind() != CXCursor_MacroExpansion || !cursor.name().ends_with("_DEFINE_STRUCT_TRAITS")
    {
        return None;
    }
    let (structure, last_field) = two_arguments(cursor.tokens().get(1..)?)?;
    Some(SizeDefinition {
        symbol: format!("{structure}_STRUCT_SIZE"),
        structure,
        last_field,
    })
}
