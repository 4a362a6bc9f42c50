//! Comments and line breaks of the C headers.

/// Columns of a generated header.
pub const WIDTH: usize = 100;

/// Returns the paragraphs as a wrapped `/** ... */`, indented by `indent` columns; empty if they are.
pub fn doc(indent: usize, paragraphs: &[String]) -> String {
    let blank = " ".repeat(indent);
    let paragraphs = paragraphs.iter().flat_map(|it| it.split("\n\n"));
    let paragraphs = paragraphs.map(|it| it.trim().replace("*/", "* /"));
    let paragraphs: Vec<String> = paragraphs.filter(|it| !it.is_empty()).collect();
    let wrap = |text: &String| {
        let lines = textwrap::wrap(text, WIDTH - indent - 7);
        lines.into_iter().map(|line| format!(" {line}")).collect()
    };
    let blocks: Vec<Vec<String>> = paragraphs.iter().map(wrap).collect();
    let lines = blocks.join(&String::new());
    match lines.is_empty() {
        true => String::new(),
        false => format!("{blank}/**{} */\n", lines.join(&format!("\n{blank} *"))),
    }
}

/// Returns a sentence about the releases that have an item; empty if all releases that load plugins have it.
pub fn since(releases: &str) -> String {
    match releases {
        "" | "2.4 on" | "2.5 on" => String::new(),
        range if range.ends_with(" on") && !range.contains(',') => {
            format!("Available from {range}.")
        }
        other => format!("Available in {other}."),
    }
}

/// Prints a list in parentheses between `head` and `tail`, with a line for each item if it is too wide.
pub fn call(head: &str, items: &[String], tail: &str) -> String {
    let line = format!("{head}({}){tail}", items.join(", "));
    let indent = head.len() - head.trim_start().len();
    let separator = format!(",\n{}", " ".repeat(indent + 4));
    match line.chars().count() <= WIDTH {
        true => line,
        false => format!(
            "{head}({}{}){tail}",
            &separator[1..],
            items.join(&separator)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separates_paragraphs_by_an_empty_line() {
        let paragraphs = ["One.".to_owned(), "Two */ three.\n\nFour.".to_owned()];
        let text = "  /** One.\n   *\n   * Two * / three.\n   *\n   * Four. */\n";
        assert_eq!(doc(2, &paragraphs), text);
        assert_eq!(doc(0, &[]), "");
    }

    #[test]
    fn wraps_long_lines() {
        let text = doc(2, &["word ".repeat(60)]);
        assert!(text.lines().count() > 2);
        assert!(text.lines().all(|line| line.len() <= WIDTH), "{text}");
    }
}
