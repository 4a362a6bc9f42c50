//! Fingerprints of strings up to 32 bytes: the function `Fingerprint64` of FarmHash, by which TensorFlow selects buckets.

const K0: u64 = 0xc3a5_c85c_97cb_3127;
const K1: u64 = 0xb492_b66f_be98_f273;
const K2: u64 = 0x9ae1_6a3b_2f90_404f;

/// Returns the fingerprint of a string of at most 32 bytes.
///
/// # Panics
/// Panics if the string is longer.
pub fn fingerprint(text: &[u8]) -> u64 {
    match text.len() {
        0 => K2,
        1..=3 => up_to_3(text),
        4..=7 => up_to_7(text),
        8..=16 => up_to_16(text),
        17..=32 => up_to_32(text),
        long => panic!("a string of {long} bytes has no short fingerprint"),
    }
}

/// Returns the fingerprint of a number's decimal digits.
pub fn fingerprint_of_decimal(number: i128) -> u64 {
    // The longest number of 64 bits has 20 characters.
    let (mut text, mut start) = ([0; 20], 20);
    let mut rest = number.unsigned_abs();
    loop {
        start -= 1;
        text[start] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if number < 0 {
        start -= 1;
        text[start] = b'-';
    }
    fingerprint(&text[start..])
}

fn up_to_3(text: &[u8]) -> u64 {
    let len = text.len();
    let [first, middle, last] = [text[0], text[len >> 1], text[len - 1]].map(u64::from);
    let y = first + (middle << 8);
    let z = len as u64 + (last << 2);
    mix(y.wrapping_mul(K2) ^ z.wrapping_mul(K0)).wrapping_mul(K2)
}

fn up_to_7(text: &[u8]) -> u64 {
    let len = text.len() as u64;
    let [first, last] = [word32(text, 0), word32(text, text.len() - 4)];
    combine(len.wrapping_add(first << 3), last, factor(len))
}

fn up_to_16(text: &[u8]) -> u64 {
    let factor = factor(text.len() as u64);
    let a = word(text, 0).wrapping_add(K2);
    let b = word(text, text.len() - 8);
    let c = b.rotate_right(37).wrapping_mul(factor).wrapping_add(a);
    let d = a.rotate_right(25).wrapping_add(b).wrapping_mul(factor);
    combine(c, d, factor)
}

fn up_to_32(text: &[u8]) -> u64 {
    let factor = factor(text.len() as u64);
    let a = word(text, 0).wrapping_mul(K1);
    let b = word(text, 8);
    let c = word(text, text.len() - 8).wrapping_mul(factor);
    let d = word(text, text.len() - 16).wrapping_mul(K2);
    let u = a.wrapping_add(b).rotate_right(43);
    let u = u.wrapping_add(c.rotate_right(30)).wrapping_add(d);
    let v = a.wrapping_add(b.wrapping_add(K2).rotate_right(18));
    combine(u, v.wrapping_add(c), factor)
}

fn combine(u: u64, v: u64, factor: u64) -> u64 {
    let a = mix((u ^ v).wrapping_mul(factor));
    mix((v ^ a).wrapping_mul(factor)).wrapping_mul(factor)
}

fn mix(x: u64) -> u64 {
    x ^ (x >> 47)
}

fn factor(len: u64) -> u64 {
    K2.wrapping_add(2 * len)
}

fn word(text: &[u8], start: usize) -> u64 {
    u64::from_le_bytes(text[start..start + 8].try_into().expect("8 bytes"))
}

fn word32(text: &[u8], start: usize) -> u64 {
    u32::from_le_bytes(text[start..start + 4].try_into().expect("4 bytes")).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprints_are_those_of_tensorflow() {
        let expected: [(&str, u64); 11] = [
            ("", 0x9ae1_6a3b_2f90_404f),
            ("7", 0x8831_601f_3004_3498),
            ("-7", 0x8230_199e_3cd9_154e),
            ("123", 0xd347_1144_c3ea_c34b),
            ("4567", 0x2d53_651b_204a_7ea2),
            ("-123456", 0x558d_fcaf_5e5b_a5b0),
            ("12345678", 0x2f99_d266_4a0f_b6ea),
            ("-123456789012345", 0xbd3c_38d6_0597_4e75),
            ("1234567890123456", 0xef3d_9afd_2277_8424),
            ("12345678901234567", 0x847e_b5a9_d521_31b6),
            ("-9223372036854775808", 0x14b9_bc6f_6d28_37e0),
        ];
        for (text, fingerprint_of_text) in expected {
            assert_eq!(fingerprint(text.as_bytes()), fingerprint_of_text, "{text}");
        }
    }

    #[test]
    fn digits_of_number_are_its_text() {
        let numbers = [
            0,
            7,
            -7,
            42,
            -128,
            999_999,
            i64::MIN.into(),
            u64::MAX.into(),
        ];
        for number in numbers {
            let text = number.to_string();
            assert_eq!(
                fingerprint_of_decimal(number),
                fingerprint(text.as_bytes()),
                "{text}"
            );
        }
    }
}
