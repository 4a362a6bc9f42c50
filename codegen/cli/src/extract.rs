//! The pipeline: headers to declarations, declarations to facts, facts to IR.
//!
//! One parse covers all APIs, since their headers include each other; each item goes to the API of
//! the header that declares it.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use miette::Diagnostic;
use sp_ir::{Api, Field, Imports, Item, SCHEMA, Signature, SnapshotError, Type, Value};
use thiserror::Error;

use crate::clang::{self, ClangError, Declarations, Source};
use crate::contract::{self, Items, Known, Notes, NotesError};
use crate::embedded::SNAPSHOTS;

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
    /// A committed snapshot is damaged.
    #[error("generated/ir/{file}: {reason}")]
    #[diagnostic(
        code(sp_gen::extract::snapshot),
        help("write it again with `sp-gen import`")
    )]
    Snapshot {
        /// The file.
        file: String,
        /// What is wrong.
        reason: SnapshotError,
    },
}

/// Reads all APIs that the headers under `include_root` declare, for `target`, as `release`'s. They
/// come sorted by name.
///
/// # Errors
/// Where libclang is missing, a header or the notes are wrong, or a type is declared nowhere.
pub fn extract(include_root: &Path, release: &str, target: &str) -> Result<Vec<Api>, ExtractError> {
    extract_with(&Notes::all()?, &known()?, include_root, release, target)
}

/// [`extract`] with the given notes.
///
/// # Errors
/// As [`extract`].
pub fn extract_with(
    notes: &[Notes],
    known: &Known,
    include_root: &Path,
    release: &str,
    target: &str,
) -> Result<Vec<Api>, ExtractError> {
    let headers = present(notes, include_root);
    if headers.is_empty() {
        return Err(ExtractError::NoHeaders {
            root: include_root.into(),
        });
    }
    let wanted = |header: &str| headers.iter().any(|one| one == header);
    let source = Source {
        include_root: include_root.into(),
        headers: headers.clone(),
        target: target.into(),
    };
    let mut declared = clang::declarations(&source, &wanted)?;
    let mut apis = Vec::new();
    for notes in notes {
        apis.extend(annotate(notes, known, &mut declared, release)?);
    }
    apis.sort_by(|left, right| left.name.cmp(&right.name));
    import(&mut apis)?;
    Ok(apis)
}

/// The names that the committed snapshots have.
fn known() -> Result<Known, ExtractError> {
    let apis: Vec<Api> = SNAPSHOTS
        .iter()
        .map(|(file, text)| {
            Api::from_json(text).map_err(|reason| ExtractError::Snapshot {
                file: (*file).into(),
                reason,
            })
        })
        .collect::<Result<_, _>>()?;
    Ok(Known::from_apis(&apis))
}

/// The headers that this release has of those that the notes list for any.
fn present(notes: &[Notes], root: &Path) -> Vec<String> {
    let all: BTreeSet<&String> = notes.iter().flat_map(|notes| &notes.headers).collect();
    all.into_iter()
        .filter(|header| root.join(header).is_file())
        .cloned()
        .collect()
}

/// One API, if the release has it.
fn annotate(
    notes: &Notes,
    known: &Known,
    declared: &mut Declarations,
    release: &str,
) -> Result<Option<Api>, NotesError> {
    let mut items: Items = take(notes, &mut declared.items);
    if items.is_empty() {
        return Ok(None);
    }
    contract::annotate(&mut items, &declared.comments, notes, known)?;
    Ok(Some(Api {
        schema: SCHEMA,
        name: notes.api.clone(),
        release: release.into(),
        version: version(notes, &items),
        items,
        imports: Imports::new(),
    }))
}

/// Moves an API's items out of all.
fn take(notes: &Notes, all: &mut Items) -> Items {
    let chosen = |name: &String| notes.only.is_empty() || notes.only.contains(name);
    let (mine, rest) = std::mem::take(all)
        .into_iter()
        .partition(|(name, item)| notes.headers.contains(&item.loc().file) && chosen(name));
    *all = rest;
    mine
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
