//! `#define SP_PLATFORM_STRUCT_SIZE TF_OFFSET_OF_END(SP_Platform, force_memory_growth)`, as in
//! stream_executor.h. Some stand inside the struct's braces; the body says which struct it is.

use super::super::constant::body;
use super::super::cursor::Cursor;
use super::{Spelling, end_of};

/// Reads a macro definition.
pub fn read(cursor: Cursor) -> Option<Spelling> {
    let (structure, last_field) = end_of(&body(cursor)?)?;
    Some(Spelling {
        symbol: cursor.name(),
        structure,
        last_field,
    })
}
