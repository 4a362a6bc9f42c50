//! Views of structs that the other side allocated.
//!
//! A plugin and its host are built years apart, so the host's struct may be shorter, longer or ordered
//! differently than the Rust struct. No `&T` is ever formed over such memory. A view reads and writes one
//! field at a time, at its offset in the layout that has the `struct_size` found in the struct.
//!
//! A struct of an unknown size has no fields, except through `fixed_fields()`, which reaches those with the same
//! offset in all layouts: enough to decline. A struct above 4096 bytes has none at all.

mod field;
mod layout;
#[cfg(test)]
mod tests;
mod view;

use std::marker::PhantomData;
use std::ptr::NonNull;

pub use self::field::{Epoch, Field, Versioned};
use self::layout::{MAX_STRUCT_SIZE, ViewLayout};
use self::view::View;
use crate::error::Result;
use crate::release::Releases;
use crate::writer::Settable;

/// A read-only view of a struct, as far as its `struct_size` goes.
pub struct Prefix<'a, T> {
    view: View<T>,
    lifetime: PhantomData<&'a T>,
}

impl<T> Clone for Prefix<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Prefix<'_, T> {}

impl<'a, T: Versioned> Prefix<'a, T> {
    /// Creates a view of the struct at `start`; null gives a view without fields.
    ///
    /// # Safety
    /// - `start` is null, or aligned for `T` and readable for as many bytes as its `struct_size` states.
    /// - This holds during `'a`, and no other code writes to these bytes meanwhile.
    pub unsafe fn new(start: *const T) -> Self {
        Self {
            // SAFETY: the caller has the same obligations, during `'a`.
            view: unsafe { View::new(start.cast_mut()) },
            lifetime: PhantomData,
        }
    }

    /// Creates a view of a struct that the plugin allocated.
    pub fn from_ref(value: &'a T) -> Self {
        Self {
            view: View::from_own(NonNull::from(value)),
            lifetime: PhantomData,
        }
    }

    /// Returns the view if the struct's layout is known.
    ///
    /// # Errors
    /// Returns an error if no layout of the struct's size is known.
    pub fn check_known(self) -> Result<Self> {
        self.view.check_known().map(|()| self)
    }

    /// Returns the releases whose struct has this size.
    ///
    /// # Errors
    /// Returns an error if no layout of the struct's size is known.
    pub fn releases(&self) -> Result<Releases> {
        self.view.releases()
    }

    /// Returns the field's value, or `None` if the host's struct lacks the field.
    pub fn get<F: Copy, W>(&self, field: Field<T, F, W>) -> Option<F> {
        let address = self.view.address_of(field)?;
        // SAFETY: the struct has a field of type `F` there. The constructor's caller guarantees that its bytes are readable.
        Some(unsafe { address.read() })
    }

    /// Returns the size of the host's struct in bytes.
    pub fn size(&self) -> usize {
        self.view.size
    }
}

/// A writable view of a struct, as far as its `struct_size` goes.
pub struct PrefixMut<'a, T> {
    view: View<T>,
    lifetime: PhantomData<&'a mut T>,
}

impl<'a, T: Versioned> PrefixMut<'a, T> {
    /// Creates a view of the struct at `start`; null gives a view without fields.
    ///
    /// # Safety
    /// - `start` is null, or aligned for `T` and readable and writable for as many bytes as its
    ///   `struct_size` states.
    /// - This holds during `'a`, and no other code reads or writes these bytes meanwhile.
    pub unsafe fn new(start: *mut T) -> Self {
        Self {
            // SAFETY: the caller has the same obligations, during `'a`.
            view: unsafe { View::new(start) },
            lifetime: PhantomData,
        }
    }

    /// Creates a view of a struct that the plugin allocated.
    pub fn from_mut(value: &'a mut T) -> Self {
        Self {
            view: View::from_own(NonNull::from(value)),
            lifetime: PhantomData,
        }
    }

    /// Returns the view if the struct's layout is known.
    ///
    /// # Errors
    /// Returns an error if no layout of the struct's size is known.
    pub fn check_known(self) -> Result<Self> {
        self.view.check_known().map(|()| self)
    }

    /// Returns the releases whose struct has this size.
    ///
    /// # Errors
    /// Returns an error if no layout of the struct's size is known.
    pub fn releases(&self) -> Result<Releases> {
        self.view.releases()
    }

    /// Returns a view of the same struct that reaches only the fields that have the same offset in all
    /// layouts. It works for an unknown size too, and is enough to decline the host.
    pub fn fixed_fields(&mut self) -> PrefixMut<'_, T> {
        PrefixMut {
            view: self.view.fixed_fields(),
            lifetime: PhantomData,
        }
    }

    /// Returns the field's value, or `None` if the host's struct lacks the field.
    pub fn get<F: Copy, W>(&self, field: Field<T, F, W>) -> Option<F> {
        self.as_prefix().get(field)
    }

    /// Writes the field and returns true. If the host's struct lacks the field, writes nothing and returns
    /// false.
    ///
    /// Only fields that the plugin stores can be set; the others belong to TensorFlow.
    pub fn set<F: Copy, W: Settable>(&mut self, field: Field<T, F, W>, value: F) -> bool {
        let Some(address) = self.view.address_of(field) else {
            return false;
        };
        // SAFETY: the struct has a field of type `F` there. The constructor's caller guarantees that its bytes are writable.
        unsafe { address.write(value) }
        true
    }

    /// Stores `function` in all slots of a function table from offset `first` on, up to the host's
    /// `struct_size`, independent of the layout. Does nothing if that size is above the limit for structs.
    ///
    /// # Safety
    /// - `T` is a table that consists of functions from `first` on, in every layout.
    /// - `first` is a multiple of a pointer's size.
    /// - The host calls none of these slots, or calls them as functions that may ignore their arguments.
    pub unsafe fn fill_slots(&mut self, first: usize, function: unsafe extern "C" fn() -> usize) {
        let slot = size_of_val(&function);
        let View { start, size, .. } = self.view;
        if size > MAX_STRUCT_SIZE {
            return;
        }
        for offset in (first..size).step_by(slot) {
            if offset + slot <= size {
                // SAFETY: the slot ends within `size`, so the constructor's caller guarantees that it is
                // writable. The caller guarantees that it is a function pointer, and so it is aligned.
                unsafe { start.byte_add(offset).cast().write(function) }
            }
        }
    }

    /// Writes `struct_size`: the size of the layout in use, which is never above the host's. Does nothing if
    /// the layout is not known.
    pub fn set_struct_size(&mut self) {
        let size = match self.view.layout {
            ViewLayout::Epoch(epoch) => T::EPOCHS[epoch].size.min(self.view.size),
            ViewLayout::Host(layout) => layout.size,
            ViewLayout::FixedFields | ViewLayout::Unknown => return,
        };
        // SAFETY: the struct has a known layout, so it is long enough for its first field, `struct_size`. The
        // constructor's caller guarantees that it is writable and aligned.
        unsafe { self.view.start.cast::<usize>().write(size) }
    }

    /// Returns a read-only view of the same struct.
    pub fn as_prefix(&self) -> Prefix<'_, T> {
        Prefix {
            view: self.view,
            lifetime: PhantomData,
        }
    }

    /// Returns the size of the host's struct in bytes.
    pub fn size(&self) -> usize {
        self.view.size
    }
}
