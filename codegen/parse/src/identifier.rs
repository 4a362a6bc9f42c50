//! Identifiers in the text of headers and comments.

/// Returns true for a character of an identifier.
pub fn is_identifier_char(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// Returns the identifier at the start of `text`, which is empty if there is none, and the rest.
pub fn split_identifier(text: &str) -> (&str, &str) {
    let end = text.find(|character| !is_identifier_char(character));
    text.split_at(end.unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::split_identifier;

    #[test]
    fn splits_identifier_from_rest() {
        assert_eq!(split_identifier("a_1 b"), ("a_1", " b"));
        assert_eq!(split_identifier("+a"), ("", "+a"));
        assert_eq!(split_identifier("ab"), ("ab", ""));
    }
}
