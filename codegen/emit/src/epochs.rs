//! Where a later release broke a layout or a signature, what stood before, as a module per epoch:
//! `stream_executor::epochs::v2_5::SP_StreamExecutor`. What was only appended to has no older
//! epoch, since its newest form begins with the older ones.

use std::collections::{BTreeMap, BTreeSet};

use sp_ir::{Api, Epoch, Epochs, Field, Item, Type};

use super::catalog::Catalog;
use crate::minor::{Minor, dotted, minor};
use crate::timeline::Timeline;

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
    let runs = runs(apis, timeline);
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

/// The runs of all structs, functions and callbacks, from the first release that loads plugins on.
fn runs<'a>(apis: &'a [Api], timeline: &Timeline) -> Runs<'a> {
    let forms = Forms::of(apis);
    let history = &timeline.history;
    let mut runs = Runs::new();
    forms.follow(&history.structs, &mut runs);
    forms.follow(&history.functions, &mut runs);
    forms.follow(&history.callbacks, &mut runs);
    runs
}

/// Every item as every release has it.
struct Forms<'a>(BTreeMap<Minor, BTreeMap<&'a str, &'a Item>>);

impl<'a> Forms<'a> {
    fn of(apis: &'a [Api]) -> Self {
        let mut forms: BTreeMap<Minor, BTreeMap<&str, &Item>> = BTreeMap::new();
        for api in apis {
            let items = api.items.iter().map(|(name, item)| (name.as_str(), item));
            forms.entry(minor(&api.release)).or_default().extend(items);
        }
        Self(forms)
    }

    /// Adds a run for each time that something broke.
    fn follow<T>(&self, epochs: &Epochs<T>, runs: &mut Runs<'a>) {
        for (name, epochs) in epochs {
            for releases in unbroken(epochs) {
                let last = releases.last().and_then(|last| self.0.get(last));
                if let Some((name, item)) = last.and_then(|items| items.get_key_value(&**name)) {
                    runs.entry(name).or_default().push(Run { releases, item });
                }
            }
        }
    }
}

/// The releases of epochs, those together that broke nothing.
fn unbroken<T>(epochs: &[Epoch<T>]) -> Vec<BTreeSet<Minor>> {
    let mut joined: Vec<BTreeSet<Minor>> = Vec::new();
    for epoch in epochs {
        let releases = epoch.releases.iter().map(|release| minor(release));
        match joined.last_mut() {
            Some(run) if !epoch.breaks => run.extend(releases),
            _ => joined.push(releases.collect()),
        }
    }
    joined
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
