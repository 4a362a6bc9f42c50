//! Blank lines between items: prettyplease prints none.

/// `code` with a blank line where a person would leave one.
pub fn spaced(code: &str) -> String {
    let lines: Vec<&str> = code.lines().collect();
    let mut text = String::with_capacity(code.len() + code.len() / 16);
    for (index, line) in lines.iter().enumerate() {
        if index > 0 && apart(lines[index - 1], line, lines.get(index + 1).copied()) {
            text.push('\n');
        }
        text.extend([line, "\n"]);
    }
    text
}

/// Whether a blank line belongs between `above` and `line`.
fn apart(above: &str, line: &str, below: Option<&str>) -> bool {
    if above.is_empty() || line.is_empty() {
        return false;
    }
    if above.starts_with("//!") {
        return !line.starts_with("//!");
    }
    let opens = opens_item(line.trim_start());
    let long_doc = below.is_some_and(|it| it.trim_start().starts_with("///"));
    match above.chars().last() {
        Some('}') => opens,
        Some(';') if above.ends_with("};") => opens,
        // The hidden constant of an optional slot belongs to the method below.
        Some(';') if above.starts_with("    const ") => false,
        Some(';') if line.starts_with(' ') => opens && (long_doc || line.contains("#[")),
        Some(';') => opens || group(above) != group(line),
        _ => false,
    }
}

fn opens_item(line: &str) -> bool {
    ["///", "#[", "impl ", "const "]
        .iter()
        .any(|start| line.starts_with(start))
}

/// Lines such as imports stand together by what they begin with.
fn group(line: &str) -> &str {
    ["pub use ", "pub mod ", "use ", "mod "]
        .into_iter()
        .find(|start| line.starts_with(start))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_stand_apart_and_imports_together() {
        let code =
            "//! Doc.\nuse a::B;\nuse c::D;\n/// One.\nfn f() {\n    g();\n}\n/// Two.\nfn h();\n";
        let text = "//! Doc.\n\nuse a::B;\nuse c::D;\n\n/// One.\nfn f() {\n    g();\n}\n\n/// Two.\nfn h();\n";
        assert_eq!(spaced(code), text);
        assert_eq!(spaced(text), text);
    }

    #[test]
    fn one_line_docs_stay_close_inside_an_item() {
        let code =
            "impl A {\n    /// One.\n    const B: u8 = 1;\n    /// Two.\n    const C: u8 = 2;\n}\n";
        assert_eq!(spaced(code), code);
    }
}
