//! Lines of a header with a caret under the name that a finding is about.

use sp_host::escape_control;
use sp_ir::Loc;

use crate::operand::Headers;

/// A declaration's first line in its header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quote {
    /// Counted from 1.
    pub line: u32,
    /// The line, with spaces for tabs and escaped control characters.
    pub text: String,
    /// Where the name stands in it, in characters, and how long it is.
    pub caret: Option<(usize, usize)>,
}

/// What stands at `loc`, if the header is at hand. Of `names`, the first that is there is pointed at.
pub fn quote<'a>(
    headers: &Headers,
    loc: &Loc,
    mut names: impl Iterator<Item = &'a str>,
) -> Option<Quote> {
    let text = headers.text(&loc.file)?;
    let index = usize::try_from(loc.line).ok()?.checked_sub(1)?;
    let text = text.lines().nth(index)?.replace('\t', "  ");
    // A header may have the escape codes of a terminal in a comment.
    let text = escape_control(text.trim_end());
    let caret = names.find_map(|name| {
        let at = find_word(&text, name)?;
        Some((text[..at].chars().count(), name.chars().count()))
    });
    Some(Quote {
        line: loc.line,
        text,
        caret,
    })
}

/// Where a whole word begins.
fn find_word(text: &str, word: &str) -> Option<usize> {
    let part_of_word = |one: char| one.is_ascii_alphanumeric() || one == '_';
    let stands_alone = |at: &usize| {
        let before = text[..*at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(part_of_word) && !after.is_some_and(part_of_word)
    };
    let mut places = text.match_indices(word).map(|(at, _)| at);
    places.find(stands_alone).filter(|_| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caret_stands_under_the_whole_name() {
        assert_eq!(
            find_word("  void (*mem_zero_all)(int mem_zero);", "mem_zero"),
            Some(27)
        );
        assert_eq!(find_word("  int memory;", "mem"), None);
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(
            folder.path().join("a.h"),
            "// \u{1b}[31mfirst\n\tvoid (*é)(int run);  \n",
        )
        .unwrap();
        let headers = Headers::at(folder.path().to_owned());
        let loc = |line| Loc {
            file: "a.h".into(),
            line,
        };
        let found = quote(&headers, &loc(2), ["size", "run"].into_iter()).unwrap();
        assert_eq!(found.text, "  void (*é)(int run);");
        assert_eq!(found.caret, Some((16, 3)));
        let found = quote(&headers, &loc(1), std::iter::empty()).unwrap();
        assert!(!found.text.contains('\u{1b}'), "{:?}", found.text);
        assert_eq!(quote(&headers, &loc(3), ["run"].into_iter()), None);
        assert_eq!(quote(&headers, &loc(0), ["run"].into_iter()), None);
    }
}
