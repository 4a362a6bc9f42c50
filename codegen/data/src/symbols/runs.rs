//! Sets of releases as runs: `2.4-2.11 2.13`, over the releases that a table knows.

use crate::release::Release;
use std::collections::BTreeSet;

/// A set's runs, first and last release of each; one ends where a known release is missing.
pub fn of(set: &BTreeSet<Release>, known: &BTreeSet<Release>) -> Vec<(Release, Release)> {
    let mut runs: Vec<(Release, Release)> = Vec::new();
    let mut open = false;
    for release in known {
        match (set.contains(release), runs.last_mut().filter(|_| open)) {
            (true, Some(run)) => run.1 = *release,
            (true, None) => runs.push((*release, *release)),
            (false, _) => {}
        }
        open = set.contains(release);
    }
    runs
}

/// Writes a set as runs.
pub fn write(set: &BTreeSet<Release>, known: &BTreeSet<Release>) -> String {
    let texts: Vec<String> = of(set, known)
        .iter()
        .map(|(first, last)| match first == last {
            true => first.to_string(),
            false => format!("{first}-{last}"),
        })
        .collect();
    texts.join(" ")
}

/// Reads a set; nothing where the text is none or names a release that is not known.
pub fn read(text: &str, known: &BTreeSet<Release>) -> Option<BTreeSet<Release>> {
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
    fn runs_are_over_what_is_known() {
        let known = set(&["2.4", "2.5", "2.9", "2.10", "2.11"]);
        for (names, text) in [
            (&["2.4", "2.5", "2.9"][..], "2.4-2.9"),
            (&["2.4", "2.9", "2.11"], "2.4 2.9 2.11"),
            (&["2.5", "2.10", "2.11"], "2.5 2.10-2.11"),
            (&[], ""),
        ] {
            assert_eq!(write(&set(names), &known), text);
            assert_eq!(read(text, &known), Some(set(names)));
        }
    }

    #[test]
    fn what_is_no_run_is_refused() {
        let known = set(&["2.4", "2.5"]);
        for text in ["2.5-2.4", "2.3", "2.4-", "x", "2.4-2.6"] {
            assert_eq!(read(text, &known), None, "{text}");
        }
    }
}
