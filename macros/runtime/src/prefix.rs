//! Views of structs that the other side allocated.
//!
//! A plugin and its host are built years apart, so the host's struct may be shorter, longer or ordered
//! differently than the Rust struct. No `&T` is ever formed over such memory. A view reads and writes one
//! field at a time, at its offset in the layout that has the `struct_size` found in the struct.

use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::LazyLock;

use crate::error::{Code, Error, Result};
use crate::host::Host;
use crate::host_layout::{HostLayout, HostLayoutCell};
use crate::release::{Release, Releases};
use crate::writer::{self, Settable};

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
    index: usize,
    /// Offset in the newest layout.
    offset: usize,
    /// Offsets by epoch; empty if the offset is the same in all.
    offsets: &'static [Option<usize>],
    signature: PhantomData<fn(T, W) -> F>,
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

    /// Describes a field that starts at `offset` in the newest layout, and at `offsets` in the layouts by
    /// epoch.
    ///
    /// # Safety
    /// - `offsets` has one entry for each of [`Versioned::EPOCHS`]; in that layout a field of type `F`
    ///   starts at the entry's offset.
    /// - `index` is the field's position in [`Versioned::FIELDS`].
    pub const unsafe fn with_offsets(
        index: usize,
        offset: usize,
        offsets: &'static [Option<usize>],
    ) -> Self {
        if let [.., Some(newest)] = offsets {
            assert!(*newest == offset, "the newest layout is the type's own");
        }
        Self {
            index,
            offset,
            offsets,
            signature: PhantomData,
        }
    }

    /// Returns the number of bytes from the start of the struct to the end of this field.
    pub const fn end(self) -> usize {
        self.offset + size_of::<F>()
    }

    /// Returns the offset in the layout of this epoch, or `None` if that layout lacks the field.
    fn offset_in(self, epoch: usize) -> Option<usize> {
        match self.offsets {
            [] => Some(self.offset),
            offsets => offsets[epoch],
        }
    }

    /// Returns the offset, or `None` if not all layouts have the field at the same offset.
    fn fixed_offset(self) -> Option<usize> {
        let newest = Some(self.offset);
        self.offsets
            .iter()
            .all(|offset| *offset == newest)
            .then_some(self.offset)
    }
}

impl<T: Versioned, F, W> Field<T, F, W> {
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

/// Limit for a plausible `struct_size`: the largest struct of any release has about 1,000 bytes. A view of
/// a larger struct reaches no field and writes nothing.
const MAX_STRUCT_SIZE: usize = 4096;

/// The layout by which a view finds fields.
#[derive(Debug, Clone, Copy)]
enum ViewLayout {
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
    fn for_size<T: Versioned>(size: usize) -> Self {
        match T::host_layout().get() {
            _ if size > MAX_STRUCT_SIZE => Self::Unknown,
            None => Self::by_known_sizes::<T>(size),
            Some(layout) if layout.is_accepted && layout.has_size(size) => Self::Host(layout),
            Some(_) => Self::Unknown,
        }
    }

    /// Returns the layout for declining the host: that of the host's header, else only the fields that have
    /// the same offset in all layouts.
    fn fixed_fields<T: Versioned>(size: usize) -> Self {
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
        static ASSUME_APPEND: LazyLock<bool> = LazyLock::new(|| {
            std::env::var_os("SP_ASSUME_APPEND").is_some_and(|value| value == "1")
        });
        match size > T::STRUCT_SIZE && *ASSUME_APPEND {
            true => Self::Epoch(T::EPOCHS.len() - 1),
            false => Self::Unknown,
        }
    }

    /// Returns the offset of `field`, or `None` if the struct lacks it.
    fn offset_of<T, F, W>(self, size: usize, field: Field<T, F, W>) -> Option<usize> {
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
fn releases_of_layout<T: Versioned>(size: usize, layout: ViewLayout) -> Result<Releases> {
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

/// A read-only view of a struct, as far as its `struct_size` goes.
pub struct Prefix<'a, T> {
    start: NonNull<T>,
    size: usize,
    layout: ViewLayout,
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
        // SAFETY: the caller guarantees that `start` is null or readable; `struct_size` is the first field of
        // a `Versioned` struct.
        let (start, size) = unsafe { read_struct_size(start.cast_mut()) };
        Self {
            start,
            size,
            layout: ViewLayout::for_size::<T>(size),
            lifetime: PhantomData,
        }
    }

    /// Creates a view of a struct that the plugin allocated.
    pub fn from_ref(value: &'a T) -> Self {
        Self {
            start: NonNull::from(value),
            size: T::STRUCT_SIZE,
            layout: ViewLayout::Epoch(T::EPOCHS.len() - 1),
            lifetime: PhantomData,
        }
    }

    /// Returns the view if the struct's layout is known.
    ///
    /// # Errors
    /// Returns an error if no layout of the struct's size is known.
    pub fn check_known(self) -> Result<Self> {
        self.releases().map_err(with_host_name).map(|_| self)
    }

    /// Returns the releases whose struct has this size.
    ///
    /// # Errors
    /// Returns an error if no layout of the struct's size is known.
    pub fn releases(&self) -> Result<Releases> {
        releases_of_layout::<T>(self.size, self.layout)
    }

    /// Returns the field's value, or `None` if the host's struct lacks the field.
    pub fn get<F: Copy, W>(&self, field: Field<T, F, W>) -> Option<F> {
        let offset = self.layout.offset_of(self.size, field)?;
        // SAFETY: `offset_of` returns an offset at which the struct's layout has a field of type `F`, and
        // which ends within `size`. The constructor's caller guarantees that `size` bytes are readable.
        Some(unsafe { self.start.byte_add(offset).cast::<F>().read() })
    }

    /// Returns the size of the host's struct in bytes.
    pub fn size(&self) -> usize {
        self.size
    }
}

/// A writable view of a struct, as far as its `struct_size` goes.
pub struct PrefixMut<'a, T> {
    start: NonNull<T>,
    size: usize,
    layout: ViewLayout,
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
        // SAFETY: the caller guarantees that `start` is null or readable; `struct_size` is the first field of
        // a `Versioned` struct.
        let (start, size) = unsafe { read_struct_size(start) };
        Self {
            start,
            size,
            layout: ViewLayout::for_size::<T>(size),
            lifetime: PhantomData,
        }
    }

    /// Creates a view of a struct that the plugin allocated.
    pub fn from_mut(value: &'a mut T) -> Self {
        Self {
            start: NonNull::from(value),
            size: T::STRUCT_SIZE,
            layout: ViewLayout::Epoch(T::EPOCHS.len() - 1),
            lifetime: PhantomData,
        }
    }

    /// Returns the view if the struct's layout is known.
    ///
    /// # Errors
    /// Returns an error if no layout of the struct's size is known.
    pub fn check_known(self) -> Result<Self> {
        self.releases().map_err(with_host_name).map(|_| self)
    }

    /// Returns the releases whose struct has this size.
    ///
    /// # Errors
    /// Returns an error if no layout of the struct's size is known.
    pub fn releases(&self) -> Result<Releases> {
        releases_of_layout::<T>(self.size, self.layout)
    }

    /// Returns a view of the same struct that reaches only the fields that have the same offset in all
    /// layouts. It works for an unknown size too, and is enough to decline the host.
    pub fn fixed_fields(&mut self) -> PrefixMut<'_, T> {
        PrefixMut {
            start: self.start,
            size: self.size,
            layout: ViewLayout::fixed_fields::<T>(self.size),
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
        let Some(offset) = self.layout.offset_of(self.size, field) else {
            return false;
        };
        // SAFETY: `offset_of` returns an offset at which the struct's layout has a field of type `F`, and
        // which ends within `size`. The constructor's caller guarantees that `size` bytes are writable.
        unsafe { self.start.byte_add(offset).cast::<F>().write(value) }
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
        if self.size > MAX_STRUCT_SIZE {
            return;
        }
        for offset in (first..self.size).step_by(slot) {
            if offset + slot <= self.size {
                // SAFETY: the slot ends within `size`, so the constructor's caller guarantees that it is
                // writable. The caller guarantees that it is a function pointer, and so it is aligned.
                unsafe { self.start.byte_add(offset).cast().write(function) }
            }
        }
    }

    /// Writes `struct_size`: the size of the layout in use, which is never above the host's. Does nothing if
    /// the layout is not known.
    pub fn set_struct_size(&mut self) {
        let size = match self.layout {
            ViewLayout::Epoch(epoch) => T::EPOCHS[epoch].size.min(self.size),
            ViewLayout::Host(layout) => layout.size,
            ViewLayout::FixedFields | ViewLayout::Unknown => return,
        };
        // SAFETY: the struct has a known layout, so it is long enough for its first field, `struct_size`. The
        // constructor's caller guarantees that it is writable and aligned.
        unsafe { self.start.cast::<usize>().write(size) }
    }

    /// Returns a read-only view of the same struct.
    pub fn as_prefix(&self) -> Prefix<'_, T> {
        Prefix {
            start: self.start,
            size: self.size,
            layout: self.layout,
            lifetime: PhantomData,
        }
    }

    /// Returns the size of the host's struct in bytes.
    pub fn size(&self) -> usize {
        self.size
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

#[cfg(test)]
mod tests;
