//! The tokens in which two declarations differ.

use similar::{ChangeTag, TextDiff};

/// A part of a declaration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextPart {
    /// Its text.
    pub text: String,
    /// True if the other declaration does not have it.
    pub differs: bool,
}

/// Divides both declarations into parts that differ and parts that do not.
pub fn compare(old: &str, new: &str) -> (Vec<TextPart>, Vec<TextPart>) {
    let (before, after) = (tokens(old), tokens(new));
    let diff = TextDiff::from_slices(&before, &after);
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for change in diff.iter_all_changes() {
        let text = change.value();
        if change.tag() != ChangeTag::Insert {
            push(&mut left, text, change.tag() == ChangeTag::Delete);
        }
        if change.tag() != ChangeTag::Delete {
            push(&mut right, text, change.tag() == ChangeTag::Insert);
        }
    }
    (left, right)
}

/// Returns a declaration as one part that does not differ.
pub fn whole(text: &str) -> Vec<TextPart> {
    vec![TextPart {
        text: text.to_owned(),
        differs: false,
    }]
}

fn push(parts: &mut Vec<TextPart>, text: &str, differs: bool) {
    match parts.last_mut() {
        Some(last) if last.differs == differs => last.text.push_str(text),
        _ => parts.push(TextPart {
            text: text.to_owned(),
            differs,
        }),
    }
}

/// Splits C into words, blanks, and single punctuation characters.
fn tokens(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_same_class = |c: char| class(c) == class(first);
        let end = match class(first) {
            CharClass::Punctuation => first.len_utf8(),
            _ => rest.find(|c| !is_same_class(c)).unwrap_or(rest.len()),
        };
        let (token, others) = rest.split_at(end);
        found.push(token);
        rest = others;
    }
    found
}

#[derive(PartialEq, Eq)]
enum CharClass {
    Word,
    Blank,
    Punctuation,
}

fn class(c: char) -> CharClass {
    match c {
        _ if c.is_alphanumeric() || c == '_' => CharClass::Word,
        _ if c.is_whitespace() => CharClass::Blank,
        _ => CharClass::Punctuation,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn differing(parts: &[TextPart]) -> Vec<&str> {
        let differing = parts.iter().filter(|part| part.differs);
        differing.map(|part| part.text.trim()).collect()
    }

    #[test]
    fn marks_tokens_that_only_one_declaration_has() {
        let (old, new) = ("f(int64_t* dims)", "f(const int64_t* dims, bool on)");
        let (left, right) = compare(old, new);
        assert_eq!(differing(&left), [""; 0]);
        assert_eq!(differing(&right), ["const", ", bool on"]);
        let text = |parts: &[TextPart]| parts.iter().map(|part| &*part.text).collect::<String>();
        assert_eq!((text(&left), text(&right)), (old.into(), new.into()));
    }
}
