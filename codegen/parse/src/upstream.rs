//! The headers' own comments as docs, for a person who has the headers. What is generated with them
//! is never committed: the sentences are TensorFlow's.

use std::collections::BTreeSet;
use std::path::Path;

use sp_ir::{Api, Field, Item, Release};

use crate::clang::{ClangError, Comment, Comments, DEFAULT_TARGET, Source, declarations};

/// Puts the comments of `release`'s headers under `include_root` in the place of our own docs; what
/// has none keeps ours. Gives the number of docs put.
///
/// # Errors
/// Where libclang is missing or a header does not parse.
pub fn annotate(apis: &mut [Api], release: &str, include_root: &Path) -> Result<usize, ClangError> {
    let key = |release: &str| release.parse().map(Release::key).ok();
    let is_now = |api: &&mut Api| key(&api.release) == key(release);
    let mut headers = BTreeSet::new();
    for api in apis.iter_mut().filter(is_now) {
        headers.extend(api.items.values().map(|item| item.loc().file.clone()));
    }
    let source = Source {
        include_root: include_root.into(),
        headers: headers.iter().cloned().collect(),
        target: DEFAULT_TARGET.into(),
    };
    let found = declarations(&source, &|header| headers.contains(header))?;
    let mut put = 0;
    for api in apis.iter_mut().filter(is_now) {
        for (name, item) in &mut api.items {
            put += document(name, item, &found.comments);
        }
    }
    Ok(put)
}

fn document(name: &str, item: &mut Item, comments: &Comments) -> usize {
    let (doc, fields): (_, &mut [Field]) = match item {
        Item::Struct(it) => (&mut it.doc, &mut it.fields),
        Item::Union(it) => (&mut it.doc, &mut it.fields),
        Item::Enum(it) => (&mut it.doc, &mut []),
        Item::Handle(it) => (&mut it.doc, &mut []),
        Item::Alias(it) => (&mut it.doc, &mut []),
        Item::Callback(it) => (&mut it.doc, &mut []),
        Item::Function(it) => (&mut it.doc, &mut []),
        Item::Constant(it) => (&mut it.doc, &mut []),
    };
    let docs = fields
        .iter_mut()
        .map(|field| (field.name.as_str(), &mut field.doc));
    let mut put = 0;
    for (member, doc) in [("", doc)].into_iter().chain(docs) {
        if let Some(text) = text(comments.of(name, member)) {
            *doc = Some(text);
            put += 1;
        }
    }
    put
}

/// The comments as paragraphs. No line is indented: rustdoc would take it for a test.
fn text(comments: &[Comment]) -> Option<String> {
    let paragraphs = comments.iter().map(|comment| {
        let lines: Vec<&str> = comment.text.lines().map(str::trim).collect();
        lines.join("\n")
    });
    let text = paragraphs.collect::<Vec<_>>().join("\n\n");
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}
