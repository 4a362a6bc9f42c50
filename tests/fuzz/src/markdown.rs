//! Markdown: no tag, link or image from a snapshot's text, and rows as wide as their table.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::html::check_fragment;

/// Tags of the template.
const TAGS: [&str; 3] = ["details", "summary", "code"];

/// Panics if `page` has markup that the template does not have.
pub fn check(page: &str) {
    let (mut html, mut width) = (String::new(), 0);
    for (event, range) in Parser::new_ext(page, Options::ENABLE_TABLES).into_offset_iter() {
        let source = &page[range];
        match event {
            Event::Html(text) | Event::InlineHtml(text) => html += &text,
            Event::Start(Tag::Link { .. } | Tag::Image { .. }) => panic!("a link: {source:?}"),
            Event::Start(Tag::TableHead) => width = pipes(source),
            Event::End(TagEnd::TableRow) => assert_eq!(pipes(source), width, "{source:?}"),
            _ => {}
        }
    }
    check_fragment(&html, &TAGS);
}

/// Panics if `docs` has a code block, which rustdoc would compile and run.
pub fn check_docs(docs: &str) {
    for (event, range) in Parser::new_ext(docs, Options::ENABLE_TABLES).into_offset_iter() {
        let is_code = matches!(event, Event::Start(Tag::CodeBlock(_)));
        assert!(!is_code, "a code block: {:?} in {docs:?}", &docs[range]);
    }
}

/// Returns the number of pipes that separate cells.
fn pipes(row: &str) -> usize {
    let pipes = row.match_indices('|').filter(|(at, _)| {
        let before = &row[..*at];
        let escapes = before.len() - before.trim_end_matches('\\').len();
        // Implementations disagree whether the first of two escapes the second.
        assert!(escapes < 2, "a pipe after {escapes} backslashes in {row:?}");
        escapes == 0
    });
    pipes.count()
}
