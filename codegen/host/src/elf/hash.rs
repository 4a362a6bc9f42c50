//! The hash function of the System V ABI.

/// Returns the hash of a symbol or version name.
pub(super) fn hash(name: &str) -> u32 {
    name.bytes().fold(0, |hash: u32, byte| {
        let sum = (hash << 4).wrapping_add(u32::from(byte));
        let high = sum & 0xf000_0000;
        (sum ^ high >> 24) & !high
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hash_is_the_system_v_one() {
        assert_eq!(hash(""), 0);
        assert_eq!(hash("printf"), 0x0779_05a6);
        assert_eq!(hash("exit"), 0x0006_cf04);
    }
}
