//! Generated C: comments and literals end where the emitter ends them.

use super::edit::MARK;

/// Panics if `code` has [`MARK`] or the end of a comment outside of comments and literals.
pub fn check(path: &str, code: &str) {
    let code = without_texts(path, code);
    for text in [MARK, "*/", "/*"] {
        assert!(!code.contains(text), "{path} has {text:?} in its code");
    }
}

/// Returns the code without comments and without the contents of literals.
fn without_texts(path: &str, mut rest: &str) -> String {
    let mut code = String::new();
    while let Some(at) = rest.find(['"', '\'', '/']) {
        code += &rest[..at];
        let text = &rest[at..];
        rest = match text.as_bytes() {
            [b'/', b'*', ..] => {
                text[2..]
                    .split_once("*/")
                    .unwrap_or_else(|| panic!("{path}: a comment has no end"))
                    .1
            }
            [b'/', b'/', ..] => text.split_once('\n').map_or("", |(_, rest)| rest),
            [b'/', ..] => {
                code.push('/');
                &text[1..]
            }
            [quote, ..] => after_literal(path, &text[1..], char::from(*quote)),
            [] => "",
        };
        code.push(' ');
    }
    code + rest
}

fn after_literal<'a>(path: &str, text: &'a str, quote: char) -> &'a str {
    assert!(!text.contains("??/"), "{path} has a trigraph");
    let mut is_escaped = false;
    for (at, char) in text.char_indices() {
        assert!(char != '\n', "{path}: a literal has no end");
        match char {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if char == quote => return &text[at + 1..],
            _ => {}
        }
    }
    panic!("{path}: a literal has no end")
}
