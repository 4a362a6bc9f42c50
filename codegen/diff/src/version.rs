//! Comparison of the change of an API's version with the bump that its findings require.

use std::collections::BTreeMap;

use super::change::OldNew;
use super::finding::{Bump, Finding};
use super::pair::SurfacePair;
use super::rules::{Change, ChangeKind};

/// Returns the changes of versions. `findings` are all other findings.
pub fn changes<'p>(pair: &'p SurfacePair, findings: &[Finding]) -> Vec<Change<'p>> {
    let required = required_bumps(findings);
    let changes = pair.new.apis.iter().filter_map(|(name, new)| {
        let old = pair.old.apis.get(name)?;
        let versions = OldNew::new(old.version.as_deref()?, new.version.as_deref()?);
        let required = required.get(name).copied().unwrap_or(Bump::None);
        let is_reported = versions.old != versions.new || required >= Bump::Minor;
        is_reported.then(|| Change {
            api: name,
            item: (*name).to_string(),
            kind: match bump(versions) >= required {
                true => ChangeKind::VersionChanged(versions),
                false => ChangeKind::VersionUnbumped(versions, required),
            },
            old: None,
            new: None,
        })
    });
    let mut changes: Vec<Change> = changes.collect();
    changes.sort_by_key(|change| change.api);
    changes
}

/// Returns the largest bump of each API's findings on the diff's own target.
fn required_bumps(findings: &[Finding]) -> BTreeMap<&str, Bump> {
    let mut required: BTreeMap<&str, Bump> = BTreeMap::new();
    for finding in findings.iter().filter(|finding| finding.target.is_none()) {
        let bump = required.entry(&finding.api).or_insert(Bump::None);
        *bump = (*bump).max(finding.bump);
    }
    required
}

/// Returns the bump from the old to the new version. A lower new version is no bump.
fn bump(versions: OldNew<&str>) -> Bump {
    let components = |text: &str| -> Vec<u64> {
        let components = text.split('.');
        components
            .map(|component| component.parse().unwrap_or(0))
            .collect()
    };
    let (old, new) = (components(versions.old), components(versions.new));
    let first_difference = old.iter().zip(&new).position(|(old, new)| old != new);
    match first_difference {
        Some(index) if new[index] < old[index] => Bump::None,
        Some(0) => Bump::Major,
        Some(1) => Bump::Minor,
        Some(_) => Bump::Patch,
        None => Bump::None,
    }
}
