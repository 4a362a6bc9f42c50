//! Finds the comments in the text of a header.
//!
//! Only strings and character literals, which may contain `//` or `/*`, are distinguished from other code. Clang's list
//! of tokens would contain the comments too, but takes longer than the parse.

/// A comment in a header. Lines and columns count from 1.
#[derive(Debug, PartialEq, Eq)]
pub struct SourceComment<'t> {
    /// The text with its slashes and stars.
    pub text: &'t str,
    /// The first line.
    pub first: u32,
    /// The last line.
    pub last: u32,
    /// The column of its first character.
    pub column: u32,
    /// True if code precedes it on its first line.
    pub follows_code: bool,
}

/// Returns the comments of `text` in order.
pub fn find_comments(text: &str) -> Vec<SourceComment<'_>> {
    let mut found = Vec::new();
    let (mut at, mut line, mut line_start, mut has_code) = (0, 1, 0, false);
    while at < text.len() {
        let rest = &text[at..];
        let plain = plain_length(
            rest,
            at > line_start && is_word_byte(text.as_bytes()[at - 1]),
        );
        if plain > 0 {
            has_code |= !rest[..plain].trim_ascii().is_empty();
            at += plain;
            continue;
        }
        if rest.starts_with('\n') {
            (at, line, line_start, has_code) = (at + 1, line + 1, at + 1, false);
            continue;
        }
        let (length, is_comment) = token_length(rest);
        let token = &rest[..length];
        let lines = token.matches('\n').count() as u32;
        if is_comment {
            found.push(SourceComment {
                text: token,
                first: line,
                last: line + lines,
                column: (at - line_start) as u32 + 1,
                follows_code: has_code,
            });
        }
        // Code before a comment that spans lines is on another line than the text after it.
        has_code = !is_comment || (has_code && lines == 0);
        if let Some(end) = token.rfind('\n') {
            (line, line_start) = (line + lines, at + end + 1);
        }
        at += length;
    }
    found
}

/// Returns the length of the comment, literal or slash at the start of `rest`, and true if it is a comment.
fn token_length(rest: &str) -> (usize, bool) {
    match rest.as_bytes() {
        [b'/', b'/', ..] => (line_comment_length(rest), true),
        [b'/', b'*', ..] => (rest[2..].find("*/").map_or(rest.len(), |end| end + 4), true),
        [b'/', ..] => (1, false),
        quote => (quoted_length(quote), false),
    }
}

/// Returns the length of the text before the next line break, slash or quote. A `'` within a number, as in `1'000`, is
/// not a quote. `in_word` is true if a word precedes `rest`.
fn plain_length(rest: &str, in_word: bool) -> usize {
    let is_special = |byte: &u8| matches!(byte, b'\n' | b'/' | b'"' | b'\'');
    let bytes = rest.as_bytes();
    let mut end = 0;
    loop {
        end += bytes[end..]
            .iter()
            .position(is_special)
            .unwrap_or(bytes.len() - end);
        let follows_word = if end == 0 {
            in_word
        } else {
            is_word_byte(bytes[end - 1])
        };
        match bytes.get(end) {
            Some(b'\'') if follows_word => end += 1,
            _ => return end,
        }
    }
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Returns the length of a line comment, with the lines that a backslash joins to it.
fn line_comment_length(rest: &str) -> usize {
    let mut end = 0;
    loop {
        end += rest[end..].find('\n').unwrap_or(rest.len() - end);
        if end == rest.len() || !rest[..end].trim_end_matches('\r').ends_with('\\') {
            return rest[..end].trim_end_matches('\r').len();
        }
        end += 1;
    }
}

/// Returns the length of a string or character literal, which ends at the end of the line at the latest.
fn quoted_length(rest: &[u8]) -> usize {
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
        let found = find_comments(text).into_iter();
        found
            .map(|it| (it.text, it.first, it.last, it.column, it.follows_code))
            .collect()
    }

    #[test]
    fn counts_lines_and_columns() {
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
    fn ignores_comment_marks_in_strings_and_characters() {
        let text = "a(\"// no\", '\"', \"\\\"//\") // yes\nb = 1'000; // too";
        let found: Vec<&str> = texts(text).into_iter().map(|comment| comment.0).collect();
        assert_eq!(found, ["// yes", "// too"]);
    }

    #[test]
    fn unterminated_tokens_end_with_the_text() {
        for text in ["/*", "/* é", "\"", "'\\", "//", "// \\\n", "/", "é // é"] {
            for comment in find_comments(text) {
                assert!(text.contains(comment.text), "{text}");
            }
        }
        assert_eq!(texts("// a \\\n b\nc").first().unwrap().0, "// a \\\n b");
    }
}
