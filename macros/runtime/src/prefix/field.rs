//! The facts of `#[derive(Abi)]` about structs with a `struct_size`: their layouts and fields.

use std::marker::PhantomData;

use crate::host_layout::HostLayoutCell;
use crate::release::{Release, Releases};
use crate::writer;

/// A struct whose first field is `struct_size`. `#[derive(Abi)]` implements the trait.
///
/// # Safety
/// - The type is `repr(C)`, and its first field is `struct_size: usize`.
/// - [`STRUCT_SIZE`] is the end of its last field and the size of the last of [`EPOCHS`].
///
/// [`STRUCT_SIZE`]: Versioned::STRUCT_SIZE
/// [`EPOCHS`]: Versioned::EPOCHS
pub unsafe trait Versioned: Copy {
    /// The C name, for messages.
    const NAME: &'static str;
    /// Bytes up to the end of the last field, without tail padding. Both sides store this value in
    /// `struct_size`.
    const STRUCT_SIZE: usize;
    /// The layouts of the struct over the releases, oldest first, each of another size. The last is the
    /// layout of the Rust type.
    const EPOCHS: &'static [Epoch];
    /// The names of the fields in order.
    const FIELDS: &'static [&'static str];

    /// Returns the cell for the layout that the headers of the running host declare.
    fn host_layout() -> &'static HostLayoutCell;
}

/// A layout version of a struct: a run of releases with one layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Epoch {
    /// The `struct_size` that identifies the layout.
    pub size: usize,
    /// The releases that have the layout.
    pub releases: Releases,
}

/// A field of `T` with type `F`: its offset in each layout of `T`, and the party `W` that stores it.
pub struct Field<T, F, W = writer::Plugin> {
    /// Position among the fields of `T`.
    pub(super) index: usize,
    /// Offset in the newest layout.
    offset: usize,
    /// Offsets by epoch; empty if the offset is the same in all.
    offsets: &'static [Option<usize>],
    /// `F` is a parameter too, so that no other type stands for it: a view would store a reference of a shorter lifetime.
    signature: PhantomData<fn(T, F, W) -> F>,
}

impl<T, F, W> Clone for Field<T, F, W> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, F, W> Copy for Field<T, F, W> {}

impl<T, F, W> Field<T, F, W> {
    /// Describes a field that has the same offset in every layout of `T`.
    ///
    /// # Safety
    /// - In every layout of `T` that is long enough, a field of type `F` starts at `offset`.
    /// - `index` is the field's position in [`Versioned::FIELDS`].
    pub const unsafe fn with_fixed_offset(index: usize, offset: usize) -> Self {
        Self {
            index,
            offset,
            offsets: &[],
            signature: PhantomData,
        }
    }

    /// Returns the number of bytes from the start of the struct to the end of this field.
    pub const fn end(self) -> usize {
        self.offset + size_of::<F>()
    }

    /// Returns the offset in the layout of this epoch, or `None` if that layout lacks the field.
    pub(super) fn offset_in(self, epoch: usize) -> Option<usize> {
        match self.offsets {
            [] => Some(self.offset),
            offsets => offsets[epoch],
        }
    }

    /// Returns the offset, or `None` if not all layouts have the field at the same offset.
    pub(super) fn fixed_offset(self) -> Option<usize> {
        let newest = Some(self.offset);
        self.offsets
            .iter()
            .all(|offset| *offset == newest)
            .then_some(self.offset)
    }
}

impl<T: Versioned, F, W> Field<T, F, W> {
    /// Describes a field that starts at `offset` in the newest layout, and at `offsets` in the layouts by
    /// epoch.
    ///
    /// # Panics
    /// Panics if `offsets` has another length than [`Versioned::EPOCHS`], or if an offset is not a multiple of the
    /// alignment of `F`, or leaves no room for an `F` in its layout.
    ///
    /// # Safety
    /// - In the layout of each of [`Versioned::EPOCHS`] a field of type `F` starts at the entry of `offsets`.
    /// - `index` is the field's position in [`Versioned::FIELDS`].
    pub const unsafe fn with_offsets(
        index: usize,
        offset: usize,
        offsets: &'static [Option<usize>],
    ) -> Self {
        assert!(offsets.len() == T::EPOCHS.len(), "an offset for each epoch");
        if let [.., Some(newest)] = offsets {
            assert!(*newest == offset, "the newest layout is the type's own");
        }
        let mut epoch = 0;
        while epoch < offsets.len() {
            if let Some(offset) = offsets[epoch] {
                let is_aligned = offset.is_multiple_of(align_of::<F>());
                assert!(
                    is_aligned,
                    "`offsets` must be multiples of the field's alignment"
                );
                let is_inside = offset + size_of::<F>() <= T::EPOCHS[epoch].size;
                assert!(is_inside, "`offsets` must be inside of the layout");
            }
            epoch += 1;
        }
        Self {
            index,
            offset,
            offsets,
            signature: PhantomData,
        }
    }

    /// Returns true if the struct has this field in `release`.
    pub const fn exists_in(self, release: Release) -> bool {
        let mut epoch = 0;
        while epoch < T::EPOCHS.len() {
            let exists = self.offsets.is_empty() || self.offsets[epoch].is_some();
            if exists && T::EPOCHS[epoch].releases.contains(release) {
                return true;
            }
            epoch += 1;
        }
        false
    }
}
