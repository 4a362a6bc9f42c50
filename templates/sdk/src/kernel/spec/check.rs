//! Checks that the expansion of `#[kernel(..)]` makes at compile time, of what a macro cannot see: the fields of a
//! struct, the values of an enum, and types under another name.

use sp_abi::tf_datatype::TF_DataType;

use super::Kind;

/// Returns true if each field is one of the op's attributes, with its type.
pub const fn has_attributes(fields: &[(&str, Kind)], attributes: &[(&str, Kind)]) -> bool {
    let mut field = 0;
    while field < fields.len() {
        let (name, kind) = fields[field];
        let (mut found, mut index) = (false, 0);
        while index < attributes.len() {
            let (known, known_kind) = attributes[index];
            found |= is_equal(name, known) && kind as u8 == known_kind as u8;
            index += 1;
        }
        if !found {
            return false;
        }
        field += 1;
    }
    true
}

/// Returns true if each variant has a value that the op allows.
pub const fn has_allowed_values(variants: &[&[&str]], allowed: &[&str]) -> bool {
    let mut variant = 0;
    while variant < variants.len() {
        let (mut found, mut value) = (false, 0);
        while value < variants[variant].len() {
            found |= contains(allowed, variants[variant][value]);
            value += 1;
        }
        if !found {
            return false;
        }
        variant += 1;
    }
    true
}

/// Returns true if `allowed` contains the type.
pub const fn is_allowed(dtype: TF_DataType, allowed: &[u32]) -> bool {
    let mut index = 0;
    while index < allowed.len() {
        if allowed[index] == dtype.0 {
            return true;
        }
        index += 1;
    }
    false
}

const fn contains(list: &[&str], text: &str) -> bool {
    let mut index = 0;
    while index < list.len() {
        if is_equal(list[index], text) {
            return true;
        }
        index += 1;
    }
    false
}

/// Returns true if the texts are equal.
pub const fn is_equal(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    let mut index = 0;
    while index < left.len() && index < right.len() && left[index] == right[index] {
        index += 1;
    }
    index == left.len() && index == right.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_match_by_name_and_type() {
        let op = [("epsilon", Kind::Float), ("is_training", Kind::Boolean)];
        assert!(has_attributes(&[("is_training", Kind::Boolean)], &op));
        for field in [
            ("is_training", Kind::Int),
            ("is_train", Kind::Boolean),
            ("epsilons", Kind::Float),
        ] {
            assert!(!has_attributes(&[field], &op), "{field:?}");
        }
    }

    #[test]
    fn each_variant_needs_an_allowed_value() {
        let allowed = ["NHWC", "NCHW"];
        assert!(has_allowed_values(
            &[&["NDHWC", "NHWC"], &["NCHW"]],
            &allowed
        ));
        assert!(!has_allowed_values(&[&["NHWC"], &["NCHV"]], &allowed));
    }
}
