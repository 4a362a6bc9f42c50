//! Text from a plugin, made safe to print: on a terminal, and in JSON that another program prints.

/// The most bytes of text that a child reports.
///
/// A socket takes a report of this size at once, so that reports of several threads do not mix.
pub(crate) const TEXT_LIMIT: usize = 16 << 10;

/// Returns `text` without characters that control a terminal or the direction of text: these as
/// `\u{1b}`, newlines as ` / `.
pub fn escape_control(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' => escaped.push_str(" / "),
            _ if is_control(character) => escaped.extend(character.escape_unicode()),
            _ => escaped.push(character),
        }
    }
    escaped
}

/// C0 and C1 controls, line separators, and the marks that reorder what is displayed.
fn is_control(character: char) -> bool {
    let reorders = matches!(
        character,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    );
    character.is_control() || reorders
}

/// Returns `text`, cut to about `limit` bytes, with the number of bytes that were cut.
pub(crate) fn clip(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let end = (0..=limit).rev().find(|end| text.is_char_boundary(*end));
    let head = &text[..end.unwrap_or(0)];
    format!("{head} ... ({} more bytes)", text.len() - head.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_controls_and_keeps_other_text() {
        assert_eq!(escape_control("\x1b[31mred\x07"), "\\u{1b}[31mred\\u{7}");
        assert_eq!(escape_control("\u{9b}2J\u{202e}"), "\\u{9b}2J\\u{202e}");
        assert_eq!(escape_control("one\ntwo"), "one / two");
        assert_eq!(escape_control("größe 漢字"), "größe 漢字");
    }

    #[test]
    fn clips_at_a_character_and_counts_the_rest() {
        assert_eq!(clip("short", 5), "short");
        assert_eq!(clip("aé漢", 4), "aé ... (3 more bytes)");
    }
}
