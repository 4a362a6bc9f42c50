//! Storage for values that are dropped one by one, in any order, without an allocation for the usual number.

use std::cell::{Cell, UnsafeCell};
use std::mem::MaybeUninit;
use std::ptr::NonNull;

/// Number of values that are stored inline.
const INLINE: usize = 16;

/// The slot of a value that has an allocation of its own.
const BOXED: u32 = u32::MAX;

/// Storage for values. A value that nobody removes is leaked, and its slot is not used again.
pub(in crate::kernel) struct Slots<T> {
    /// Bit `i` is set while slot `i` has a value.
    used: Cell<u32>,
    slots: [UnsafeCell<MaybeUninit<Entry<T>>>; INLINE],
}

/// A value and its slot.
struct Entry<T> {
    slot: u32,
    value: T,
}

/// The address of a stored value.
pub(in crate::kernel) struct Stored<T>(NonNull<Entry<T>>);

impl<T> Clone for Stored<T> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Stored<T> {}

impl<T> Slots<T> {
    #[inline]
    pub fn new() -> Self {
        Self {
            used: Cell::new(0),
            slots: [const { UnsafeCell::new(MaybeUninit::uninit()) }; INLINE],
        }
    }

    /// Stores a value until [`remove`](Self::remove).
    #[inline]
    pub fn insert(&self, value: T) -> Stored<T> {
        let slot = self.used.get().trailing_ones();
        let Some(free) = self.slots.get(slot as usize) else {
            return Stored(insert_boxed(value));
        };
        self.used.set(self.used.get() | 1 << slot);
        // SAFETY: a slot whose bit was not set has no value, and so nobody has a reference to it. The bit is set, so that
        // no other call of `insert` returns this slot before `remove`. `Slots` is not `Sync`, so that no other thread has it.
        let entry = unsafe { (*free.get()).write(Entry { slot, value }) };
        Stored(NonNull::from(entry))
    }

    /// Returns a stored value.
    ///
    /// # Safety
    /// - `insert` of this storage returned `stored`, and the storage was not moved since then.
    /// - The value was not removed, and is not removed while the reference is alive.
    #[inline]
    pub unsafe fn get(&self, stored: Stored<T>) -> &T {
        // SAFETY: the caller guarantees that the entry is live. A stored value is only lent as `&T`.
        unsafe { &stored.0.as_ref().value }
    }

    /// Drops a stored value.
    ///
    /// # Safety
    /// - `insert` of this storage returned `stored`, and the storage was not moved since then.
    /// - The value was not removed, and neither `stored` nor a copy of it is used again.
    #[inline]
    pub unsafe fn remove(&self, stored: Stored<T>) {
        // SAFETY: the caller guarantees that the entry is live.
        let slot = unsafe { stored.0.as_ref().slot };
        if slot == BOXED {
            // SAFETY: `insert_boxed` leaked the box, and the caller guarantees that this is the last use.
            return drop(unsafe { Box::from_raw(stored.0.as_ptr()) });
        }
        // SAFETY: the caller guarantees that the entry is live, and that this is its last use. A panic in the drop
        // leaves the bit set, so that the slot is not used again.
        unsafe { stored.0.drop_in_place() };
        self.used.set(self.used.get() & !(1 << slot));
    }
}

#[cold]
fn insert_boxed<T>(value: T) -> NonNull<Entry<T>> {
    let slot = BOXED;
    NonNull::from(Box::leak(Box::new(Entry { slot, value })))
}

/// These tests own heap memory in each value, so that AddressSanitizer reports a value that is dropped twice, used after
/// its drop, or leaked.
#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;

    /// Owns a stored value as an input of a kernel does.
    struct Owner<'s> {
        slots: &'s Slots<Rc<usize>>,
        stored: Stored<Rc<usize>>,
    }

    impl<'s> Owner<'s> {
        fn new(slots: &'s Slots<Rc<usize>>, value: &Rc<usize>) -> Self {
            let stored = slots.insert(Rc::clone(value));
            Self { slots, stored }
        }

        fn value(&self) -> usize {
            // SAFETY: the storage is borrowed, and only the drop removes the value.
            **unsafe { self.slots.get(self.stored) }
        }
    }

    impl Drop for Owner<'_> {
        fn drop(&mut self) {
            // SAFETY: as in `value`; a value is dropped once.
            unsafe { self.slots.remove(self.stored) }
        }
    }

    fn values(len: usize) -> Vec<Rc<usize>> {
        (0..len).map(Rc::new).collect()
    }

    #[test]
    fn keeps_more_values_than_inline_slots() {
        let (slots, values) = (Slots::new(), values(INLINE + 9));
        for _ in 0..2 {
            let owners: Vec<_> = values.iter().map(|it| Owner::new(&slots, it)).collect();
            assert!(owners.iter().map(Owner::value).eq(0..values.len()));
            assert_eq!(slots.used.get(), u32::from(u16::MAX));
            drop(owners);
            assert_eq!(slots.used.get(), 0);
        }
        assert!(values.iter().all(|it| Rc::strong_count(it) == 1));
    }

    #[test]
    fn drop_in_any_order_frees_slots() {
        let (slots, values) = (Slots::new(), values(INLINE + 2));
        for step in [1, 5, 7, INLINE + 1] {
            let mut owners: Vec<_> = values.iter().map(|it| Owner::new(&slots, it)).collect();
            let mut next = 0;
            while !owners.is_empty() {
                next = (next + step) % owners.len();
                drop(owners.swap_remove(next));
                // The freed slot is used at once, while others are.
                let again = Owner::new(&slots, &values[0]);
                assert_eq!(again.value(), 0);
                assert!(owners.iter().all(|it| it.value() < values.len()));
            }
            assert_eq!(slots.used.get(), 0);
        }
        assert!(values.iter().all(|it| Rc::strong_count(it) == 1));
    }

    #[test]
    fn slot_of_leaked_value_is_not_used_again() {
        let (slots, values) = (Slots::new(), values(3));
        let leaked = Owner::new(&slots, &values[0]);
        let stored = leaked.stored;
        std::mem::forget(leaked);
        let others = [&values[1], &values[2]].map(|it| Owner::new(&slots, it));
        drop(others);
        // SAFETY: the leaked value was not removed.
        assert_eq!(**unsafe { slots.get(stored) }, 0);
        assert_eq!(Rc::strong_count(&values[0]), 2);
        assert_eq!(slots.used.get(), 1);
        // SAFETY: the owner was leaked, so nobody else removes the value.
        unsafe { slots.remove(stored) };
        assert_eq!(Rc::strong_count(&values[0]), 1);
    }
}
