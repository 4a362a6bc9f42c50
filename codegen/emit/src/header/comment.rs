//! Comments of the C headers: paragraphs, wrapped, as `/** ... */`.

/// Columns of a generated header.
pub const WIDTH: usize = 100;

/// The comment, `indent` blanks in; nothing where nothing is said.
pub fn doc(indent: usize, paragraphs: &[String]) -> String {
    let blank = " ".repeat(indent);
    let said: Vec<String> = paragraphs
        .iter()
        .flat_map(|it| it.split("\n\n"))
        .map(|it| it.trim().replace("*/", "* /"))
        .filter(|it| !it.is_empty())
        .collect();
    let wrap = |text: &String| {
        let lines = textwrap::wrap(text, WIDTH - indent - 7);
        lines.into_iter().map(|line| format!(" {line}")).collect()
    };
    let blocks: Vec<Vec<String>> = said.iter().map(wrap).collect();
    let lines = blocks.join(&String::new());
    match lines.is_empty() {
        true => String::new(),
        false => format!("{blank}/**{} */\n", lines.join(&format!("\n{blank} *"))),
    }
}

/// A sentence on the releases that have something, from their words; nothing where all have it that
/// load plugins.
pub fn since(releases: &str) -> String {
    match releases {
        "" | "2.4 on" | "2.5 on" => String::new(),
        run if run.ends_with(" on") && !run.contains(',') => format!("From {run}."),
        others => format!("In {others}."),
    }
}

/// A list in brackets between `head` and `tail`, with a line for each item where it gets long.
pub fn listed(head: &str, items: &[String], tail: &str) -> String {
    let whole = format!("{head}({}){tail}", items.join(", "));
    let indent = head.len() - head.trim_start().len();
    let next = format!(",\n{}", " ".repeat(indent + 4));
    match whole.chars().count() <= WIDTH {
        true => whole,
        false => format!("{head}({}{}){tail}", &next[1..], items.join(&next)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_stand_apart() {
        let said = ["One.".to_owned(), "Two */ three.\n\nFour.".to_owned()];
        let text = "  /** One.\n   *\n   * Two * / three.\n   *\n   * Four. */\n";
        assert_eq!(doc(2, &said), text);
        assert_eq!(doc(0, &[]), "");
    }

    #[test]
    fn long_lines_are_wrapped() {
        let text = doc(2, &["word ".repeat(60)]);
        assert!(text.lines().count() > 2);
        assert!(text.lines().all(|line| line.len() <= WIDTH), "{text}");
    }
}
