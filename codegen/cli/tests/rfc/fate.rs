//! The fate of a proposed declaration in the releases: it is found by its name, and compared by its types.

use sp_ir::{Api, Field, Item, Signature, Struct, Type};

use crate::proposal::Proposal;

/// A declaration, found in a release.
struct Shipped<'a> {
    release: &'a str,
    item: &'a Item,
}

/// Describes the fate of an item.
pub fn item(proposal: &Proposal, name: &str, item: &Item) -> String {
    let shipped = find_all(proposal, name);
    let Some(first) = shipped.first() else {
        return missing(proposal, name, item);
    };
    let mut parts = vec![since(proposal, item, first)];
    parts.extend(shipped.windows(2).filter_map(|pair| {
        let found = differences(pair[0].item, pair[1].item, false);
        (!found.is_empty()).then(|| format!("{}: {}", pair[1].release, found.join(", ")))
    }));
    let last = shipped.last().map(|one| one.release).unwrap_or_default();
    if proposal.releases.last().is_some_and(|one| one.0 != last) {
        parts.push(format!("removed after {last}"));
    }
    parts.join("; ")
}

fn since(proposal: &Proposal, item: &Item, first: &Shipped) -> String {
    let release = first.release;
    if let (Item::Handle(_), Item::Struct(_)) = (item, first.item) {
        return format!("used, not declared; a struct since {release}");
    }
    match differences(item, first.item, proposal.about.is_partial) {
        same if same.is_empty() => format!("shipped as proposed in {release}"),
        found => format!("shipped in {release}: {}", found.join(", ")),
    }
}

fn find_all<'a>(proposal: &'a Proposal, name: &str) -> Vec<Shipped<'a>> {
    let find = |apis: &'a [Api]| apis.iter().find_map(|api| api.items.get(name));
    let releases = proposal.releases.iter();
    releases
        .filter_map(|(release, apis)| {
            let item = find(apis)?;
            Some(Shipped { release, item })
        })
        .collect()
}

/// Describes an item that no release has. It was renamed if a new item of the first release has the same definition.
fn missing(proposal: &Proposal, name: &str, item: &Item) -> String {
    let first = proposal.about.first;
    let is_new = |other: &str| !proposal.api().items.contains_key(other);
    let mut others = shipped_first(proposal).filter(|(other, _)| is_new(other));
    if let Some((other, _)) = others.find(|(_, found)| is_renamed(item, found)) {
        return format!("renamed: `{other}` since {first}");
    }
    match item {
        Item::Struct(item) => format!("dropped{}", taken_over(proposal, name, item)),
        _ => "dropped".into(),
    }
}

/// Returns the items of the proposed API in its first release.
fn shipped_first(proposal: &Proposal) -> impl Iterator<Item = (&str, &Item)> {
    let apis = proposal.apis(proposal.about.first).iter();
    let api = apis.filter(|api| api.name == proposal.about.api);
    api.flat_map(|api| &api.items)
        .map(|(name, item)| (&**name, item))
}

fn is_renamed(old: &Item, new: &Item) -> bool {
    matches!((old, new), (Item::Function(_), Item::Function(_)))
        && differences(old, new, false).is_empty()
}

/// Describes the data members of a removed struct that another struct has.
fn taken_over(proposal: &Proposal, name: &str, item: &Struct) -> String {
    let own = |field: &&Field| !["struct_size", "ext"].contains(&&*field.name);
    let data = item.fields.iter().filter(own);
    let data = data.filter(|field| !matches!(field.ty, Type::Function(_)));
    let places = data.filter_map(|field| {
        let (other, _) = field_elsewhere(proposal, name, &field.name)?;
        Some(format!("; `{}` is in `{other}`", field.name))
    });
    places.collect()
}

/// Returns the member of this name in another struct of the first release.
fn field_elsewhere<'p>(
    proposal: &'p Proposal,
    not: &str,
    name: &str,
) -> Option<(&'p str, &'p Field)> {
    let mut others = shipped_first(proposal).filter(|(other, _)| *other != not);
    others.find_map(|(other, item)| {
        let mut fields = item.as_struct()?.fields.iter();
        Some((other, fields.find(|field| field.name == name)?))
    })
}

/// Describes the differences of two declarations of one name. Names of parameters are not compared. Additional members
/// are not a difference from a partial declaration.
fn differences(old: &Item, new: &Item, is_partial: bool) -> Vec<String> {
    match (old, new) {
        (Item::Struct(old), Item::Struct(new)) => fields(old, new, is_partial),
        (Item::Function(old), Item::Function(new)) => calls(&old.signature, &new.signature),
        (Item::Callback(old), Item::Callback(new)) => calls(&old.signature, &new.signature),
        (Item::Enum(old), Item::Enum(new)) if old.variants == new.variants => Vec::new(),
        (Item::Enum(_), Item::Enum(_)) => vec!["other values".into()],
        (Item::Handle(old), Item::Handle(new)) if old.pointer == new.pointer => Vec::new(),
        _ => vec!["another kind of declaration".into()],
    }
}

fn calls(old: &Signature, new: &Signature) -> Vec<String> {
    let (old, new) = (signature(old), signature(new));
    let differ = old != new;
    let differ = differ.then(|| format!("`{new}` instead of `{old}`"));
    differ.into_iter().collect()
}

fn fields(old: &Struct, new: &Struct, is_partial: bool) -> Vec<String> {
    let less = |from: &Struct, without: &Struct| -> Vec<String> {
        let is_less = |field: &&Field| find(without, &field.name).is_none();
        let names = from.fields.iter().filter(is_less);
        names.map(|field| field.name.clone()).collect()
    };
    let (mut added, mut removed) = (less(new, old), less(old, new));
    let renamed = renamed(old, new, &mut added, &mut removed);
    let changed = old
        .fields
        .iter()
        .filter(|field| find(new, &field.name).is_some_and(|found| ty(&found.ty) != ty(&field.ty)));
    let changed: Vec<String> = changed.map(|field| field.name.clone()).collect();
    let part = |names: &[String], what: &str| {
        let names: Vec<String> = names.iter().map(|name| code(name)).collect();
        (!names.is_empty()).then(|| format!("{} {what}", names.join(", ")))
    };
    let added = part(&added, "added").filter(|_| !is_partial);
    let parts = [
        added,
        part(&removed, "removed"),
        part(&changed, "of another type"),
    ];
    parts.into_iter().flatten().chain(renamed).collect()
}

/// Removes members from both lists that have the same position and type under two names, and describes them.
fn renamed(
    old: &Struct,
    new: &Struct,
    added: &mut Vec<String>,
    removed: &mut Vec<String>,
) -> Vec<String> {
    let mut found = Vec::new();
    for (was, is) in old.fields.iter().zip(&new.fields) {
        let is_pair = removed.contains(&was.name) && added.contains(&is.name);
        if is_pair && ty(&was.ty) == ty(&is.ty) {
            removed.retain(|name| *name != was.name);
            added.retain(|name| *name != is.name);
            found.push(format!("`{}` renamed to `{}`", was.name, is.name));
        }
    }
    found
}

fn find<'s>(item: &'s Struct, name: &str) -> Option<&'s Field> {
    item.fields.iter().find(|field| field.name == name)
}

/// Describes the fate of a slot of a proposed table.
pub fn slot(proposal: &Proposal, table: &str, name: &str, of: &Type) -> String {
    let shipped = find_all(proposal, table);
    let field = |one: &'_ Shipped<'_>| match one.item {
        Item::Struct(item) => find(item, name).cloned(),
        _ => None,
    };
    let first = shipped
        .iter()
        .find_map(|one| Some((one.release, field(one)?)));
    let Some((release, found)) = first else {
        return elsewhere(proposal, table, name, of);
    };
    let mut last = shipped.iter().rev();
    let last = last.find_map(|one| field(one).map(|_| one.release));
    let newest = proposal.releases.last().map(|one| &*one.0);
    let gone = match last == newest {
        true => String::new(),
        false => format!("; removed after {}", last.unwrap_or_default()),
    };
    match ty(&found.ty) == ty(of) {
        true => format!("as proposed since {release}{gone}"),
        false => format!(
            "changed since {release}: `{}` instead of `{}`{gone}",
            ty(&found.ty),
            ty(of)
        ),
    }
}

/// Describes a slot that its table does not have. Another table of the first release may have one of that name.
fn elsewhere(proposal: &Proposal, table: &str, name: &str, of: &Type) -> String {
    let Some((other, field)) = field_elsewhere(proposal, table, name) else {
        return "dropped".into();
    };
    let how = match ty(&field.ty) == ty(of) {
        true => String::new(),
        false => format!(", `{}` instead of `{}`", ty(&field.ty), ty(of)),
    };
    format!("in `{other}` since {}{how}", proposal.about.first)
}

pub fn code(name: &str) -> String {
    format!("`{name}`")
}

/// Returns a type without the names of parameters.
fn ty(of: &Type) -> String {
    match of {
        Type::Function(inner) => signature(inner),
        of => {
            let text = serde_json::to_string(of).unwrap();
            text.trim_matches('"').to_string()
        }
    }
}

pub fn signature(of: &Signature) -> String {
    let params: Vec<String> = of.params.iter().map(|param| ty(&param.ty)).collect();
    format!("{}({})", ty(&of.ret), params.join(", "))
}
