//! The address, size and layout of a struct, which read-only and writable views have.

use std::ptr::NonNull;

use super::field::{Field, Versioned};
use super::layout::{ViewLayout, releases_of_layout};
use crate::error::{Error, Result};
use crate::host::Host;
use crate::release::Releases;

/// A struct of which `size` bytes are known to exist.
pub(super) struct View<T> {
    pub start: NonNull<T>,
    pub size: usize,
    pub layout: ViewLayout,
}

impl<T> Clone for View<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for View<T> {}

impl<T: Versioned> View<T> {
    /// Creates a view of the struct at `start`; null gives a view without fields.
    ///
    /// # Safety
    /// - `start` is null, or aligned for `T` and readable for as many bytes as its `struct_size` states, while the view is
    ///   used.
    pub unsafe fn new(start: *mut T) -> Self {
        // SAFETY: the caller guarantees that `start` is null or readable; `struct_size` is the first field of
        // a `Versioned` struct.
        let (start, size) = unsafe { read_struct_size(start) };
        Self {
            start,
            size,
            layout: ViewLayout::for_size::<T>(size),
        }
    }

    /// Creates a view of a struct that the plugin allocated.
    pub fn from_own(start: NonNull<T>) -> Self {
        Self {
            start,
            size: T::STRUCT_SIZE,
            layout: ViewLayout::Epoch(T::EPOCHS.len() - 1),
        }
    }

    /// Returns a view that reaches only the fields that have the same offset in all layouts.
    pub fn fixed_fields(self) -> Self {
        let layout = ViewLayout::fixed_fields::<T>(self.size);
        Self { layout, ..self }
    }

    /// Checks that the struct's layout is known.
    ///
    /// # Errors
    /// Returns an error if no layout of the struct's size is known.
    pub fn check_known(self) -> Result<()> {
        self.releases().map_err(with_host_name).map(|_| ())
    }

    /// Returns the releases whose struct has this size.
    ///
    /// # Errors
    /// Returns an error if no layout of the struct's size is known.
    pub fn releases(self) -> Result<Releases> {
        releases_of_layout::<T>(self.size, self.layout)
    }

    /// Returns the address of a field of type `F`, or `None` if the struct lacks it. All of its bytes are the struct's.
    pub fn address_of<F, W>(self, field: Field<T, F, W>) -> Option<NonNull<F>> {
        let offset = self.layout.offset_of(self.size, field)?;
        // SAFETY: `offset_of` returns an offset that ends within `size`, and the struct has as many bytes.
        Some(unsafe { self.start.byte_add(offset) }.cast())
    }
}

/// Adds the running release to the message of `error`.
fn with_host_name(error: Error) -> Error {
    let message = format!("{}: {}", Host::running().name(), error.message());
    Error::new(error.code(), message)
}

/// Returns the struct's address and its `struct_size`; for null, a dangling pointer and 0.
///
/// # Safety
/// - `start` is null or points to a readable `usize`.
unsafe fn read_struct_size<T>(start: *mut T) -> (NonNull<T>, usize) {
    match NonNull::new(start) {
        // SAFETY: `start` is not null, so the caller guarantees that it points to a readable `usize`.
        Some(start) => (start, unsafe { start.cast::<usize>().read() }),
        None => (NonNull::dangling(), 0),
    }
}
