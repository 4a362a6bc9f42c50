//! Views of structs that the other side allocated.
//!
//! A plugin and its host are built years apart, so a struct may be shorter, longer or ordered
//! otherwise than the one we were compiled with. No `&T` is ever formed over such memory: a view
//! reads and writes one field at a time, where the layout with the `struct_size` found there has it.

use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::LazyLock;

use crate::declared::{HostLayout, HostLayoutCell};
use crate::host::{Host, Release, Releases};
use crate::writer::{self, Settable};
use crate::{Code, Error, Result};

/// A struct that opens with `struct_size`.
///
/// # Safety
/// The type is `repr(C)`, its first field is `struct_size: usize`, [`STRUCT_SIZE`] is the end of its
/// last field and the size of the last of [`EPOCHS`]. `#[derive(Abi)]` is the only implementor.
///
/// [`STRUCT_SIZE`]: Versioned::STRUCT_SIZE
/// [`EPOCHS`]: Versioned::EPOCHS
pub unsafe trait Versioned: Copy {
    /// The C name, for messages.
    const NAME: &'static str;
    /// Bytes up to the end of the last field, tail padding excluded: what both sides write into
    /// `struct_size`.
    const STRUCT_SIZE: usize;
    /// Its layouts over the releases, oldest first; no two have one size. The last is the type's.
    const EPOCHS: &'static [Epoch];
    /// The names of its fields in order.
    const FIELDS: &'static [&'static str];

    /// The layout that the headers of the running host declare, if they were read.
    fn host_layout() -> &'static HostLayoutCell;
}

/// A layout that a struct had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Epoch {
    /// The `struct_size` that tells it.
    pub size: usize,
    /// The releases that have it.
    pub releases: Releases,
}

/// A field of `T` with type `F`: where each layout of `T` has it, and which party `W` stores it.
pub struct Field<T, F, W = writer::Plugin> {
    /// Position among the fields of `T`.
    index: usize,
    offset: usize,
    /// By epoch; empty where it is the same in all.
    places: &'static [Option<usize>],
    of: PhantomData<fn(T, W) -> F>,
}

impl<T, F, W> Clone for Field<T, F, W> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, F, W> Copy for Field<T, F, W> {}

impl<T, F, W> Field<T, F, W> {
    /// The field of `T` number `index` that starts `offset` bytes into `T`, in every layout.
    ///
    /// # Safety
    /// A value of type `F` lives at that offset of every `T` that reaches so far, and `index` is the
    /// field's position in [`Versioned::FIELDS`].
    pub const unsafe fn at(index: usize, offset: usize) -> Self {
        Self {
            index,
            offset,
            places: &[],
            of: PhantomData,
        }
    }

    /// The field number `index` that starts `offset` bytes into `T`, and in its layouts at `places`, by
    /// epoch.
    ///
    /// # Safety
    /// A value of type `F` lives at each of those places, in the layout that it is of, and `index` is
    /// the field's position in [`Versioned::FIELDS`].
    pub const unsafe fn moved(
        index: usize,
        offset: usize,
        places: &'static [Option<usize>],
    ) -> Self {
        if let [.., Some(newest)] = places {
            assert!(*newest == offset, "the newest layout is the type's own");
        }
        Self {
            index,
            offset,
            places,
            of: PhantomData,
        }
    }

    /// Bytes from the start of the struct to the end of this field.
    pub const fn end(self) -> usize {
        self.offset + size_of::<F>()
    }

    /// Where the layout of this epoch has it.
    fn place(self, epoch: usize) -> Option<usize> {
        match self.places {
            [] => Some(self.offset),
            places => places[epoch],
        }
    }

    /// Where it is in all of them, if it is in one place.
    fn fixed(self) -> Option<usize> {
        let here = Some(self.offset);
        self.places
            .iter()
            .all(|place| *place == here)
            .then_some(self.offset)
    }
}

impl<T: Versioned, F, W> Field<T, F, W> {
    /// Whether the struct has this field in `release`.
    pub const fn is_in(self, release: Release) -> bool {
        let mut epoch = 0;
        while epoch < T::EPOCHS.len() {
            let there = self.places.is_empty() || self.places[epoch].is_some();
            if there && T::EPOCHS[epoch].releases.has(release) {
                return true;
            }
            epoch += 1;
        }
        false
    }
}

/// A larger `struct_size` is no size: the largest struct of any release has about 1,000 bytes. Views of such
/// a struct reach no field, and nothing is written to it.
const LARGEST: usize = 4096;

/// Which fields a view reaches.
#[derive(Debug, Clone, Copy)]
enum Reach {
    /// Those of this epoch's layout.
    Epoch(usize),
    /// Those that the host's own header declares.
    Host(&'static HostLayout),
    /// Those that no layout has moved, as far as the struct goes.
    Fixed,
    /// None: nobody knows a layout of this size.
    Nothing,
}

impl Reach {
    fn of<T: Versioned>(size: usize) -> Self {
        match T::host_layout().get() {
            _ if size > LARGEST => Self::Nothing,
            None => Self::by_size::<T>(size),
            Some(layout) if layout.is_accepted && layout.has(size) => Self::Host(layout),
            Some(_) => Self::Nothing,
        }
    }

    /// The fields to decline with: those of the host's header, else those that no layout has moved.
    fn fixed<T: Versioned>(size: usize) -> Self {
        match T::host_layout().get() {
            _ if size > LARGEST => Self::Nothing,
            Some(layout) if layout.has(size) => Self::Host(layout),
            _ => Self::Fixed,
        }
    }

    fn by_size<T: Versioned>(size: usize) -> Self {
        match T::EPOCHS.iter().position(|epoch| epoch.size == size) {
            Some(epoch) => Self::Epoch(epoch),
            None => Self::beyond::<T>(size),
        }
    }

    #[cold]
    fn beyond<T: Versioned>(size: usize) -> Self {
        static ASSUME_APPEND: LazyLock<bool> = LazyLock::new(|| {
            std::env::var_os("SP_ASSUME_APPEND").is_some_and(|value| value == "1")
        });
        match size > T::STRUCT_SIZE && *ASSUME_APPEND {
            true => Self::Epoch(T::EPOCHS.len() - 1),
            false => Self::Nothing,
        }
    }

    fn place<T, F, W>(self, size: usize, field: Field<T, F, W>) -> Option<usize> {
        match self {
            Self::Epoch(epoch) => field.place(epoch),
            Self::Host(layout) => layout.places.get(field.index).copied().flatten(),
            Self::Fixed => field.fixed(),
            Self::Nothing => None,
        }
        // The sizes of epochs are facts of a table, and a header may state anything. That nothing is
        // touched beyond the host's struct must not depend on either.
        .filter(|place| {
            place
                .checked_add(size_of::<F>())
                .is_some_and(|end| end <= size)
        })
    }
}

/// The releases whose `T` has this size.
fn releases<T: Versioned>(size: usize, reach: Reach) -> Result<Releases> {
    match reach {
        Reach::Epoch(epoch) if T::EPOCHS[epoch].size == size => Ok(T::EPOCHS[epoch].releases),
        Reach::Epoch(_) | Reach::Host(_) => Ok(Releases::ALL),
        _ => Err(unknown::<T>(size)),
    }
}

/// Returns the error for a struct whose layout is not known.
#[cold]
fn unknown<T: Versioned>(size: usize) -> Error {
    let declared = T::host_layout().get().filter(|layout| layout.is_accepted);
    let message = match declared {
        Some(layout) => format!(
            "its {} is {size} bytes, and its headers declare {}",
            T::NAME,
            layout.size
        ),
        None => format!(
            "its {} is {size} bytes, expected {} (SP_ASSUME_APPEND=1 takes a longer one for these with fields added at the end)",
            T::NAME,
            sizes::<T>(),
        ),
    };
    Error::new(Code::FAILED_PRECONDITION, message)
}

/// Returns the known sizes of `T` as text: `34 or 35`.
fn sizes<T: Versioned>() -> String {
    let known = T::EPOCHS.iter().map(|epoch| epoch.size.to_string());
    known.collect::<Vec<_>>().join(" or ")
}

/// A struct that we may read, as far as its `struct_size` goes.
pub struct Prefix<'a, T> {
    start: NonNull<T>,
    size: usize,
    reach: Reach,
    lent: PhantomData<&'a T>,
}

impl<T> Clone for Prefix<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Prefix<'_, T> {}

impl<'a, T: Versioned> Prefix<'a, T> {
    /// A view of the struct at `start`; of nothing if `start` is null.
    ///
    /// # Safety
    /// `start` is null, or aligned for `T` and readable for as many bytes as the `struct_size`
    /// there says, for all of `'a`, while nobody writes to it.
    pub unsafe fn new(start: *const T) -> Self {
        // SAFETY: the caller vouches for `start`, and `struct_size` is the first field.
        let (start, size) = unsafe { measure(start.cast_mut()) };
        Self {
            start,
            size,
            reach: Reach::of::<T>(size),
            lent: PhantomData,
        }
    }

    /// A view of a struct of our own.
    pub fn of(whole: &'a T) -> Self {
        Self {
            start: NonNull::from(whole),
            size: T::STRUCT_SIZE,
            reach: Reach::Epoch(T::EPOCHS.len() - 1),
            lent: PhantomData,
        }
    }

    /// The view, if the struct's layout is known.
    ///
    /// # Errors
    /// The size that nobody knows.
    pub fn known(self) -> Result<Self> {
        self.releases().map_err(of_host).map(|_| self)
    }

    /// The releases whose struct has this size.
    ///
    /// # Errors
    /// The size that nobody knows.
    pub fn releases(&self) -> Result<Releases> {
        releases::<T>(self.size, self.reach)
    }

    /// The field's value, or `None` where the other side does not know the field.
    pub fn get<F: Copy, W>(&self, field: Field<T, F, W>) -> Option<F> {
        let place = self.reach.place(self.size, field)?;
        // SAFETY: the field is there, within `size`, which the constructor's caller vouched for.
        Some(unsafe { self.start.byte_add(place).cast::<F>().read() })
    }

    /// The bytes that the other side provides.
    pub fn size(&self) -> usize {
        self.size
    }
}

/// A struct that we may read and write, as far as its `struct_size` goes.
pub struct PrefixMut<'a, T> {
    start: NonNull<T>,
    size: usize,
    reach: Reach,
    lent: PhantomData<&'a mut T>,
}

impl<'a, T: Versioned> PrefixMut<'a, T> {
    /// A view of the struct at `start`; of nothing if `start` is null.
    ///
    /// # Safety
    /// As for [`Prefix::new`], and nobody else reads or writes those bytes during `'a`.
    pub unsafe fn new(start: *mut T) -> Self {
        // SAFETY: the caller vouches for `start`, and `struct_size` is the first field.
        let (start, size) = unsafe { measure(start) };
        Self {
            start,
            size,
            reach: Reach::of::<T>(size),
            lent: PhantomData,
        }
    }

    /// A view of a struct of our own.
    pub fn of(whole: &'a mut T) -> Self {
        Self {
            start: NonNull::from(whole),
            size: T::STRUCT_SIZE,
            reach: Reach::Epoch(T::EPOCHS.len() - 1),
            lent: PhantomData,
        }
    }

    /// The view, if the struct's layout is known.
    ///
    /// # Errors
    /// The size that nobody knows.
    pub fn known(self) -> Result<Self> {
        self.releases().map_err(of_host).map(|_| self)
    }

    /// The releases whose struct has this size.
    ///
    /// # Errors
    /// The size that nobody knows.
    pub fn releases(&self) -> Result<Releases> {
        releases::<T>(self.size, self.reach)
    }

    /// The same struct, whatever its size, with only the fields that no layout has moved: enough to
    /// decline by.
    pub fn fixed(&mut self) -> PrefixMut<'_, T> {
        PrefixMut {
            start: self.start,
            size: self.size,
            reach: Reach::fixed::<T>(self.size),
            lent: PhantomData,
        }
    }

    /// The field's value, or `None` where the other side does not know the field.
    pub fn get<F: Copy, W>(&self, field: Field<T, F, W>) -> Option<F> {
        self.as_prefix().get(field)
    }

    /// Writes the field; `false`, and no byte touched, where the other side does not know it.
    ///
    /// Only fields that the plugin stores can be set; the others belong to TensorFlow.
    pub fn set<F: Copy, W: Settable>(&mut self, field: Field<T, F, W>, value: F) -> bool {
        let Some(place) = self.reach.place(self.size, field) else {
            return false;
        };
        // SAFETY: the field is there, within `size`, which the constructor's caller vouched for.
        unsafe { self.start.byte_add(place).cast::<F>().write(value) }
        true
    }

    /// Stores `function` in all slots of a table of functions from offset `first` on, whatever its
    /// layout, as far as the other side provides. A table of an incredible size is left alone.
    ///
    /// # Safety
    /// - `T` is a table that consists of functions from `first` on, in every layout, and `first` is a
    ///   multiple of a pointer's size.
    /// - The host calls none of these slots, or only as a function that ignores its arguments.
    pub unsafe fn occupy(&mut self, first: usize, function: unsafe extern "C" fn() -> usize) {
        let slot = size_of_val(&function);
        if self.size > LARGEST {
            return;
        }
        for place in (first..self.size).step_by(slot) {
            if place + slot <= self.size {
                // SAFETY: within `size`, which the constructor's caller vouched for; the caller
                // vouches that functions are there, which aligns them.
                unsafe { self.start.byte_add(place).cast().write(function) }
            }
        }
    }

    /// Writes `struct_size`: the layout's, so never above what the other side provides.
    pub fn announce(&mut self) {
        let size = match self.reach {
            Reach::Epoch(epoch) => T::EPOCHS[epoch].size.min(self.size),
            Reach::Host(layout) => layout.size,
            Reach::Fixed | Reach::Nothing => return,
        };
        // SAFETY: the struct is of a known size, so `struct_size`, its first field, is there.
        unsafe { self.start.cast::<usize>().write(size) }
    }

    /// The same struct, to read only.
    pub fn as_prefix(&self) -> Prefix<'_, T> {
        Prefix {
            start: self.start,
            size: self.size,
            reach: self.reach,
            lent: PhantomData,
        }
    }

    /// The bytes that the other side provides.
    pub fn size(&self) -> usize {
        self.size
    }
}

/// The error, said of the running release.
fn of_host(error: Error) -> Error {
    let message = format!("{}: {}", Host::running().name(), error.message());
    Error::new(error.code(), message)
}

/// The struct's place and the size it says; a place with no bytes for null.
///
/// # Safety
/// `start` is null or points to a readable `usize`.
unsafe fn measure<T>(start: *mut T) -> (NonNull<T>, usize) {
    match NonNull::new(start) {
        // SAFETY: not null, so the caller vouches for it.
        Some(start) => (start, unsafe { start.cast::<usize>().read() }),
        None => (NonNull::dangling(), 0),
    }
}

#[cfg(test)]
mod tests;
