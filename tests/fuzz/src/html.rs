//! HTML pages: only the templates' own tags and attributes may open.

/// Tags of the templates.
const TAGS: [&str; 43] = [
    "html", "head", "meta", "title", "style", "body", "h1", "h2", "h3", "h4", "p", "span", "div",
    "table", "thead", "tbody", "tr", "th", "td", "form", "label", "input", "code", "section",
    "article", "header", "pre", "mark", "dl", "dt", "dd", "b", "i", "details", "summary", "ul",
    "li", "script", "nav", "a", "footer", "strong", "main",
];

/// Tags that are never closed.
const VOID: [&str; 2] = ["meta", "input"];

/// Attributes of the templates.
const ATTRIBUTES: [&str; 16] = [
    "lang",
    "charset",
    "name",
    "content",
    "class",
    "id",
    "type",
    "value",
    "checked",
    "data-api",
    "data-impact",
    "href",
    "title",
    "colspan",
    "open",
    "aria-label",
];

/// Panics if `page` has a tag or an attribute that the templates do not have, or if its tags do not match.
pub fn check(page: &str) {
    let page = page.strip_prefix("<!doctype html>").expect("a page");
    check_fragment(page, &TAGS);
}

/// Panics if `fragment` has a tag that is not of `tags`, or if its tags do not match.
pub fn check_fragment(fragment: &str, tags: &[&str]) {
    let (mut rest, mut open) = (fragment, Vec::new());
    while let Some((_, tag)) = rest.split_once('<') {
        let end = tag
            .find(|it: char| !it.is_ascii_alphanumeric() && it != '/')
            .unwrap_or(tag.len());
        let (name, attributes) = tag.split_at(end);
        let opened = name.strip_prefix('/').unwrap_or(name);
        assert!(tags.contains(&opened), "<{name}> opens at {:?}", start(tag));
        rest = skip_attributes(attributes);
        match name.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name), "</{name}> closes another tag"),
            None if VOID.contains(&name) => {}
            None => open.push(name),
        }
        if name == "style" || name == "script" {
            let end = rest
                .find(&format!("</{name}>"))
                .expect("style and script end");
            rest = &rest[end..];
        }
    }
    assert!(open.is_empty(), "{open:?} are not closed");
}

/// Returns what follows the tag.
fn skip_attributes(mut rest: &str) -> &str {
    loop {
        rest = rest.trim_start();
        if let Some(rest) = rest.strip_prefix('>') {
            return rest;
        }
        let end = rest.find(['=', '>', ' ']).expect("a tag ends");
        let (name, value) = rest.split_at(end);
        assert!(
            ATTRIBUTES.contains(&name),
            "attribute {name:?} at {:?}",
            start(rest)
        );
        rest = value;
        if let Some(value) = value.strip_prefix("=\"") {
            let (value, after) = value.split_once('"').expect("a value ends");
            assert!(!value.contains('<'), "{name}={value:?}");
            assert!(name != "href" || value.starts_with('#'), "{name}={value:?}");
            assert!(
                after.starts_with([' ', '>']),
                "{after:?} follows a value",
                after = start(after)
            );
            rest = after;
        }
    }
}

fn start(text: &str) -> String {
    text.chars().take(60).collect()
}
