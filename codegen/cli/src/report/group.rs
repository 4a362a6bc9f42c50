//! Findings by API, and in it by the struct, enumeration or function that they are about. What breaks
//! comes first.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::abi::finding::{Finding, Impact};

/// What is said of one API.
#[derive(Debug)]
pub struct Chapter<'a> {
    /// The API.
    pub api: &'a str,
    /// Its items.
    pub groups: Vec<Group<'a>>,
}

/// What is said of one item and its members.
#[derive(Debug)]
pub struct Group<'a> {
    /// The item: `SP_StreamExecutor`.
    pub item: &'a str,
    /// The heaviest first; else as the bytes lie.
    pub findings: Vec<&'a Finding>,
}

/// All chapters, in the order of the APIs' names.
pub fn chapters<'a>(findings: impl Iterator<Item = &'a Finding>) -> Vec<Chapter<'a>> {
    let mut apis: BTreeMap<&str, BTreeMap<&str, Vec<&Finding>>> = BTreeMap::new();
    for finding in findings {
        let items = apis.entry(&finding.api).or_default();
        items.entry(finding.owner()).or_default().push(finding);
    }
    let chapters = apis.into_iter().map(|(api, items)| {
        let groups = items.into_iter().map(|(item, mut findings)| {
            findings.sort_by_key(|one| (Reverse(one.impact), offset(one)));
            Group { item, findings }
        });
        let mut groups: Vec<Group> = groups.collect();
        groups.sort_by_key(|group| Reverse(group.impact()));
        Chapter { api, groups }
    });
    chapters.collect()
}

impl Group<'_> {
    /// The heaviest.
    pub fn impact(&self) -> Option<Impact> {
        self.findings.iter().map(|one| one.impact).max()
    }
}

impl<'a> Chapter<'a> {
    /// All of its findings.
    pub fn findings(&self) -> impl Iterator<Item = &'a Finding> + Clone {
        self.groups
            .iter()
            .flat_map(|group| group.findings.iter().copied())
    }
}

fn offset(finding: &Finding) -> Option<u64> {
    finding.bytes.iter().map(|slot| slot.offset).min()
}
