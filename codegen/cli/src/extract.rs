//! The pipeline: headers to declarations, declarations to facts, facts to IR.
//!
//! One parse covers all APIs, since their headers include each other; each item goes to the API of
//! the header that declares it.

mod headers;
mod pool;
mod targets;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::thread;

use miette::Diagnostic;
use sp_ir::{Api, Field, Imports, Item, SCHEMA, Signature, Targets, Type, Value};
use thiserror::Error;

use crate::clang::{self, ClangError, Declarations, Library, Source};
use crate::contract::{self, Items, Known, Notes, NotesError};
use crate::import::problem::Problem;
pub use headers::{LeftOut, Stray};
use pool::Pool;
pub use targets::{TARGETS, complete, complete_with, releases};

/// An include root gives no APIs.
#[derive(Debug, Error, Diagnostic)]
pub enum ExtractError {
    /// The headers cannot be read.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Clang(#[from] ClangError),
    /// The notes cannot be used.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Notes(#[from] NotesError),
    /// No header of any API is there.
    #[error("{} holds no header of TensorFlow's C APIs", root.display())]
    #[diagnostic(
        code(sp_gen::extract::no_headers),
        help(
            "an include root is the folder that has tensorflow/c/kernels.h below it, such as .../site-packages/tensorflow/include"
        )
    )]
    NoHeaders {
        /// The folder.
        root: PathBuf,
    },
    /// A type that no API declares.
    #[error("{api}: `{item}` uses `{missing}`, which no API declares")]
    #[diagnostic(
        code(sp_gen::extract::undeclared),
        help(
            "list the header that declares `{missing}` in the notes of an API (headers/apis), with `only` if little of it is needed"
        )
    )]
    Undeclared {
        /// The API.
        api: String,
        /// Its item.
        item: String,
        /// The type.
        missing: String,
    },
    /// The include root cannot be read.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Tree(#[from] Problem),
    /// Headers that nobody has looked at yet.
    #[error("headers of the C API that no notes file lists: {}", names(headers))]
    #[diagnostic(
        code(sp_gen::extract::header_unassigned),
        help(
            "list each in `headers` of an API's notes (headers/apis), or with a reason in headers/apis/left_out.toml"
        )
    )]
    Strays {
        /// Them all.
        headers: Vec<Stray>,
    },
    /// The same on another target means something else.
    #[error("{api}: `{item}` is another kind of thing for {target}")]
    #[diagnostic(
        code(sp_gen::extract::target),
        help("a snapshot can only say that layouts and values differ between targets")
    )]
    Target {
        /// The API.
        api: String,
        /// Its item.
        item: String,
        /// The target.
        target: String,
    },
}

fn names(headers: &[Stray]) -> String {
    let names: Vec<&str> = headers.iter().map(|one| one.0.as_str()).collect();
    names.join(", ")
}

/// Reads all APIs that the headers under `include_root` declare, for `target`, as `release`'s. They
/// come sorted by name. A comment that differs from its reading in `baseline`, the snapshots of the
/// newest known release, takes precedence over a note.
///
/// # Errors
/// Where libclang is missing, a header or the notes are wrong, a header belongs to no API, or a
/// type is declared nowhere.
pub fn extract(
    include_root: &Path,
    release: &str,
    target: &str,
    baseline: Vec<Api>,
) -> Result<Vec<Api>, ExtractError> {
    // Loading it takes as long as all that is done before it is needed.
    thread::scope(|scope| {
        scope.spawn(Library::load);
        let (notes, left_out) = (Notes::all()?, LeftOut::embedded()?);
        let known = Known::AtHand(baseline);
        extract_with(&notes, &left_out, &known, include_root, release, target)
    })
}

/// [`extract`] with the given notes.
///
/// # Errors
/// As [`extract`].
pub fn extract_with(
    notes: &[Notes],
    left_out: &LeftOut,
    known: &Known,
    include_root: &Path,
    release: &str,
    target: &str,
) -> Result<Vec<Api>, ExtractError> {
    let source = Source {
        include_root: include_root.into(),
        headers: headers::of(notes, left_out, include_root)?,
        target: target.into(),
    };
    let declared = clang::declarations(&source, &wanted(&source))?;
    annotate_all(notes, known, declared, release)
}

/// Accepts the headers that `source` names, not those that these include.
fn wanted(source: &Source) -> impl Fn(&str) -> bool + Sync {
    let headers: HashSet<String> = source.headers.iter().cloned().collect();
    move |header| headers.contains(header)
}

/// Every API that is declared, sorted by name.
fn annotate_all(
    notes: &[Notes],
    known: &Known,
    declared: Declarations,
    release: &str,
) -> Result<Vec<Api>, ExtractError> {
    let mut pool = Pool::new(declared.items);
    let mut apis = Vec::new();
    for one in notes {
        let mut items = pool.take(one, &claimed(notes, one));
        if items.is_empty() {
            continue;
        }
        contract::annotate(&mut items, &declared.comments, one, known, release)?;
        apis.push(api(one, items, release));
    }
    apis.sort_by(|left, right| left.name.cmp(&right.name));
    import(&mut apis)?;
    Ok(apis)
}

fn api(notes: &Notes, items: Items, release: &str) -> Api {
    Api {
        schema: SCHEMA,
        name: notes.api.clone(),
        release: release.into(),
        version: version(notes, &items),
        items,
        imports: Imports::new(),
        targets: Targets::new(),
    }
}

/// What the other APIs name of the headers that they share.
fn claimed(notes: &[Notes], mine: &Notes) -> BTreeSet<String> {
    let others = notes.iter().filter(|one| one.api != mine.api);
    others
        .flat_map(|one| one.only.values().flatten().cloned())
        .collect()
}

fn version(notes: &Notes, items: &Items) -> Option<String> {
    let parts: Vec<String> = notes
        .version
        .iter()
        .filter_map(|name| match items.get(name) {
            Some(Item::Constant(constant)) => match constant.value {
                Value::Int(value) => Some(value.to_string()),
                _ => None,
            },
            _ => None,
        })
        .collect();
    (!parts.is_empty()).then(|| parts.join("."))
}

/// Fills in where each API takes the names from that it does not declare.
fn import(apis: &mut [Api]) -> Result<(), ExtractError> {
    let owners: BTreeMap<String, String> = apis
        .iter()
        .flat_map(|api| {
            api.items
                .keys()
                .map(|name| (name.clone(), api.name.clone()))
        })
        .collect();
    for api in apis {
        for (item, name) in uses(api) {
            match owners.get(&name) {
                Some(owner) if *owner == api.name => {}
                Some(owner) => drop(api.imports.insert(name, owner.clone())),
                None => {
                    let api = api.name.clone();
                    return Err(ExtractError::Undeclared {
                        api,
                        item,
                        missing: name,
                    });
                }
            }
        }
    }
    Ok(())
}

/// Each item's name with a name that it uses.
fn uses(api: &Api) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (item, declared) in &api.items {
        let mut names = BTreeSet::new();
        item_uses(declared, &mut names);
        found.extend(names.into_iter().map(|name| (item.clone(), name)));
    }
    found
}

fn item_uses(item: &Item, names: &mut BTreeSet<String>) {
    match item {
        Item::Struct(item) => fields_use(&item.fields, names),
        Item::Union(item) => fields_use(&item.fields, names),
        Item::Alias(item) => type_uses(&item.ty, names),
        Item::Callback(item) => signature_uses(&item.signature, names),
        Item::Function(item) => signature_uses(&item.signature, names),
        Item::Enum(_) | Item::Handle(_) | Item::Constant(_) => {}
    }
}

fn fields_use(fields: &[Field], names: &mut BTreeSet<String>) {
    for field in fields {
        type_uses(&field.ty, names);
    }
}

fn signature_uses(signature: &Signature, names: &mut BTreeSet<String>) {
    for param in &signature.params {
        type_uses(&param.ty, names);
    }
    type_uses(&signature.ret, names);
}

fn type_uses(ty: &Type, names: &mut BTreeSet<String>) {
    match ty {
        Type::Named(name) => drop(names.insert(name.clone())),
        Type::Pointer { pointee, .. } => type_uses(pointee, names),
        Type::Array { elem, .. } => type_uses(elem, names),
        Type::Function(signature) => signature_uses(signature, names),
        _ => {}
    }
}
