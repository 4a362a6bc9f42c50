//! Where a later release broke a layout or a signature, what stood before, as a module per epoch:
//! `stream_executor::epochs::v2_5::SP_StreamExecutor`. What was only appended to has no older
//! epoch, since its newest form begins with the older ones.

use std::collections::{BTreeMap, BTreeSet};

use sp_ir::{Api, Field, Item, Layout, Signature, Type};

use super::catalog::Catalog;
use super::timeline::{Minor, Timeline, dotted, minor};

/// The first release that plugins run on.
const FIRST: Minor = (2, 5);

/// What broke, by the API that has it now and the module that holds it.
pub type Broken<'a> = BTreeMap<&'a str, BTreeMap<String, Vec<Old<'a>>>>;

/// A form that a later release broke.
pub struct Old<'a> {
    /// The C name.
    pub name: &'a str,
    /// As the last release of its epoch has it.
    pub item: &'a Item,
    /// The releases that have it, in words.
    pub releases: String,
    /// The first and the last of them.
    pub span: (Minor, Minor),
    /// Other old forms that it refers to, by their API and module.
    pub beside: BTreeMap<&'a str, (&'a str, String)>,
    /// Whether the newest form's callbacks fit its slots.
    pub fillable: bool,
}

/// A run of releases in which nothing broke.
struct Run<'a> {
    releases: BTreeSet<Minor>,
    item: &'a Item,
}

impl Run<'_> {
    fn module(&self) -> String {
        let (major, minor) = self.releases.first().copied().unwrap_or_default();
        format!("v{major}_{minor}")
    }
}

/// The old forms of what `newest` has; `apis` are all releases'.
pub fn broken<'a>(apis: &'a [Api], newest: &Catalog<'a>, timeline: &Timeline) -> Broken<'a> {
    let mut releases: BTreeMap<Minor, Vec<&'a Api>> = BTreeMap::new();
    for api in apis.iter().filter(|api| minor(&api.release) >= FIRST) {
        releases.entry(minor(&api.release)).or_default().push(api);
    }
    let runs = runs(&releases);
    let mut broken = Broken::new();
    for (name, all) in &runs {
        let Some(home) = newest.home(name) else {
            continue;
        };
        for run in &all[..all.len() - 1] {
            let old = old(name, run, &runs, newest, timeline);
            let modules = broken.entry(home).or_default();
            modules.entry(run.module()).or_default().push(old);
        }
    }
    broken
}

type Runs<'a> = BTreeMap<&'a str, Vec<Run<'a>>>;

fn runs<'a>(releases: &BTreeMap<Minor, Vec<&'a Api>>) -> Runs<'a> {
    let mut runs = Runs::new();
    let embedded = embedded(
        releases
            .values()
            .flatten()
            .flat_map(|api| api.items.values()),
    );
    let mut before: Option<Catalog<'a>> = None;
    for (release, apis) in releases {
        let now = Catalog::over(apis.iter().copied());
        for (name, item) in apis.iter().flat_map(|api| &api.items) {
            let all = runs.entry(name.as_str()).or_default();
            let goes_on = match (all.last(), &before) {
                (Some(run), Some(before)) => {
                    let older = before.item(name).map_or(&now, |_| before);
                    let grew = layout(run.item) != layout(item);
                    fits(run.item, older, item, &now) && !(grew && embedded.contains(name.as_str()))
                }
                _ => false,
            };
            if !goes_on {
                let releases = BTreeSet::new();
                all.push(Run { releases, item });
            }
            if let Some(run) = all.last_mut() {
                run.releases.insert(*release);
                run.item = item;
            }
        }
        before = Some(now);
    }
    runs
}

/// The names that others hold by value: where one of them only grew, what holds it broke.
fn embedded<'a>(items: impl Iterator<Item = &'a Item>) -> BTreeSet<&'a str> {
    let fields = items.flat_map(|item| match item {
        Item::Struct(it) => &it.fields[..],
        Item::Union(it) => &it.fields[..],
        _ => &[],
    });
    let held = fields.filter_map(|field| match &field.ty {
        Type::Named(name) => Some(name.as_str()),
        Type::Array { elem, .. } => elem.named(),
        _ => None,
    });
    held.collect()
}

fn layout(item: &Item) -> Option<Layout> {
    match item {
        Item::Struct(it) => Some(it.layout),
        Item::Union(it) => Some(it.layout),
        _ => None,
    }
}

/// Whether code written against `old` still does right where `new` stands.
fn fits(old: &Item, was: &Catalog<'_>, new: &Item, is: &Catalog<'_>) -> bool {
    match (old, new) {
        (Item::Struct(old), Item::Struct(new)) => members_fit(&old.fields, was, &new.fields, is),
        (Item::Union(old), Item::Union(new)) => {
            old.layout == new.layout && members_fit(&old.fields, was, &new.fields, is)
        }
        (Item::Function(old), Item::Function(new)) => {
            shape_of(&old.signature, was) == shape_of(&new.signature, is)
        }
        (Item::Callback(old), Item::Callback(new)) => {
            shape_of(&old.signature, was) == shape_of(&new.signature, is)
        }
        // A name that became another kind of thing, such as an alias, and what has no layout.
        _ => true,
    }
}

/// Every old member is where it was; one that was only renamed still is.
fn members_fit(old: &[Field], was: &Catalog<'_>, new: &[Field], is: &Catalog<'_>) -> bool {
    let by_name: BTreeMap<&str, &Field> = new.iter().map(|it| (it.name.as_str(), it)).collect();
    old.iter().enumerate().all(|(index, field)| {
        let now = by_name.get(field.name.as_str()).copied();
        let renamed = || {
            let other = new.get(index)?;
            let is_new = old.iter().all(|it| it.name != other.name);
            is_new.then_some(other)
        };
        now.or_else(renamed).is_some_and(|now| {
            let place = |it: &Field| (it.offset, it.size);
            place(now) == place(field) && shape(&now.ty, is) == shape(&field.ty, was)
        })
    })
}

/// A type as a call or a load sees it: all data pointers are one.
fn shape(ty: &Type, catalog: &Catalog<'_>) -> String {
    match catalog.resolve(ty) {
        Type::Pointer { .. } => "pointer".into(),
        Type::Array { elem, len } => format!("[{}; {len}]", shape(elem, catalog)),
        Type::Function(signature) => shape_of(signature, catalog),
        Type::Named(name) => match catalog.item(name) {
            Some(Item::Handle(handle)) if handle.pointer => "pointer".into(),
            Some(Item::Enum(item)) => shape(&item.repr, catalog),
            Some(Item::Callback(item)) => shape_of(&item.signature, catalog),
            Some(Item::Struct(item)) => format!("{:?}", item.layout),
            Some(Item::Union(item)) => format!("{:?}", item.layout),
            _ => name.clone(),
        },
        plain => format!("{plain:?}"),
    }
}

fn shape_of(signature: &Signature, catalog: &Catalog<'_>) -> String {
    let params = signature.params.iter().map(|param| match &param.ty {
        Type::Array { .. } => "pointer".into(),
        ty => shape(ty, catalog),
    });
    let params: Vec<String> = params.collect();
    format!(
        "fn({}) {}",
        params.join(", "),
        shape(&signature.ret, catalog)
    )
}

fn old<'a>(
    name: &'a str,
    run: &Run<'a>,
    runs: &Runs<'a>,
    newest: &Catalog<'a>,
    timeline: &Timeline,
) -> Old<'a> {
    let last = run.releases.last().copied().unwrap_or_default();
    let mut beside = BTreeMap::new();
    for other in super::closure::names(run.item) {
        let all = runs.get(other).map_or(&[][..], Vec::as_slice);
        let older = all
            .iter()
            .rev()
            .skip(1)
            .find(|it| it.releases.contains(&last));
        if let (Some(older), Some(home)) = (older, newest.home(other)) {
            beside.insert(other, (home, older.module()));
        }
    }
    Old {
        name,
        item: run.item,
        releases: timeline.spans(&run.releases),
        span: (run.releases.first().copied().unwrap_or_default(), last),
        fillable: beside.is_empty() && slots_fit(run.item, newest.item(name)),
        beside,
    }
}

/// Whether every slot of the old table is a slot of the new one, with the same type.
fn slots_fit(old: &Item, new: Option<&Item>) -> bool {
    let (Item::Struct(old), Some(Item::Struct(new))) = (old, new) else {
        return false;
    };
    let type_of = |field: &Field| sp_expand::ty::print_type(&field.ty, &sp_expand::ty::InScope);
    let mut slots = old
        .fields
        .iter()
        .filter(|it| matches!(it.ty, Type::Function(_)));
    slots.all(|slot| {
        let same = new.fields.iter().find(|it| it.name == slot.name);
        same.is_some_and(|it| type_of(it).to_string() == type_of(slot).to_string())
    })
}

/// What a module of an epoch says of itself.
pub fn heading(module: &str) -> String {
    let release = module.trim_start_matches('v').replace('_', ".");
    format!(
        "What began with {} and a later release broke.",
        dotted(minor(&release))
    )
}
