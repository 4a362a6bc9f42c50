//! What breaks on another target only: the same comparison with that target's layouts, less what the
//! first one has found.

use std::collections::BTreeSet;

use super::finding::{Finding, Impact};
use super::pair::Pair;
use super::surface::Surface;

/// The target that a snapshot's items describe.
const DESCRIBED: &str = "x86_64-unknown-linux-gnu";

/// The breaking findings of targets other than `target`, each under the first that has it.
pub fn findings<'a>(
    pair: &Pair<'a>,
    old: &'a Surface,
    new: &'a Surface,
    target: &str,
    known: &[Finding],
) -> Vec<Finding> {
    let key = |one: &Finding| (one.rule, one.item.clone());
    let mut seen: BTreeSet<_> = known
        .iter()
        .filter(|one| one.impact == Impact::Breaking)
        .map(key)
        .collect();
    let mut found = Vec::new();
    for other in others(old, new, target) {
        let pair = pair.elsewhere(old, new, other);
        let changes = super::changes::of_items(&pair);
        for mut finding in super::judged(&pair, &changes) {
            if finding.impact == Impact::Breaking && seen.insert(key(&finding)) {
                finding.target = Some(other.into());
                found.push(finding);
            }
        }
    }
    found
}

fn others<'a>(old: &'a Surface, new: &'a Surface, target: &str) -> BTreeSet<&'a str> {
    // Layouts that are known for one target only say nothing of another.
    if old.target.is_some() || new.target.is_some() {
        return BTreeSet::new();
    }
    let apis = old.apis.iter().chain(&new.apis);
    let triples = apis.flat_map(|api| api.targets.keys().map(String::as_str));
    triples
        .chain([DESCRIBED])
        .filter(|other| *other != target)
        .collect()
}
