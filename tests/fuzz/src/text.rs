//! Text on a terminal.

/// Returns true for control characters, and for those that change the direction of what follows.
pub fn is_unprintable(char: char) -> bool {
    let turns = matches!(char, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    char.is_control() || turns
}

/// Panics if `text` has a control character other than a newline.
pub fn check(what: &str, text: &str) {
    if let Some(at) = text.find(|it| is_unprintable(it) && it != '\n') {
        let around: String = text[..at].chars().rev().take(60).collect();
        let around: String = around.chars().rev().collect();
        panic!("{what}: {:?} after {around:?}", text[at..].chars().next());
    }
}

/// Returns `text` without the colours that sp-gen prints.
pub fn without_colours(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (codes, rest) = part.split_once('m').expect("a colour ends with m");
        assert!(
            codes.bytes().all(|it| it.is_ascii_digit() || it == b';'),
            "{codes:?} is no colour"
        );
        plain += rest;
    }
    plain
}
