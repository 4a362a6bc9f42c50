//! Bit-fields of a driver's structs and unions.

use sp_ir::Type;

use super::cursor::Cursor;
use super::ty::{Types, Unsupported};

/// A bit-field with a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BitField {
    /// Its name.
    pub name: String,
    /// The declared type.
    pub ty: Type,
    /// The size of the declared type in bytes.
    pub size: u64,
    /// The offset of its first bit.
    pub offset: u64,
    /// The number of its bits.
    pub width: u64,
}

impl BitField {
    /// Converts a declaration, or returns `None` for an unnamed bit-field, which is padding.
    ///
    /// # Errors
    /// Returns an error if the IR cannot describe the type.
    pub fn new(cursor: Cursor, types: &Types) -> Result<Option<Self>, Unsupported> {
        let name = cursor.name();
        let bits = u64::try_from(cursor.field_offset());
        let width = u64::try_from(cursor.bit_field_width());
        let size = u64::try_from(cursor.ty().size());
        let ((Ok(offset), Ok(width), Ok(size)), false) = ((bits, width, size), name.is_empty())
        else {
            return Ok(None);
        };
        Ok(Some(Self {
            name,
            ty: types.convert(cursor.ty())?,
            size,
            offset,
            width,
        }))
    }
}
