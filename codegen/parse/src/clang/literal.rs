//! C literals: integers, and the values of strings.

/// Returns true for a decimal, octal or hexadecimal integer literal.
pub fn is_integer(literal: &str) -> bool {
    let digits = literal.trim_end_matches(['u', 'U', 'l', 'L']);
    let hex = digits
        .strip_prefix("0x")
        .or_else(|| digits.strip_prefix("0X"));
    match hex {
        Some(hex) => hex.chars().all(|digit| digit.is_ascii_hexdigit()),
        None => !digits.is_empty() && digits.chars().all(|digit| digit.is_ascii_digit()),
    }
}

/// Returns the value of adjacent string literals, or `None` if one of them is not a plain string literal or the value is
/// not UTF-8.
pub fn string_value<'a>(literals: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let mut bytes = Vec::new();
    for literal in literals {
        bytes.extend(string_bytes(literal)?);
    }
    String::from_utf8(bytes).ok()
}

/// Returns the bytes of a string literal without its NUL, or `None` if it is not a plain one.
pub fn string_bytes(literal: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let inside = literal.strip_prefix('"')?.strip_suffix('"')?;
    decode(inside, &mut bytes)?;
    Some(bytes)
}

/// Appends the text between the quotes, with its escape sequences resolved (C11, 6.4.4.4).
fn decode(text: &str, bytes: &mut Vec<u8>) -> Option<()> {
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        bytes.extend_from_slice(&rest.as_bytes()[..at]);
        rest = escape(&rest[at + 1..], bytes)?;
    }
    bytes.extend_from_slice(rest.as_bytes());
    Some(())
}

/// Appends the character of the escape sequence at the start of `text`, and returns the rest.
fn escape<'a>(text: &'a str, bytes: &mut Vec<u8>) -> Option<&'a str> {
    let simple = match text.chars().next()? {
        'a' => 7,
        'b' => 8,
        't' => b'\t',
        'n' => b'\n',
        'v' => 11,
        'f' => 12,
        'r' => b'\r',
        quoted @ ('\\' | '"' | '\'' | '?') => quoted as u8,
        'x' => return numeric(&text[1..], 16, usize::MAX, bytes),
        'u' => return character(&text[1..], 4, bytes),
        'U' => return character(&text[1..], 8, bytes),
        '0'..='7' => return numeric(text, 8, 3, bytes),
        _ => return None,
    };
    bytes.push(simple);
    Some(&text[1..])
}

fn digits(text: &str, radix: u32, max_length: usize) -> (&str, &str) {
    let count = text.chars().take_while(|digit| digit.is_digit(radix));
    let count = count.count();
    text.split_at(count.min(max_length))
}

fn numeric<'a>(
    text: &'a str,
    radix: u32,
    max_length: usize,
    bytes: &mut Vec<u8>,
) -> Option<&'a str> {
    let (number, rest) = digits(text, radix, max_length);
    bytes.push(u8::from_str_radix(number, radix).ok()?);
    Some(rest)
}

fn character<'a>(text: &'a str, length: usize, bytes: &mut Vec<u8>) -> Option<&'a str> {
    let (number, rest) = digits(text, 16, length);
    let code = u32::from_str_radix(number, 16).ok();
    let char = char::from_u32(code.filter(|_| number.len() == length)?)?;
    bytes.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
    Some(rest)
}

#[cfg(test)]
mod tests {
    use super::string_value;

    #[test]
    fn resolves_escape_sequences() {
        let cases = [
            (r#""plain""#, "plain"),
            (r#""a\nb\t\\\"\'\?""#, "a\nb\t\\\"'?"),
            (r#""\x41\102\0""#, "AB\0"),
            (r#""\1234""#, "S4"),
            (r#""\u00e9\U0001F600é""#, "é😀é"),
            (r#""\\""#, "\\"),
            (r#""""#, ""),
        ];
        for (spelled, value) in cases {
            assert_eq!(string_value([spelled]).as_deref(), Some(value), "{spelled}");
        }
        let expected = Some("one\u{0}1");
        assert_eq!(string_value([r#""one\0""#, r#""1""#]).as_deref(), expected);
    }

    #[test]
    fn rejects_literals_that_are_not_plain_utf8_strings() {
        for spelled in [
            r#"L"wide""#,
            r#""\q""#,
            r#""\xFF""#,
            r#""\x1FF""#,
            r#""\u12""#,
            r#"R"(raw)""#,
            "\"",
        ] {
            assert_eq!(string_value([spelled]), None, "{spelled}");
        }
    }
}
