//! A list without an allocation, for up to eight items: dims and loops of a call.

use sp_plugin::allocation;
use std::ops::{Deref, DerefMut};

/// Number of items that are stored inline.
const INLINE: usize = 8;

/// A list that allocates from the ninth item on.
#[derive(Clone, Debug)]
pub struct InlineList<T> {
    /// All items, if there are more than eight; else empty.
    spilled: Vec<T>,
    inline: [T; INLINE],
    len: usize,
}

impl<T: Copy> InlineList<T> {
    /// Creates an empty list; `filler` is the value of the unused items.
    pub fn new(filler: T) -> Self {
        Self {
            spilled: Vec::new(),
            inline: [filler; INLINE],
            len: 0,
        }
    }

    /// Creates a list of `len` items of this value.
    pub fn repeat(value: T, len: usize) -> Self {
        let spilled = match len > INLINE {
            true => allocation::filled(value, len),
            false => Vec::new(),
        };
        Self {
            spilled,
            inline: [value; INLINE],
            len,
        }
    }

    /// Removes the last item.
    pub fn pop(&mut self) -> Option<T> {
        let last = self.last().copied()?;
        self.len -= 1;
        if self.len == INLINE {
            self.inline.copy_from_slice(&self.spilled[..INLINE]);
        }
        self.spilled.pop();
        if self.len <= INLINE {
            self.spilled.clear();
        }
        Some(last)
    }

    /// Adds an item at the end.
    pub fn push(&mut self, item: T) {
        match self.inline.get_mut(self.len) {
            Some(slot) => *slot = item,
            None if self.spilled.is_empty() => {
                self.spilled = allocation::copied(&self.inline);
                allocation::push(&mut self.spilled, item);
            }
            None => allocation::push(&mut self.spilled, item),
        }
        self.len += 1;
    }
}

impl<T: Copy + Default> FromIterator<T> for InlineList<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut list = Self::new(T::default());
        items.into_iter().for_each(|it| list.push(it));
        list
    }
}

impl<T: Copy + Default> From<&[T]> for InlineList<T> {
    fn from(items: &[T]) -> Self {
        let mut list = Self::new(T::default());
        items.iter().for_each(|item| list.push(*item));
        list
    }
}

impl<T> Deref for InlineList<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self.inline.get(..self.len) {
            Some(items) => items,
            None => &self.spilled,
        }
    }
}

impl<T> DerefMut for InlineList<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match self.inline.get_mut(..self.len) {
            Some(items) => items,
            None => &mut self.spilled,
        }
    }
}

impl<T: PartialEq> PartialEq for InlineList<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Eq> Eq for InlineList<T> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn has_items_in_order_at_any_length() {
        for len in [0_usize, 1, 8, 9, 20] {
            let mut list = InlineList::new(0);
            (0..len).for_each(|it| list.push(it));
            assert_eq!(*list, (0..len).collect::<Vec<_>>()[..]);
            list.reverse();
            assert_eq!(list.first().copied(), len.checked_sub(1));
            assert_eq!(*InlineList::repeat(7, len), vec![7; len][..]);
            for popped in 0..len {
                assert_eq!(list.pop(), Some(popped));
                list.push(popped);
                assert_eq!(list.pop(), Some(popped));
                assert_eq!(list.len(), len - popped - 1);
            }
            assert_eq!(list.pop(), None);
        }
    }
}
