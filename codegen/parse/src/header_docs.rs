//! The headers' own comments as docs, for users who have the headers. Code with these docs is never committed: the
//! sentences are TensorFlow's.

use std::collections::BTreeSet;
use std::path::Path;

use crate::contract::notes::doc_mut;
use sp_ir::{Api, Field, Item, Release};

use crate::clang::{
    ClangError, Comment, Comments, DEFAULT_TARGET, Dialect, ParseInput, declarations,
};

/// Replaces our docs of the items in `release` by the comments in its headers under `include_root`. An item without a
/// comment keeps ours. Returns the number of replaced docs.
///
/// # Errors
/// Returns an error if libclang is missing or a header does not parse.
pub fn annotate(apis: &mut [Api], release: &str, include_root: &Path) -> Result<usize, ClangError> {
    let key = |release: &str| release.parse().map(Release::key).ok();
    let is_of_release = |api: &&mut Api| key(&api.release) == key(release);
    let mut headers = BTreeSet::new();
    for api in apis.iter_mut().filter(is_of_release) {
        headers.extend(api.items.values().map(|item| item.loc().file.clone()));
    }
    let input = ParseInput {
        include_root: include_root.into(),
        headers: headers.iter().cloned().collect(),
        target: DEFAULT_TARGET.into(),
        dialect: Dialect::TensorFlow,
    };
    let declared = declarations(&input, &|header| headers.contains(header), true)?;
    let mut replaced = 0;
    for api in apis.iter_mut().filter(is_of_release) {
        for (name, item) in &mut api.items {
            replaced += replace_docs(name, item, &declared.comments);
        }
    }
    Ok(replaced)
}

fn replace_docs(name: &str, item: &mut Item, comments: &Comments) -> usize {
    let mut replaced = 0;
    let mut replace = |member: &str, doc: &mut Option<String>| {
        if let Some(text) = paragraphs(comments.get(name, member)) {
            *doc = Some(text);
            replaced += 1;
        }
    };
    replace("", doc_mut(item));
    for field in fields_mut(item) {
        replace(&field.name, &mut field.doc);
    }
    replaced
}

fn fields_mut(item: &mut Item) -> &mut [Field] {
    match item {
        Item::Struct(item) => &mut item.fields,
        Item::Union(item) => &mut item.fields,
        _ => &mut [],
    }
}

/// Returns the comments as paragraphs, or `None` if they have no text. No line is indented: rustdoc would run it as a
/// test.
fn paragraphs(comments: &[Comment]) -> Option<String> {
    let paragraphs = comments.iter().map(|comment| {
        let lines: Vec<&str> = comment.text.lines().map(str::trim).collect();
        lines.join("\n")
    });
    let text = paragraphs.collect::<Vec<_>>().join("\n\n");
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}
