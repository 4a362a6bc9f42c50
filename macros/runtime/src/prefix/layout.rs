//! The layout by which a view finds the fields of a struct.

use std::sync::LazyLock;

use super::field::{Field, Versioned};
use crate::error::{Code, Error, Result};
use crate::host_layout::HostLayout;
use crate::release::Releases;
use crate::variable;

/// Limit for a plausible `struct_size`: the largest struct of any release has about 1,000 bytes. A view of
/// a larger struct reaches no field and writes nothing.
pub(super) const MAX_STRUCT_SIZE: usize = 4096;

/// The layout by which a view finds fields.
#[derive(Debug, Clone, Copy)]
pub(super) enum ViewLayout {
    /// The layout of this epoch.
    Epoch(usize),
    /// The layout that the host's own header declares.
    Host(&'static HostLayout),
    /// Only fields that have the same offset in all layouts, as far as the struct's size allows.
    FixedFields,
    /// No field: no layout of this size is known.
    Unknown,
}

impl ViewLayout {
    pub fn for_size<T: Versioned>(size: usize) -> Self {
        match T::host_layout().get() {
            _ if size > MAX_STRUCT_SIZE => Self::Unknown,
            None => Self::by_known_sizes::<T>(size),
            Some(layout) if layout.is_accepted && layout.has_size(size) => Self::Host(layout),
            Some(_) => Self::Unknown,
        }
    }

    /// Returns the layout for declining the host: that of the host's header, else only the fields that have
    /// the same offset in all layouts.
    pub fn fixed_fields<T: Versioned>(size: usize) -> Self {
        match T::host_layout().get() {
            _ if size > MAX_STRUCT_SIZE => Self::Unknown,
            Some(layout) if layout.has_size(size) => Self::Host(layout),
            _ => Self::FixedFields,
        }
    }

    fn by_known_sizes<T: Versioned>(size: usize) -> Self {
        match T::EPOCHS.iter().position(|epoch| epoch.size == size) {
            Some(epoch) => Self::Epoch(epoch),
            None => Self::for_unknown_size::<T>(size),
        }
    }

    #[cold]
    fn for_unknown_size<T: Versioned>(size: usize) -> Self {
        static ASSUME_APPEND: LazyLock<bool> =
            LazyLock::new(|| variable::is_on("SP_ASSUME_APPEND", false));
        match size > T::STRUCT_SIZE && *ASSUME_APPEND {
            true => Self::Epoch(T::EPOCHS.len() - 1),
            false => Self::Unknown,
        }
    }

    /// Returns the offset of `field`, or `None` if the struct lacks it.
    pub fn offset_of<T, F, W>(self, size: usize, field: Field<T, F, W>) -> Option<usize> {
        match self {
            Self::Epoch(epoch) => field.offset_in(epoch),
            Self::Host(layout) => layout.offsets.get(field.index).copied().flatten(),
            Self::FixedFields => field.fixed_offset(),
            Self::Unknown => None,
        }
        // A last check that does not depend on the tables of epochs or on the host's header: no access goes
        // beyond the host's `struct_size`.
        .filter(|offset| {
            offset
                .checked_add(size_of::<F>())
                .is_some_and(|end| end <= size)
        })
    }
}

/// Returns the releases whose `T` has this size.
pub(super) fn releases_of_layout<T: Versioned>(
    size: usize,
    layout: ViewLayout,
) -> Result<Releases> {
    match layout {
        ViewLayout::Epoch(epoch) if T::EPOCHS[epoch].size == size => Ok(T::EPOCHS[epoch].releases),
        ViewLayout::Epoch(_) | ViewLayout::Host(_) => Ok(Releases::ALL),
        _ => Err(unknown_layout::<T>(size)),
    }
}

/// Returns the error for a struct whose layout is not known.
#[cold]
fn unknown_layout<T: Versioned>(size: usize) -> Error {
    let declared = T::host_layout().get().filter(|layout| layout.is_accepted);
    let message = match declared {
        Some(layout) => format!(
            "its {} is {size} bytes, and its headers declare {}",
            T::NAME,
            layout.size
        ),
        None => sp_macros::decline_message!(UnknownSize, T::NAME, size, known_sizes::<T>()),
    };
    Error::new(Code::FAILED_PRECONDITION, message)
}

/// Returns the known sizes of `T` as text, such as `34 or 35`.
fn known_sizes<T: Versioned>() -> String {
    let known = T::EPOCHS.iter().map(|epoch| epoch.size.to_string());
    known.collect::<Vec<_>>().join(" or ")
}
