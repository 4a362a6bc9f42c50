//! Views of structs that the other side allocated.
//!
//! A plugin and its host are built years apart, so a struct may be shorter or longer than the one
//! we were compiled with. No `&T` is ever formed over such memory: a view reads and writes one
//! field at a time, after checking that the field ends within the `struct_size` found there.

use std::marker::PhantomData;
use std::ptr::NonNull;

/// A struct that opens with `struct_size`.
///
/// # Safety
/// The type is `repr(C)`, its first field is `struct_size: usize`, and [`STRUCT_SIZE`] is the end
/// of its last field. `#[derive(Abi)]` is the only implementor.
///
/// [`STRUCT_SIZE`]: Versioned::STRUCT_SIZE
pub unsafe trait Versioned: Copy {
    /// The C name, for messages.
    const NAME: &'static str;
    /// Bytes up to the end of the last field, tail padding excluded: what both sides write into
    /// `struct_size`.
    const STRUCT_SIZE: usize;
}

/// A field of `T` with type `F`: its offset, checked at compile time by the derive that made it.
pub struct Field<T, F> {
    offset: usize,
    of: PhantomData<fn(T) -> F>,
}

impl<T, F> Clone for Field<T, F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, F> Copy for Field<T, F> {}

impl<T, F> Field<T, F> {
    /// The field that starts `offset` bytes into `T`.
    ///
    /// # Safety
    /// A value of type `F` lives there in every `T`.
    pub const unsafe fn at(offset: usize) -> Self {
        Self {
            offset,
            of: PhantomData,
        }
    }

    /// Bytes from the start of the struct to the end of this field.
    pub const fn end(self) -> usize {
        self.offset + size_of::<F>()
    }
}

/// A struct that we may read, as far as its `struct_size` goes.
pub struct Prefix<'a, T> {
    start: NonNull<T>,
    size: usize,
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
            lent: PhantomData,
        }
    }

    /// A view of a struct of our own.
    pub fn of(whole: &'a T) -> Self {
        Self {
            start: NonNull::from(whole),
            size: T::STRUCT_SIZE,
            lent: PhantomData,
        }
    }

    /// The field's value, or `None` where the other side does not know the field.
    pub fn get<F: Copy>(&self, field: Field<T, F>) -> Option<F> {
        // SAFETY: the field ends within `size`, which the constructor's caller vouched for.
        (field.end() <= self.size).then(|| unsafe { place(self.start, field).read() })
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
            lent: PhantomData,
        }
    }

    /// A view of a struct of our own.
    pub fn of(whole: &'a mut T) -> Self {
        Self {
            start: NonNull::from(whole),
            size: T::STRUCT_SIZE,
            lent: PhantomData,
        }
    }

    /// The field's value, or `None` where the other side does not know the field.
    pub fn get<F: Copy>(&self, field: Field<T, F>) -> Option<F> {
        self.as_prefix().get(field)
    }

    /// Writes the field; `false`, and no byte touched, where the other side does not know it.
    pub fn set<F: Copy>(&mut self, field: Field<T, F>, value: F) -> bool {
        let fits = field.end() <= self.size;
        if fits {
            // SAFETY: the field ends within `size`, which the constructor's caller vouched for.
            unsafe { place(self.start, field).write(value) }
        }
        fits
    }

    /// Writes `struct_size`: ours, but never above what the other side provides.
    pub fn announce(&mut self) {
        if size_of::<usize>() <= self.size {
            // SAFETY: `struct_size` is the first field and fits.
            unsafe {
                self.start
                    .cast::<usize>()
                    .write(self.size.min(T::STRUCT_SIZE))
            }
        }
    }

    /// The same struct, to read only.
    pub fn as_prefix(&self) -> Prefix<'_, T> {
        Prefix {
            start: self.start,
            size: self.size,
            lent: PhantomData,
        }
    }

    /// The bytes that the other side provides.
    pub fn size(&self) -> usize {
        self.size
    }
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

/// Where `field` lies in the struct at `start`.
///
/// # Safety
/// The field lies within the bytes that `start` points to.
unsafe fn place<T, F>(start: NonNull<T>, field: Field<T, F>) -> NonNull<F> {
    // SAFETY: within the same allocation, as the caller vouches.
    unsafe { start.byte_add(field.offset).cast() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Abi;

    #[derive(Clone, Copy, Debug, Abi)]
    #[repr(C)]
    #[abi(struct_size = "DEMO_STRUCT_SIZE", last = "small")]
    struct Demo {
        struct_size: usize,
        first: u64,
        small: u8,
    }

    fn demo(struct_size: usize) -> Demo {
        Demo {
            struct_size,
            first: 7,
            small: 9,
        }
    }

    #[test]
    fn size_leaves_out_tail_padding() {
        assert_eq!((Demo::STRUCT_SIZE, size_of::<Demo>()), (17, 24));
    }

    #[test]
    fn a_field_beyond_the_hosts_size_is_absent() {
        let old = demo(16);
        // SAFETY: `old` is a whole Demo, of which the view may use 16 bytes.
        let view = unsafe { Prefix::new(&raw const old) };
        assert_eq!(
            (view.get(Demo::first), view.get(Demo::small)),
            (Some(7), None)
        );
    }

    #[test]
    fn writing_stops_at_the_hosts_size() {
        let mut old = demo(16);
        // SAFETY: as above.
        let mut view = unsafe { PrefixMut::new(&raw mut old) };
        assert!(view.set(Demo::first, 1));
        assert!(!view.set(Demo::small, 1));
        view.announce();
        assert_eq!((old.struct_size, old.first, old.small), (16, 1, 9));
    }

    #[test]
    fn a_longer_host_is_told_our_size() {
        let mut whole = demo(400);
        PrefixMut::of(&mut whole).announce();
        assert_eq!(whole.struct_size, 17);
    }

    #[test]
    fn null_has_no_fields() {
        // SAFETY: null is allowed.
        let view = unsafe { Prefix::<Demo>::new(std::ptr::null()) };
        assert_eq!((view.size(), view.get(Demo::struct_size)), (0, None));
    }
}
