//! The changes of every release. The golden files were checked by hand against the headers. `SP_BLESS=1` writes them;
//! check each new breaking row.

use std::collections::{BTreeMap, BTreeSet};

use crate::releases;
use sp_diff::change::UnreportedReason;
use sp_diff::finding::{Effect, Impact, Outcome};
use sp_diff::pair::SurfacePair;
use sp_diff::rules::ChangeKind;
use sp_diff::{Diff, Finding, Surface, Verdict, changes, diff, rules};
use sp_ir::{Evidence, Field, Item, Visited};

/// Returns each release with the next one.
fn pairs(all: &[Surface]) -> impl Iterator<Item = (&Surface, &Surface)> {
    all.windows(2).map(|pair| (&pair[0], &pair[1]))
}

fn outcome_name(outcome: Outcome) -> String {
    let name = serde_json::to_value(outcome).unwrap();
    name.as_str().unwrap().to_string()
}

fn outcomes(effect: &Effect) -> String {
    let outcome = outcome_name(effect.outcome);
    match effect.outcome == effect.guarded {
        true => outcome,
        false => format!("{outcome} (guarded: {})", outcome_name(effect.guarded)),
    }
}

fn row(finding: &Finding) -> String {
    let Finding {
        rule,
        item,
        message,
        directions,
        ..
    } = finding;
    let target = finding.target.as_ref();
    let target = target.map_or(String::new(), |target| format!(" on {target}"));
    match finding.impact {
        Impact::Breaking => {
            let old_on_new = outcomes(&directions.old_on_new);
            let new_on_old = outcomes(&directions.new_on_old);
            format!("  BREAKING {rule} {item}{target}: {message} | {old_on_new} | {new_on_old}")
        }
        Impact::Reduced | Impact::Compatible => format!("  compatible {rule} {item}: {message}"),
        Impact::SourceOnly => format!("  source {rule} {item}"),
    }
}

fn table(diff: &Diff) -> String {
    let mut text = format!(
        "{} -> {}: {:?}, {:?}\n",
        diff.old, diff.new, diff.verdict, diff.bump
    );
    let mut api = "";
    for finding in &diff.findings {
        if finding.api != api {
            text += &format!(" {}\n", finding.api);
            api = &finding.api;
        }
        text += &row(finding);
        text.push('\n');
    }
    text
}

#[test]
fn findings_of_every_release_equal_golden_files() {
    for (old, new) in pairs(&releases::all()) {
        let text = table(&diff(old, new, releases::TARGET));
        let path = format!("codegen/cli/tests/abi/history/{}.txt", new.label);
        sp_tests::assert_golden(&path, &text);
    }
}

#[test]
fn every_release_is_identical_to_itself() {
    for release in releases::all() {
        let same = diff(&release, &release, releases::TARGET);
        assert_eq!(same.verdict, Verdict::Identical, "{}", table(&same));
    }
}

#[test]
fn reported_changes_have_findings_of_listed_rules() {
    for (old, new) in pairs(&releases::all()) {
        let pair = SurfacePair::new(old, new, releases::TARGET);
        for change in changes::find(&pair) {
            let finding = rules::judge(&pair, &change);
            let is_reported = !matches!(change.kind, ChangeKind::Unreported(_));
            assert_eq!(finding.is_some(), is_reported, "{change:?}");
            if let Some(finding) = finding {
                let mut rules = rules::RULES.iter();
                assert!(rules.any(|rule| rule.id == finding.rule), "{finding:?}");
            }
        }
    }
}

#[test]
fn reverse_diff_has_the_same_effects() {
    for (old, new) in pairs(&releases::all()) {
        let forward = diff(old, new, releases::TARGET);
        let reverse = diff(new, old, releases::TARGET);
        let mut by_item: BTreeMap<(&str, &str), Vec<&Finding>> = BTreeMap::new();
        for finding in &reverse.findings {
            let key = (finding.api.as_str(), finding.item.as_str());
            by_item.entry(key).or_default().push(finding);
        }
        let breaking = forward.findings.iter();
        for finding in breaking.filter(|finding| finding.is_breaking()) {
            let key = (finding.api.as_str(), &*item_of_reverse(finding));
            let others = by_item.get(&key).map_or(&[][..], Vec::as_slice);
            assert!(
                others.iter().any(|other| has_same_effects(finding, other)),
                "{finding:#?}\n{others:#?}"
            );
        }
    }
}

/// Returns the item of the finding in the reverse diff. A replaced member has the name of OLD's member.
fn item_of_reverse(finding: &Finding) -> String {
    let new_name = finding.bytes.first().and_then(|range| range.new.as_deref());
    let (owner, _) = finding.item.rsplit_once('.').unwrap_or_default();
    match finding.rule {
        "field_replaced" => format!("{owner}.{}", new_name.unwrap_or_default()),
        _ => finding.item.clone(),
    }
}

fn has_same_effects(forward: &Finding, reverse: &Finding) -> bool {
    let (forward, reverse) = (&forward.directions, &reverse.directions);
    let is_same = |left: &Effect, right: &Effect| {
        (left.outcome, left.guarded) == (right.outcome, right.guarded)
    };
    is_same(&forward.old_on_new, &reverse.new_on_old)
        && is_same(&forward.new_on_old, &reverse.old_on_new)
}

#[test]
fn unreported_changes_have_the_expected_reasons() {
    let all = releases::all();
    let mut reasons: BTreeMap<UnreportedReason, usize> = BTreeMap::new();
    for (old, new) in pairs(&all) {
        for change in changes::find(&SurfacePair::new(old, new, releases::TARGET)) {
            if let ChangeKind::Unreported(reason) = change.kind {
                *reasons.entry(reason).or_default() += 1;
            }
        }
    }
    let expected = [
        UnreportedReason::Alias,
        UnreportedReason::MacroForEnumerator,
        UnreportedReason::Consequence,
        UnreportedReason::VersionMacro,
    ];
    for reason in expected {
        assert!(reasons.contains_key(&reason), "{reason:?} in {reasons:?}");
    }
}

/// Returns the item without docs, locations, evidence, and notes for generated code.
fn facts_only(item: &Item) -> Item {
    let mut item = item.clone();
    item.visit_mut(&mut |visited| match visited {
        Visited::Loc(loc) => (loc.file, loc.line) = (String::new(), 0),
        Visited::Evidence(evidence) => *evidence = Evidence::Prefix,
    });
    let remove_docs = |fields: &mut Vec<Field>| {
        for field in fields {
            (field.doc, field.section) = (None, None);
        }
    };
    match &mut item {
        Item::Struct(item) => {
            (item.doc, item.author_trait, item.discriminator) = (None, None, None);
            remove_docs(&mut item.fields);
        }
        Item::Union(item) => {
            (item.doc, item.discriminator) = (None, None);
            remove_docs(&mut item.fields);
        }
        Item::Function(item) => (item.doc, item.instead) = (None, None),
        Item::Handle(item) => (item.doc, item.rust) = (None, None),
        Item::Enum(item) => item.doc = None,
        Item::Alias(item) => item.doc = None,
        Item::Callback(item) => item.doc = None,
        Item::Constant(item) => item.doc = None,
    }
    item
}

#[test]
fn every_difference_of_a_fact_is_a_change() {
    for (old, new) in pairs(&releases::all()) {
        let pair = SurfacePair::new(old, new, releases::TARGET);
        let changes = changes::find(&pair);
        let names = changes
            .iter()
            .map(|change| change.item.split(['.', '(']).next().unwrap());
        let names: BTreeSet<&str> = names.collect();
        let items = |side: &Surface| -> BTreeMap<String, Item> {
            let all = side.apis.iter().flat_map(|api| &api.items);
            all.map(|(name, item)| (name.clone(), facts_only(item)))
                .collect()
        };
        let (old_items, new_items) = (items(old), items(new));
        for name in old_items.keys().chain(new_items.keys()) {
            let is_unchanged = old_items.get(name) == new_items.get(name);
            if is_unchanged || names.contains(name.as_str()) {
                continue;
            }
            // A renamed or aliased item is compared under its other name.
            let renamed = pair.renamed.get(name).or_else(|| pair.aliased.get(name));
            let other = renamed.unwrap_or_else(|| {
                let (old, new) = (&old.label, &new.label);
                panic!("{name} differs between {old} and {new}, without a change")
            });
            assert!(names.contains(other.as_str()), "{name}");
        }
    }
}
