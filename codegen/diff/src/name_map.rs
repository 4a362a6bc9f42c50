//! Hash maps by C name. A diff does tens of thousands of lookups, and its input is not hostile. So the hash is a fast
//! one that does not resist collision attacks.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A hash map by name.
pub type NameMap<K, V> = HashMap<K, V, BuildHasherDefault<NameHasher>>;

/// A hasher that rotates, mixes in and multiplies eight bytes at a time.
#[derive(Clone, Copy, Debug, Default)]
pub struct NameHasher(u64);

impl NameHasher {
    fn mix(&mut self, word: u64) {
        const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(MULTIPLIER);
    }
}

impl Hasher for NameHasher {
    fn write(&mut self, bytes: &[u8]) {
        let mut words = bytes.chunks_exact(8);
        for word in &mut words {
            self.mix(u64::from_le_bytes(word.try_into().unwrap_or_default()));
        }
        let rest = words.remainder().iter().rev();
        self.mix(rest.fold(0, |word, byte| word << 8 | u64::from(*byte)));
    }

    fn finish(&self) -> u64 {
        // The hash map uses the upper bits and the lower bits.
        self.0 ^ self.0 >> 32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_of_similar_names_differ() {
        let hash = |text: &str| {
            let mut hasher = NameHasher::default();
            hasher.write(text.as_bytes());
            hasher.finish()
        };
        let names = [
            "TF_A",
            "TF_B",
            "TF_AA",
            "PJRT_Memory_Id",
            "PJRT_Memory_Kind",
            "PJRT_Memory_Kinds",
        ];
        let mut hashes: Vec<u64> = names.into_iter().map(hash).collect();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), names.len());
        assert_eq!(hash("TF_A"), hash("TF_A"));
    }
}
