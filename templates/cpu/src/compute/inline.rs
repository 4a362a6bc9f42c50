//! A list without an allocation, for up to eight items: dims and loops of a call.

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
        let mut list = Self::new(value);
        (0..len).for_each(|_| list.push(value));
        list
    }

    /// Adds an item at the end.
    pub fn push(&mut self, item: T) {
        match self.inline.get_mut(self.len) {
            Some(slot) => *slot = item,
            None if self.spilled.is_empty() => self.spilled = [&self.inline[..], &[item]].concat(),
            None => self.spilled.push(item),
        }
        self.len += 1;
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
        }
    }
}
