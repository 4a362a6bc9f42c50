//! `#define SP_PLATFORM_STRUCT_SIZE TF_OFFSET_OF_END(SP_Platform, force_memory_growth)`, as in
//! stream_executor.h. Some are inside the struct's braces; the arguments name the struct.

use super::super::cursor::Cursor;
use super::{SizeDefinition, size_arguments};

/// Reads a macro definition.
pub fn read(cursor: Cursor) -> Option<SizeDefinition> {
    let (structure, last_field) = size_arguments(&cursor.macro_body()?)?;
    Some(SizeDefinition {
        symbol: cursor.name(),
        structure,
        last_field,
    })
}
