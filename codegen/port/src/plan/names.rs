//! Names in Rust.

use std::collections::BTreeSet;

/// Names that are used once.
pub struct UniqueNames(BTreeSet<String>);

impl UniqueNames {
    /// Returns a set that contains `reserved`.
    pub fn new<const N: usize>(reserved: [&str; N]) -> Self {
        Self(reserved.map(str::to_owned).into())
    }

    /// Returns `name`, with a number if it was returned before, and with `_op` if it is a keyword.
    pub fn unique(&mut self, name: &str) -> String {
        let name = match is_identifier(name) {
            true => name.to_owned(),
            false => format!("{name}_op"),
        };
        let numbered = (2_usize..).map(|number| format!("{name}_{number}"));
        let mut names = std::iter::once(name.clone()).chain(numbered);
        let found = names.find(|it| !self.0.contains(it)).unwrap_or(name);
        self.0.insert(found.clone());
        found
    }
}

/// Returns true for an identifier that is no keyword.
pub fn is_identifier(name: &str) -> bool {
    name != "gen" && name.is_ascii() && syn::parse_str::<syn::Ident>(name).is_ok()
}

/// Returns true for a name in lower case that does not begin with an underscore.
pub fn is_snake_case(name: &str) -> bool {
    let is_part = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '_';
    !name.starts_with('_') && name.chars().all(is_part)
}

/// Returns `FusedBatchNormV3` as `fused_batch_norm_v3`, without underscores at the beginning.
pub fn snake_case(name: &str) -> String {
    let characters: Vec<char> = name.trim_start_matches('_').chars().collect();
    let mut text = String::new();
    for (index, character) in characters.iter().enumerate() {
        let previous = index.checked_sub(1).map(|it| characters[it]);
        let next_is_lower = characters
            .get(index + 1)
            .is_some_and(char::is_ascii_lowercase);
        let is_start = character.is_ascii_uppercase()
            && previous.is_some_and(|it| it.is_ascii_lowercase() || it != '_' && next_is_lower);
        if is_start {
            text.push('_');
        }
        match character.is_ascii_alphanumeric() {
            true => text.push(character.to_ascii_lowercase()),
            false => text.push('_'),
        }
    }
    text
}

/// Returns `out_type` as `OutType`. A name that begins with a capital letter keeps its other letters.
pub fn camel_case(name: &str) -> String {
    let words = name.split('_').filter(|it| !it.is_empty());
    let capitalize = |word: &str| {
        let (first, rest) = word.split_at(1);
        first.to_ascii_uppercase() + rest
    };
    words.map(capitalize).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_ops_become_functions() {
        for (name, expected) in [
            ("Relu", "relu"),
            ("MatMul", "mat_mul"),
            ("FusedBatchNormV3", "fused_batch_norm_v3"),
            ("_FusedConv2D", "fused_conv2d"),
            ("TopKV2", "top_kv2"),
            ("LRNGrad", "lrn_grad"),
            ("A_b", "a_b"),
        ] {
            assert_eq!(snake_case(name), expected);
        }
        assert_eq!(camel_case("out_type"), "OutType");
        assert_eq!(camel_case("Tidx"), "Tidx");
    }

    #[test]
    fn names_are_unique_and_no_keywords() {
        let mut names = UniqueNames::new(["table"]);
        let found = ["relu", "relu", "relu", "where", "const", "table"].map(|it| names.unique(it));
        assert_eq!(
            found,
            [
                "relu", "relu_2", "relu_3", "where_op", "const_op", "table_2"
            ]
        );
    }
}
