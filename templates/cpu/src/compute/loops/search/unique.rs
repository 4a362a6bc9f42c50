//! The distinct slices along an axis, in the order of their first occurrence.

use sp_plugin::allocation;
use std::cell::Cell;

/// An element that is compared by a key.
pub trait Key: Copy {
    /// Returns the key: two elements are equal if both have the same one. `None` if the element equals no other, as
    /// NaN.
    fn key(self) -> Option<u64>;
}

/// The distinct slices.
#[derive(Debug, Default)]
pub struct Uniques {
    /// The index of the first occurrence of each.
    pub firsts: Vec<usize>,
    /// The number of occurrences of each.
    pub counts: Vec<usize>,
}

/// Largest number of slices for which a thread keeps the memory of its search.
const MAX_KEPT: usize = 1 << 16;

/// The memory of the thread's last search, so that the next one allocates none for a few distinct slices.
#[derive(Default)]
struct Scratch {
    uniques: [Vec<usize>; 2],
    entries: Vec<Entry>,
}

thread_local! {
    static SCRATCH: Cell<Scratch> = const {
        Cell::new(Scratch {
            uniques: [const { Vec::new() }; 2],
            entries: Vec::new(),
        })
    };
}

impl Drop for Uniques {
    /// Returns the memory to the thread.
    fn drop(&mut self) {
        let mut uniques = [&mut self.firsts, &mut self.counts].map(std::mem::take);
        for it in &mut uniques {
            it.clear();
            it.shrink_to(MAX_KEPT);
        }
        let scratch = SCRATCH.take();
        SCRATCH.set(Scratch { uniques, ..scratch });
    }
}

/// Finds the distinct slices along the axis of `[outer, axis, inner]`, and calls `write(i, j)` if slice `i` is the
/// distinct slice `j`.
///
/// # Panics
/// Panics if `x` has another length.
pub fn unique<T: Key>(
    [outer, axis, inner]: [usize; 3],
    x: &[T],
    mut write: impl FnMut(usize, usize),
) -> Uniques {
    assert_eq!(
        x.len(),
        outer * axis * inner,
        "not the elements of the dims"
    );
    let keys = |slice: usize| {
        let rows = (0..outer).map(move |outer| (outer * axis + slice) * inner);
        rows.flat_map(move |start| x[start..start + inner].iter().map(|it| it.key()))
    };
    let mut search = Search::new();
    if outer * inner == 1 {
        for (block, x) in x.chunks(BLOCK).enumerate() {
            let mut block_keys = [None; BLOCK];
            let pairs = block_keys.iter_mut().zip(x);
            pairs.for_each(|(key, x)| *key = x.key());
            let ids = search.find_keys(&block_keys[..x.len()]);
            (block * BLOCK..)
                .zip(&ids[..x.len()])
                .for_each(|(at, id)| write(at, *id));
        }
        return search.finish();
    }
    let hash = |slice| keys(slice).fold(SEED, |hash, key| mix(hash ^ key.unwrap_or(0)));
    let is_equal = |a: Option<u64>, b| a.is_some() && a == b;
    for slice in 0..axis {
        let is_equal = |other| keys(other).zip(keys(slice)).all(|(a, b)| is_equal(a, b));
        write(slice, search.find(hash(slice), &is_equal));
    }
    search.finish()
}

/// The number of keys that are searched together.
const BLOCK: usize = 128;

/// A search for distinct slices. It is compiled once, not for each type.
struct Search {
    uniques: Uniques,
    table: Table,
    /// The number of slices before the next one.
    slices: usize,
}

impl Search {
    fn new() -> Self {
        let Scratch {
            uniques: [firsts, counts],
            entries,
        } = SCRATCH.take();
        Self {
            uniques: Uniques { firsts, counts },
            table: Table::new(entries),
            slices: 0,
        }
    }

    /// Returns the number of the distinct slice that equals the next one, which has this hash, or a new number. `is_equal`
    /// compares the next slice with one before it.
    fn find(&mut self, hash: u64, is_equal: &dyn Fn(usize) -> bool) -> usize {
        let (new, firsts) = (self.uniques.firsts.len(), &self.uniques.firsts);
        let found = self
            .table
            .find_or_insert(hash, new, |id| is_equal(firsts[id]));
        self.count(found)
    }

    /// Returns the numbers of the distinct slices that equal the next ones, of one element each.
    fn find_keys(&mut self, keys: &[Option<u64>]) -> [usize; BLOCK] {
        let mut ids = [0; BLOCK];
        for (id, key) in ids.iter_mut().zip(keys) {
            let new = self.uniques.firsts.len();
            let found = key.map_or(new, |key| self.table.find_or_insert(key, new, |_| true));
            *id = self.count(found);
        }
        ids
    }

    /// Counts an occurrence of a distinct slice, which may be new; returns its number.
    fn count(&mut self, found: usize) -> usize {
        if found == self.uniques.firsts.len() {
            allocation::push(&mut self.uniques.firsts, self.slices);
            allocation::push(&mut self.uniques.counts, 0);
        }
        self.uniques.counts[found] += 1;
        self.slices += 1;
        found
    }

    /// Returns the distinct slices, and the memory to the thread.
    fn finish(self) -> Uniques {
        SCRATCH.set(Scratch {
            entries: self.table.into_memory(),
            ..Scratch::default()
        });
        self.uniques
    }
}

const SEED: u64 = 0x9e37_79b9_7f4a_7c15;

/// Spreads the bits of a key over the hash.
fn mix(value: u64) -> u64 {
    let product = u128::from(value ^ (value >> 32)) * u128::from(SEED);
    (product as u64) ^ (product >> 64) as u64
}

/// A table with open addressing: the key, or the hash, and the id of each entry. Half of it is free.
struct Table {
    entries: Vec<Entry>,
    len: usize,
}

type Entry = Option<(u64, usize)>;

impl Table {
    /// Creates an empty table in the memory of `entries`.
    fn new(mut entries: Vec<Entry>) -> Self {
        entries.clear();
        entries.resize(64, None);
        Self { entries, len: 0 }
    }

    /// Returns the memory, for another table.
    fn into_memory(mut self) -> Vec<Entry> {
        self.entries.clear();
        self.entries.shrink_to(MAX_KEPT);
        self.entries
    }

    /// Returns the id of an entry with this key that is equal, or inserts `new`.
    #[inline]
    fn find_or_insert(&mut self, key: u64, new: usize, is_equal: impl Fn(usize) -> bool) -> usize {
        if self.len * 2 >= self.entries.len() {
            self.grow();
        }
        let mask = self.entries.len() - 1;
        let mut slot = mix(SEED ^ key) as usize & mask;
        loop {
            match self.entries[slot] {
                Some((other, id)) if other == key && is_equal(id) => return id,
                Some(_) => slot = (slot + 1) & mask,
                None => {
                    self.entries[slot] = Some((key, new));
                    self.len += 1;
                    return new;
                }
            }
        }
    }

    fn grow(&mut self) {
        let size = self.entries.len() * 2;
        let entries = std::mem::replace(&mut self.entries, allocation::filled(None, size));
        for entry in entries.into_iter().flatten() {
            let mut slot = mix(SEED ^ entry.0) as usize & (size - 1);
            while self.entries[slot].is_some() {
                slot = (slot + 1) & (size - 1);
            }
            self.entries[slot] = Some(entry);
        }
    }
}
