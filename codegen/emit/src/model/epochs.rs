//! Older layouts and signatures that a later release broke. Each epoch has a module, such as
//! `stream_executor::epochs::v2_5::SP_StreamExecutor`. A layout that was only extended at its end has no
//! older epoch, since the newest layout begins with the older ones.

use std::collections::{BTreeMap, BTreeSet};

use sp_ir::{Api, Epoch, Epochs, Field, Item, Release, Type};

use super::catalog::Catalog;
use super::references;
use super::releases::{Span, parse_minor};
use super::timeline::Timeline;

/// The older declarations, by the API that declares the item now and by module.
pub type AllOlder<'a> = BTreeMap<&'a str, BTreeMap<String, Vec<OlderDeclaration<'a>>>>;

/// A layout or signature that a later release broke.
pub struct OlderDeclaration<'a> {
    /// The C name.
    pub name: &'a str,
    /// The item in the last release of its epoch.
    pub item: &'a Item,
    /// The releases that have it, as text.
    pub release_text: String,
    /// The first and the last of these releases.
    pub span: Span,
    /// The other older declarations that it refers to, by name, with their API and module.
    pub references: BTreeMap<&'a str, (&'a str, String)>,
    /// True if the newest table's callbacks fit its slots.
    pub is_fillable: bool,
}

/// A run of releases without an incompatible change.
struct Run<'a> {
    releases: BTreeSet<Release>,
    item: &'a Item,
}

impl Run<'_> {
    fn span(&self) -> Span {
        let unknown = Release::from_minor(0, 0);
        let first = self.releases.first().copied().unwrap_or(unknown);
        (first, self.releases.last().copied().unwrap_or(unknown))
    }

    fn module(&self) -> String {
        let (first, _) = self.span();
        format!("v{}_{}", first.major, first.minor)
    }
}

/// Collects the older declarations of the items of `newest`. `apis` are those of all releases.
pub fn collect_older<'a>(
    apis: &'a [Api],
    newest: &Catalog<'a>,
    timeline: &Timeline,
) -> AllOlder<'a> {
    let runs = runs(apis, timeline);
    let mut all_older = AllOlder::new();
    for (name, runs_of_item) in &runs {
        let Some(api) = newest.declaring_api(name) else {
            continue;
        };
        for run in &runs_of_item[..runs_of_item.len() - 1] {
            let older = older_declaration(name, run, &runs, newest, timeline);
            let modules = all_older.entry(api).or_default();
            modules.entry(run.module()).or_default().push(older);
        }
    }
    all_older
}

type Runs<'a> = BTreeMap<&'a str, Vec<Run<'a>>>;

/// Returns the runs of all structs, functions and callbacks, from the first release that loads plugins on.
fn runs<'a>(apis: &'a [Api], timeline: &Timeline) -> Runs<'a> {
    let releases = ItemsByRelease::new(apis);
    let history = &timeline.history;
    let mut runs = Runs::new();
    releases.add_runs(&history.structs, &mut runs);
    releases.add_runs(&history.functions, &mut runs);
    releases.add_runs(&history.callbacks, &mut runs);
    runs
}

/// The items of every release.
struct ItemsByRelease<'a>(BTreeMap<Release, BTreeMap<&'a str, &'a Item>>);

impl<'a> ItemsByRelease<'a> {
    fn new(apis: &'a [Api]) -> Self {
        let mut by_release: BTreeMap<Release, BTreeMap<&str, &Item>> = BTreeMap::new();
        for api in apis {
            let items = api.items.iter().map(|(name, item)| (name.as_str(), item));
            let release = parse_minor(&api.release);
            by_release.entry(release).or_default().extend(items);
        }
        Self(by_release)
    }

    /// Adds a run for each incompatible change.
    fn add_runs<T>(&self, epochs: &Epochs<T>, runs: &mut Runs<'a>) {
        for (name, epochs) in epochs {
            for releases in compatible_releases(epochs) {
                let last = releases.last().and_then(|last| self.0.get(last));
                if let Some((name, item)) = last.and_then(|items| items.get_key_value(&**name)) {
                    runs.entry(name).or_default().push(Run { releases, item });
                }
            }
        }
    }
}

/// Joins the releases of consecutive epochs that have no incompatible change between them.
fn compatible_releases<T>(epochs: &[Epoch<T>]) -> Vec<BTreeSet<Release>> {
    let mut joined: Vec<BTreeSet<Release>> = Vec::new();
    for epoch in epochs {
        let releases = epoch.releases.iter().map(|release| parse_minor(release));
        match joined.last_mut() {
            Some(run) if !epoch.breaks => run.extend(releases),
            _ => joined.push(releases.collect()),
        }
    }
    joined
}

fn older_declaration<'a>(
    name: &'a str,
    run: &Run<'a>,
    runs: &Runs<'a>,
    newest: &Catalog<'a>,
    timeline: &Timeline,
) -> OlderDeclaration<'a> {
    let span = run.span();
    let mut references = BTreeMap::new();
    for other in references::names(run.item) {
        let other_runs = runs.get(other).map_or(&[][..], Vec::as_slice);
        let mut older = other_runs.iter().rev().skip(1);
        let older = older.find(|it| it.releases.contains(&span.1));
        if let (Some(older), Some(api)) = (older, newest.declaring_api(other)) {
            references.insert(other, (api, older.module()));
        }
    }
    OlderDeclaration {
        name,
        item: run.item,
        release_text: timeline.spans(&run.releases),
        span,
        is_fillable: references.is_empty() && has_same_slots(run.item, newest.item(name)),
        references,
    }
}

/// Returns true if the newest table has every slot of the older one, with the same signature.
fn has_same_slots(older: &Item, newest: Option<&Item>) -> bool {
    let (Item::Struct(older), Some(Item::Struct(newest))) = (older, newest) else {
        return false;
    };
    let is_slot = |field: &&Field| matches!(field.ty, Type::Function(_));
    let mut slots = older.fields.iter().filter(is_slot);
    slots.all(|slot| {
        let found = newest.fields.iter().find(|it| it.name == slot.name);
        found.is_some_and(|it| it.ty.canonical() == slot.ty.canonical())
    })
}

/// Returns the doc of an epoch's module, from its name.
pub fn module_doc(module: &str) -> String {
    let release = module.trim_start_matches('v').replace('_', ".");
    format!("Layouts and signatures that began with {release} and that a later release broke.")
}
