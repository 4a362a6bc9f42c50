//! Which tokens of a declaration differ from those of another.

use similar::{ChangeTag, TextDiff};

/// A part of a declaration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Its text.
    pub text: String,
    /// True if the other declaration does not have it.
    pub differs: bool,
}

/// Returns both declarations in parts; a part ends where what differs begins or ends.
pub fn compare(old: &str, new: &str) -> (Vec<Part>, Vec<Part>) {
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

/// Returns a declaration in one part, which differs from nothing.
pub fn whole(text: &str) -> Vec<Part> {
    vec![Part {
        text: text.to_owned(),
        differs: false,
    }]
}

fn push(parts: &mut Vec<Part>, text: &str, differs: bool) {
    match parts.last_mut() {
        Some(last) if last.differs == differs => last.text.push_str(text),
        _ => parts.push(Part {
            text: text.to_owned(),
            differs,
        }),
    }
}

/// Splits C into names with numbers, blanks, and single signs.
fn tokens(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_same = |c: char| class(c) == class(first);
        let end = match class(first) {
            Class::Sign => first.len_utf8(),
            _ => rest.find(|c| !is_same(c)).unwrap_or(rest.len()),
        };
        let (token, others) = rest.split_at(end);
        found.push(token);
        rest = others;
    }
    found
}

#[derive(PartialEq, Eq)]
enum Class {
    Word,
    Blank,
    Sign,
}

fn class(c: char) -> Class {
    match c {
        _ if c.is_alphanumeric() || c == '_' => Class::Word,
        _ if c.is_whitespace() => Class::Blank,
        _ => Class::Sign,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn differing(parts: &[Part]) -> Vec<&str> {
        let differing = parts.iter().filter(|part| part.differs);
        differing.map(|part| part.text.trim()).collect()
    }

    #[test]
    fn marks_tokens_that_the_other_lacks() {
        let (old, new) = ("f(int64_t* dims)", "f(const int64_t* dims, bool on)");
        let (left, right) = compare(old, new);
        assert_eq!(differing(&left), [""; 0]);
        assert_eq!(differing(&right), ["const", ", bool on"]);
        let text = |parts: &[Part]| parts.iter().map(|part| &*part.text).collect::<String>();
        assert_eq!((text(&left), text(&right)), (old.into(), new.into()));
    }
}
