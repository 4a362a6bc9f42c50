//! The releases and layouts of items, as the docs and attributes of generated items state them.

use std::collections::BTreeMap;

use sp_expand::layout::{Epochs, FieldOffsets};

/// The releases and layouts of items.
pub trait ItemReleases {
    /// Returns the releases that have `item`, or its member if `member` is not empty, such as `2.7 on`.
    /// The text is empty if the releases are not known, or if those of a member are the item's.
    fn release_text(&self, item: &str, member: &str) -> &str;

    /// Returns the layouts of a struct, or `None` if all releases have the same.
    fn layouts(&self, _item: &str) -> Option<&Layouts> {
        None
    }
}

/// The layouts of a struct, and the offsets of its fields in them.
#[derive(Debug, Clone)]
pub struct Layouts {
    /// The layouts.
    pub epochs: Epochs,
    /// The fields that do not have the same offset in all layouts.
    pub field_offsets: BTreeMap<String, FieldOffsets>,
}
