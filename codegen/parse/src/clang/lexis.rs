//! The comments of a header's text, and whether code stands before them.
//!
//! Only what hides a comment is told apart: strings, characters and the rest. Clang could list the
//! tokens too, but takes longer for it than for the parse.

/// A comment with its slashes and stars. Lines and columns count from 1.
#[derive(Debug, PartialEq, Eq)]
pub struct Remark<'t> {
    /// All of it.
    pub text: &'t str,
    /// Its first line.
    pub first: u32,
    /// Its last line.
    pub last: u32,
    /// The column it starts in.
    pub column: u32,
    /// Whether code stands before it on its first line.
    pub behind: bool,
}

/// The comments in order.
pub fn remarks(text: &str) -> Vec<Remark<'_>> {
    let mut found = Vec::new();
    let (mut at, mut line, mut line_start, mut code) = (0, 1, 0, false);
    while at < text.len() {
        let rest = &text[at..];
        let plain = plain(rest, at > line_start && is_word(text.as_bytes()[at - 1]));
        if plain > 0 {
            code |= !rest[..plain].trim_ascii().is_empty();
            at += plain;
            continue;
        }
        if rest.starts_with('\n') {
            (at, line, line_start, code) = (at + 1, line + 1, at + 1, false);
            continue;
        }
        let (length, is_comment) = match rest.as_bytes() {
            [b'/', b'/', ..] => (line_comment(rest), true),
            [b'/', b'*', ..] => (rest[2..].find("*/").map_or(rest.len(), |end| end + 4), true),
            [b'/', ..] => (1, false),
            quote => (quoted(quote), false),
        };
        let inside = &rest[..length];
        let lines = inside.matches('\n').count() as u32;
        if is_comment {
            found.push(Remark {
                text: inside,
                first: line,
                last: line + lines,
                column: (at - line_start) as u32 + 1,
                behind: code,
            });
        }
        // What follows a comment that spans lines stands behind nothing.
        code = !is_comment || (code && lines == 0);
        if let Some(end) = inside.rfind('\n') {
            (line, line_start) = (line + lines, at + end + 1);
        }
        at += length;
    }
    found
}

/// How far nothing begins that matters here. A `'` in a number, as in `1'000`, does not.
fn plain(rest: &str, in_word: bool) -> usize {
    let matters = |one: &u8| matches!(one, b'\n' | b'/' | b'"' | b'\'');
    let bytes = rest.as_bytes();
    let mut end = 0;
    loop {
        end += bytes[end..]
            .iter()
            .position(matters)
            .unwrap_or(bytes.len() - end);
        let before = if end == 0 {
            in_word
        } else {
            is_word(bytes[end - 1])
        };
        match bytes.get(end) {
            Some(b'\'') if before => end += 1,
            _ => return end,
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// To the end of the line, or of the last one that a backslash joins to it.
fn line_comment(rest: &str) -> usize {
    let mut end = 0;
    loop {
        end += rest[end..].find('\n').unwrap_or(rest.len() - end);
        if end == rest.len() || !rest[..end].trim_end_matches('\r').ends_with('\\') {
            return rest[..end].trim_end_matches('\r').len();
        }
        end += 1;
    }
}

/// A string or character, to its end or the line's.
fn quoted(rest: &[u8]) -> usize {
    let mut at = 1;
    while let Some(&byte) = rest.get(at) {
        match byte {
            b'\\' => at += 2,
            b'\n' => return at,
            byte if byte == rest[0] => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<(&str, u32, u32, u32, bool)> {
        let found = remarks(text).into_iter();
        found
            .map(|one| (one.text, one.first, one.last, one.column, one.behind))
            .collect()
    }

    #[test]
    fn places_are_counted() {
        let text = "// a\nint x;  // b\n\n/* c\n d */ int y; /* e */\n";
        let expected = [
            ("// a", 1, 1, 1, false),
            ("// b", 2, 2, 9, true),
            ("/* c\n d */", 4, 5, 1, false),
            ("/* e */", 5, 5, 14, true),
        ];
        assert_eq!(texts(text), expected);
    }

    #[test]
    fn strings_and_characters_hide_nothing_but_themselves() {
        let text = "a(\"// no\", '\"', \"\\\"//\") // yes\nb = 1'000; // too";
        let found: Vec<&str> = texts(text).into_iter().map(|one| one.0).collect();
        assert_eq!(found, ["// yes", "// too"]);
    }

    #[test]
    fn what_never_ends_ends_with_the_text() {
        for text in ["/*", "/* é", "\"", "'\\", "//", "// \\\n", "/", "é // é"] {
            for one in remarks(text) {
                assert!(text.contains(one.text), "{text}");
            }
        }
        assert_eq!(texts("// a \\\n b\nc").first().unwrap().0, "// a \\\n b");
    }
}
