//! Sets of releases, written as runs of known releases: `2.4-2.11 2.13`.

use crate::release::Release;
use std::collections::BTreeSet;

/// Returns the first and last release of each run in `set`. A run ends before a release of `known` that is not in
/// `set`.
pub fn from_set(set: &BTreeSet<Release>, known: &BTreeSet<Release>) -> Vec<(Release, Release)> {
    let mut runs: Vec<(Release, Release)> = Vec::new();
    let mut is_open = false;
    for release in known {
        match (set.contains(release), runs.last_mut().filter(|_| is_open)) {
            (true, Some(run)) => run.1 = *release,
            (true, None) => runs.push((*release, *release)),
            (false, _) => {}
        }
        is_open = set.contains(release);
    }
    runs
}

/// Returns the runs in `set` as text.
pub fn format(set: &BTreeSet<Release>, known: &BTreeSet<Release>) -> String {
    let texts: Vec<String> = from_set(set, known)
        .iter()
        .map(|(first, last)| match first == last {
            true => first.to_string(),
            false => format!("{first}-{last}"),
        })
        .collect();
    texts.join(" ")
}

/// Parses a set, or returns `None` if the text is malformed or names a release that is not in `known`.
pub fn parse(text: &str, known: &BTreeSet<Release>) -> Option<BTreeSet<Release>> {
    let mut set = BTreeSet::new();
    for run in text.split_whitespace() {
        let (first, last) = run.split_once('-').unwrap_or((run, run));
        let (first, last): (Release, Release) = (first.parse().ok()?, last.parse().ok()?);
        if first > last || !known.contains(&first) || !known.contains(&last) {
            return None;
        }
        set.extend(known.range(first..=last));
    }
    Some(set)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(names: &[&str]) -> BTreeSet<Release> {
        names.iter().map(|name| name.parse().unwrap()).collect()
    }

    #[test]
    fn runs_span_known_releases_only() {
        let known = set(&["2.4", "2.5", "2.9", "2.10", "2.11"]);
        for (names, text) in [
            (&["2.4", "2.5", "2.9"][..], "2.4-2.9"),
            (&["2.4", "2.9", "2.11"], "2.4 2.9 2.11"),
            (&["2.5", "2.10", "2.11"], "2.5 2.10-2.11"),
            (&[], ""),
        ] {
            assert_eq!(format(&set(names), &known), text);
            assert_eq!(parse(text, &known), Some(set(names)));
        }
    }

    #[test]
    fn rejects_malformed_runs_and_unknown_releases() {
        let known = set(&["2.4", "2.5"]);
        for text in ["2.5-2.4", "2.3", "2.4-", "x", "2.4-2.6"] {
            assert_eq!(parse(text, &known), None, "{text}");
        }
    }
}
