//! The identity of a thread in profiles of TensorFlow.

/// Returns the id that TensorFlow's own profiler gives the line of the calling thread: `std::hash` of its `std::thread::id`
/// in libstdc++. Releases up to 2.18 use the low 32 bits. `None` on a system with another C++ library.
#[cfg(target_os = "linux")]
pub fn profile_line() -> Option<u64> {
    // SAFETY: the function has no obligations.
    let thread = unsafe { libc::pthread_self() };
    Some(hash(thread as u64))
}

/// As on Linux; there is no such line elsewhere.
#[cfg(not(target_os = "linux"))]
pub fn profile_line() -> Option<u64> {
    None
}

/// Returns the hash of eight bytes as libstdc++ computes it: MurmurHash64A with its seed.
#[cfg(any(target_os = "linux", test))]
fn hash(value: u64) -> u64 {
    const FACTOR: u64 = 0xc6a4_a793_5bd1_e995;
    const SEED: u64 = 0xc70f_6907;
    let mix = |value: u64| value ^ (value >> 47);
    let word = mix(value.wrapping_mul(FACTOR)).wrapping_mul(FACTOR);
    let hash = (SEED ^ FACTOR.wrapping_mul(8) ^ word).wrapping_mul(FACTOR);
    mix(mix(hash).wrapping_mul(FACTOR))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values are those of `std::_Hash_bytes` for threads of TensorFlow 2.12, 2.18, 2.21 and 2.22.
    #[test]
    fn hash_is_that_of_libstdcxx() {
        let seen: [(u64, i64); 4] = [
            (140_525_961_198_464, 3_879_133_191_331_945_337),
            (140_256_523_049_856, 3_690_571_580_802_411_596),
            (139_959_698_959_232, -6_744_962_901_461_206_072),
            (139_673_895_234_432, -4_023_213_389_006_326_776),
        ];
        for (thread, expected) in seen {
            assert_eq!(hash(thread), expected as u64);
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn threads_have_lines_of_their_own() {
        let other = std::thread::spawn(profile_line).join().unwrap();
        assert_ne!(profile_line(), other);
        assert_eq!(profile_line(), profile_line());
    }
}
