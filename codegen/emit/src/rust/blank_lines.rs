//! Blank lines between items, which prettyplease does not print.

/// Adds blank lines between the items of `code`.
pub fn with_blank_lines(code: &str) -> String {
    let lines: Vec<&str> = code.lines().collect();
    let mut text = String::with_capacity(code.len() + code.len() / 16);
    for (index, line) in lines.iter().enumerate() {
        if index > 0 && needs_blank_line(lines[index - 1], line, lines.get(index + 1).copied()) {
            text.push('\n');
        }
        text.extend([line, "\n"]);
    }
    text
}

/// Returns true if a blank line belongs between `above` and `line`.
fn needs_blank_line(above: &str, line: &str, below: Option<&str>) -> bool {
    if above.is_empty() || line.is_empty() {
        return false;
    }
    if above.starts_with("//!") {
        return !line.starts_with("//!");
    }
    let starts = ["///", "#[", "impl ", "const "];
    let is_start = starts
        .iter()
        .any(|start| line.trim_start().starts_with(start));
    let has_long_doc = below.is_some_and(|it| it.trim_start().starts_with("///"));
    match above.chars().last() {
        Some('}') => is_start,
        Some(';') if above.ends_with("};") => is_start,
        // The hidden constant of an optional slot belongs to the method below.
        Some(';') if above.starts_with("    const ") => false,
        Some(';') if line.starts_with(' ') => is_start && (has_long_doc || line.contains("#[")),
        Some(';') => is_start || import_keyword(above) != import_keyword(line),
        _ => false,
    }
}

/// Returns the first words of a line of imports or modules. Lines with the same words form a block.
fn import_keyword(line: &str) -> &str {
    ["pub use ", "pub mod ", "use ", "mod "]
        .into_iter()
        .find(|start| line.starts_with(start))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separates_items_but_not_imports() {
        let code =
            "//! Doc.\nuse a::B;\nuse c::D;\n/// One.\nfn f() {\n    g();\n}\n/// Two.\nfn h();\n";
        let text = "//! Doc.\n\nuse a::B;\nuse c::D;\n\n/// One.\nfn f() {\n    g();\n}\n\n/// Two.\nfn h();\n";
        assert_eq!(with_blank_lines(code), text);
        assert_eq!(with_blank_lines(text), text);
    }

    #[test]
    fn does_not_separate_members_with_one_line_docs() {
        let code =
            "impl A {\n    /// One.\n    const B: u8 = 1;\n    /// Two.\n    const C: u8 = 2;\n}\n";
        assert_eq!(with_blank_lines(code), code);
    }
}
