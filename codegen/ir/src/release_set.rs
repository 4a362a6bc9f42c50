//! Sets of releases, written as runs: `2.5..2.7 2.9..`.

use crate::Release;
use std::fmt;
use std::str::FromStr;

/// Consecutive releases: `2.5..2.7`, or `2.9..` if the run is open-ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReleaseRun {
    /// The first release.
    pub first: Release,
    /// The last release, or `None` if the run also contains all releases that are not known yet.
    pub last: Option<Release>,
}

/// A set of releases, as runs in their order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReleaseSet {
    runs: Vec<ReleaseRun>,
}

impl ReleaseRun {
    /// Returns true if the run contains `release`, or the minor release of it.
    pub fn contains(self, release: Release) -> bool {
        let release = release.key();
        self.first <= release && self.last.is_none_or(|last| release <= last)
    }
}

impl ReleaseRun {
    /// Returns true if `next`, which does not begin earlier, overlaps this run or follows it immediately.
    fn touches(self, next: Self) -> bool {
        let after = |last: Release| Release::from_minor(last.major, last.minor + 1);
        self.last
            .is_none_or(|last| next.first <= last || next.first == after(last))
    }
}

impl ReleaseSet {
    /// Returns the set of `first` and all later releases.
    pub fn since(first: Release) -> Self {
        Self {
            runs: vec![ReleaseRun { first, last: None }],
        }
    }

    /// Returns the set of the releases in `known` that satisfy `contains`. `known` is sorted, oldest first. A run that
    /// contains the newest of them is open-ended.
    pub fn from_known(known: &[Release], contains: impl Fn(Release) -> bool) -> Self {
        let mut runs: Vec<ReleaseRun> = Vec::new();
        let mut open: Option<ReleaseRun> = None;
        for release in known.iter().copied() {
            open = match (contains(release), open) {
                (true, None) => Some(run(release, release)),
                (true, Some(open)) => Some(run(open.first, release)),
                (false, open) => {
                    runs.extend(open);
                    None
                }
            };
        }
        runs.extend(open.map(|open| ReleaseRun { last: None, ..open }));
        Self { runs }
    }

    /// Returns the set of the releases in `self` or `other`. Runs are joined if no minor release is between them.
    pub fn union(&self, other: &Self) -> Self {
        let mut all = [&self.runs[..], &other.runs].concat();
        all.sort_by_key(|run| run.first);
        let mut runs: Vec<ReleaseRun> = Vec::new();
        for run in all {
            match runs.last_mut().filter(|last| last.touches(run)) {
                Some(last) => last.last = last.last.and_then(|end| Some(end.max(run.last?))),
                None => runs.push(run),
            }
        }
        Self { runs }
    }

    /// Returns true if the set contains `release`, or the minor release of it.
    pub fn contains(&self, release: Release) -> bool {
        self.runs.iter().any(|run| run.contains(release))
    }

    /// Returns true if the set has no releases.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Returns the first release, or `None` if the set is empty.
    pub fn first(&self) -> Option<Release> {
        self.runs.first().map(|run| run.first)
    }

    /// Returns the runs, oldest first.
    pub fn runs(&self) -> &[ReleaseRun] {
        &self.runs
    }
}

fn run(first: Release, last: Release) -> ReleaseRun {
    ReleaseRun {
        first,
        last: Some(last),
    }
}

impl fmt::Display for ReleaseRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..", self.first)?;
        self.last.map_or(Ok(()), |last| write!(f, "{last}"))
    }
}

impl fmt::Display for ReleaseSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, run) in self.runs.iter().enumerate() {
            let space = if index == 0 { "" } else { " " };
            write!(f, "{space}{run}")?;
        }
        Ok(())
    }
}

impl FromStr for ReleaseSet {
    type Err = String;

    /// Parses a set in the format of `Display`.
    fn from_str(text: &str) -> Result<Self, String> {
        let runs: Option<Vec<ReleaseRun>> = text.split(' ').map(parse_run).collect();
        let is_before = |pair: &[ReleaseRun]| pair[0].last.is_some_and(|last| last < pair[1].first);
        runs.filter(|runs| runs.windows(2).all(is_before))
            .map(|runs| Self { runs })
            .ok_or_else(|| {
                format!("invalid releases `{text}`: expected runs such as `2.5..2.7 2.9..`")
            })
    }
}

fn parse_run(text: &str) -> Option<ReleaseRun> {
    let (first, last) = text.split_once("..")?;
    let first: Release = first.parse().ok()?;
    let last: Option<Release> = match last {
        "" => None,
        last => Some(last.parse().ok()?),
    };
    let is_ordered = last.is_none_or(|last| first <= last);
    is_ordered.then_some(ReleaseRun { first, last })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn release(text: &str) -> Release {
        text.parse().unwrap()
    }

    #[test]
    fn run_with_newest_release_is_open_ended() {
        let known = ["2.5", "2.6", "2.9", "2.10", "2.11"].map(release);
        for (members, text) in [
            (&["2.5", "2.6", "2.9"][..], "2.5..2.9"),
            (&["2.5", "2.9", "2.11"], "2.5..2.5 2.9..2.9 2.11.."),
            (&["2.5", "2.6", "2.9", "2.10", "2.11"], "2.5.."),
        ] {
            let members: Vec<Release> = members.iter().map(|text| release(text)).collect();
            let set = ReleaseSet::from_known(&known, |release| members.contains(&release));
            assert_eq!(set.to_string(), text);
            assert_eq!(text.parse(), Ok(set));
        }
        assert!(ReleaseSet::from_known(&known, |_| false).is_empty());
    }

    #[test]
    fn contains_versions_of_its_minor_releases() {
        let set: ReleaseSet = "2.5..2.7 2.9..".parse().unwrap();
        for text in ["2.5", "2.7.4", "2.9.3", "2.22.0rc0", "2.23.0.dev20261026"] {
            assert!(set.contains(release(text)), "{text}");
        }
        for text in ["2.4", "2.8", "2.8.4"] {
            assert!(!set.contains(release(text)), "{text}");
        }
    }

    #[test]
    fn union_joins_runs_without_a_release_between_them() {
        let set = |text: &str| text.parse::<ReleaseSet>().unwrap();
        for (left, right, union) in [
            ("2.5..2.7", "2.8..", "2.5.."),
            ("2.8..", "2.5..2.6", "2.5..2.6 2.8.."),
            ("2.5..2.9", "2.6..2.7", "2.5..2.9"),
            ("2.5..2.6 2.9..2.9", "2.7..2.8", "2.5..2.9"),
        ] {
            assert_eq!(set(left).union(&set(right)), set(union));
        }
        assert_eq!(ReleaseSet::default().union(&set("2.5..")), set("2.5.."));
    }

    #[test]
    fn rejects_unordered_and_malformed_runs() {
        for text in [
            "",
            "2.5",
            "2.7..2.5",
            "2.5.. 2.7..",
            "2.5..2.7 2.7..",
            "2.5..2.7  2.9..",
            "x..",
        ] {
            let error = text.parse::<ReleaseSet>().unwrap_err();
            assert!(error.contains(&format!("`{text}`")), "{error}");
        }
    }
}
