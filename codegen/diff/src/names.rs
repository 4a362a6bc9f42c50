//! Tables by C name. A diff looks names up some ten thousand times and trusts them, so their hash is a
//! quick one.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A table by name.
pub type Names<K, V> = HashMap<K, V, BuildHasherDefault<Quick>>;

/// Eight bytes at a time: rotate, mix in, multiply.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quick(u64);

impl Quick {
    fn mix(&mut self, word: u64) {
        const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(ODD);
    }
}

impl Hasher for Quick {
    fn write(&mut self, bytes: &[u8]) {
        let mut words = bytes.chunks_exact(8);
        for word in &mut words {
            self.mix(u64::from_le_bytes(word.try_into().unwrap_or_default()));
        }
        let rest = words.remainder().iter().rev();
        self.mix(rest.fold(0, |word, byte| word << 8 | u64::from(*byte)));
    }

    fn finish(&self) -> u64 {
        // The table looks at the upper bits and the lower ones.
        self.0 ^ self.0 >> 32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_differ_in_one_letter_differ() {
        let hash = |text: &str| {
            let mut quick = Quick::default();
            quick.write(text.as_bytes());
            quick.finish()
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
