//! Findings that exist on another target only: the same comparison with the layouts of that target, without the
//! findings of the diff's own target.

use std::collections::BTreeSet;

use super::finding::Finding;
use super::pair::SurfacePair;
use super::surface::Surface;

/// The target of the layouts in a snapshot's items.
const SNAPSHOT_TARGET: &str = "x86_64-unknown-linux-gnu";

/// Returns the breaking findings of targets other than `target`, each for the first target that has it.
pub fn findings<'a>(
    pair: &SurfacePair<'a>,
    old: &'a Surface,
    new: &'a Surface,
    target: &str,
    known: &[Finding],
) -> Vec<Finding> {
    let key = |finding: &Finding| (finding.rule, finding.item.clone());
    let breaking = known.iter().filter(|finding| finding.is_breaking());
    let mut reported: BTreeSet<_> = breaking.map(key).collect();
    let mut found = Vec::new();
    for other in other_targets(old, new, target) {
        let pair = pair.for_target(old, new, other);
        let changes = super::changes::find_in_common_items(&pair);
        for mut finding in super::judge_all(&pair, &changes) {
            if finding.is_breaking() && reported.insert(key(&finding)) {
                finding.target = Some(other.into());
                found.push(finding);
            }
        }
    }
    found
}

fn other_targets<'a>(old: &'a Surface, new: &'a Surface, target: &str) -> BTreeSet<&'a str> {
    // A side that was read for one target has no layouts of others.
    if old.target.is_some() || new.target.is_some() {
        return BTreeSet::new();
    }
    let apis = old.apis.iter().chain(&new.apis);
    let triples = apis.flat_map(|api| api.targets.keys().map(String::as_str));
    let triples = triples.chain([SNAPSHOT_TARGET]);
    triples.filter(|other| *other != target).collect()
}
