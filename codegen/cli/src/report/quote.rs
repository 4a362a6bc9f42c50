//! Lines of a header with a caret under the name that a finding concerns.

use sp_host::escape_control;
use sp_ir::Loc;

use crate::operand::QuotedHeaders;

/// The first line of a declaration in its header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quote {
    /// The line number; the first line is 1.
    pub line: u32,
    /// The line, with tabs replaced by spaces and control characters escaped.
    pub text: String,
    /// The position and the length of the name, in characters.
    pub caret: Option<(usize, usize)>,
}

/// Returns the line at `loc`, or `None` if the header is not available. The caret is under the first of `names` that the
/// line contains.
pub fn quote<'a>(
    headers: &QuotedHeaders,
    loc: &Loc,
    mut names: impl Iterator<Item = &'a str>,
) -> Option<Quote> {
    let text = headers.text(&loc.file)?;
    let index = usize::try_from(loc.line).ok()?.checked_sub(1)?;
    let text = text.line(index)?.replace('\t', "  ");
    // A header may have the escape codes of a terminal in a comment.
    let text = escape_control(text.trim_end());
    let caret = names.find_map(|name| {
        let start = find_word(&text, name)?;
        Some((text[..start].chars().count(), name.chars().count()))
    });
    Some(Quote {
        line: loc.line,
        text,
        caret,
    })
}

/// Returns the byte index of a whole word.
fn find_word(text: &str, word: &str) -> Option<usize> {
    let is_word_char = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_whole_word = |start: &usize| {
        let before = text[..*start].chars().next_back();
        let after = text[start + word.len()..].chars().next();
        !before.is_some_and(is_word_char) && !after.is_some_and(is_word_char)
    };
    let mut matches = text.match_indices(word).map(|(start, _)| start);
    matches.find(is_whole_word).filter(|_| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_of_a_large_header_is_quoted_in_linear_time() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.h"), "int run;\n".repeat(100_000)).unwrap();
        let headers = QuotedHeaders::in_folder(folder.path().to_owned());
        let start = std::time::Instant::now();
        for line in 1..=100_000 {
            let found = quote(&headers, &Loc::new("a.h", line), ["run"].into_iter());
            assert_eq!(found.unwrap().caret, Some((4, 3)));
        }
        assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
    }

    #[test]
    fn caret_is_under_whole_word() {
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
        let headers = QuotedHeaders::in_folder(folder.path().to_owned());
        let loc = |line| Loc::new("a.h", line);
        let found = quote(&headers, &loc(2), ["size", "run"].into_iter()).unwrap();
        assert_eq!(found.text, "  void (*é)(int run);");
        assert_eq!(found.caret, Some((16, 3)));
        let found = quote(&headers, &loc(1), std::iter::empty()).unwrap();
        assert!(!found.text.contains('\u{1b}'), "{:?}", found.text);
        assert_eq!(quote(&headers, &loc(3), ["run"].into_iter()), None);
        assert_eq!(quote(&headers, &loc(0), ["run"].into_iter()), None);
    }
}
