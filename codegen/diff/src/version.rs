//! Whether an API's version moved as far as its changes ask.

use std::collections::BTreeMap;

use super::change::{Both, Change, Kind};
use super::finding::{Bump, Finding};
use super::pair::Pair;

/// The changes of versions, after all other findings.
pub fn changes<'p>(pair: &'p Pair, findings: &[Finding]) -> Vec<Change<'p>> {
    let mut asked: BTreeMap<&str, Bump> = BTreeMap::new();
    for one in findings.iter().filter(|one| one.target.is_none()) {
        let bump = asked.entry(&one.api).or_insert(Bump::None);
        *bump = (*bump).max(one.bump);
    }
    let both = pair.new.apis.iter().filter_map(|(name, new)| {
        let old = pair.old.apis.get(name)?;
        let said = Both {
            old: old.version.as_deref(),
            new: new.version.as_deref(),
        };
        let asked = asked.get(name).copied().unwrap_or(Bump::None);
        let is_news = said.old != said.new || asked >= Bump::Minor;
        (is_news && said.old.is_some() && said.new.is_some()).then(|| Change {
            api: name,
            item: (*name).to_string(),
            kind: Kind::Version { said, asked },
            old: None,
            new: None,
        })
    });
    let mut found: Vec<Change> = both.collect();
    found.sort_by_key(|change| change.api);
    found
}

/// How far a version moved. A version that went back did not move.
pub fn moved(said: Both<Option<&str>>) -> Bump {
    let parts = |text: Option<&str>| -> Vec<u64> {
        let parts = text.unwrap_or_default().split('.');
        parts.map(|part| part.parse().unwrap_or(0)).collect()
    };
    let (old, new) = (parts(said.old), parts(said.new));
    let differs = old.iter().zip(&new).position(|(old, new)| old != new);
    match differs {
        Some(at) if new[at] < old[at] => Bump::None,
        Some(0) => Bump::Major,
        Some(1) => Bump::Minor,
        Some(_) => Bump::Patch,
        None => Bump::None,
    }
}

/// The word for a bump.
pub fn word(bump: Bump) -> &'static str {
    match bump {
        Bump::None => "no",
        Bump::Patch => "patch",
        Bump::Minor => "minor",
        Bump::Major => "major",
    }
}
