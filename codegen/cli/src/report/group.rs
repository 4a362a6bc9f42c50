//! Findings by API, and in it by the struct, enumeration or function that they are about. What breaks
//! comes first.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use sp_diff::finding::{Finding, Impact, Shown};

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
    /// Whether both have one finding, and nothing but the names tells them apart. What shows bytes or
    /// another declaration is looked at by itself.
    fn says_the_same(&self, other: &Self) -> bool {
        let ([one], [two]) = (&*self.findings, &*other.findings) else {
            return false;
        };
        let unnamed = |finding: &Finding, text: &str| text.replace(finding.owner(), "");
        let said = |finding: &Finding| {
            let both = &finding.directions;
            let parts = [
                &finding.message,
                &both.old_on_new.why,
                &both.new_on_old.why,
                &finding.remedy,
            ];
            let parts = parts.map(|part| unnamed(finding, part));
            (finding.rule, parts, finding.target.clone())
        };
        let plain = |finding: &Finding| {
            let text = |shown: &Option<Shown>| shown.as_ref().map(|one| one.text.clone());
            finding.bytes.is_empty() && text(&finding.before) == text(&finding.after)
        };
        plain(one) && plain(two) && said(one) == said(two)
    }

    /// The heaviest.
    pub fn impact(&self) -> Option<Impact> {
        self.findings.iter().map(|one| one.impact).max()
    }
}

impl<'a> Chapter<'a> {
    /// The items of which something breaks, or those of which nothing does.
    pub fn groups(&self, breaking: bool) -> impl Iterator<Item = &Group<'a>> {
        let is = move |group: &&Group| (group.impact() == Some(Impact::Breaking)) == breaking;
        self.groups.iter().filter(is)
    }

    /// All of its findings.
    pub fn findings(&self) -> impl Iterator<Item = &'a Finding> + Clone {
        self.groups
            .iter()
            .flat_map(|group| group.findings.iter().copied())
    }
}

/// Groups that say the same of their one item each stand together; the order is kept.
pub fn alike<'g, 'a>(groups: impl Iterator<Item = &'g Group<'a>>) -> Vec<Vec<&'g Group<'a>>> {
    let mut found: Vec<Vec<&Group>> = Vec::new();
    for group in groups {
        let same = |others: &&mut Vec<&Group>| group.says_the_same(others[0]);
        match found.iter_mut().find(same) {
            Some(others) => others.push(group),
            None => found.push(vec![group]),
        }
    }
    found
}

/// Findings by rule, the heaviest first.
pub fn by_rule<'a>(findings: impl Iterator<Item = &'a Finding>) -> Vec<Vec<&'a Finding>> {
    let mut rules: BTreeMap<_, Vec<&Finding>> = BTreeMap::new();
    for finding in findings {
        let key = (Reverse(finding.impact), finding.rule);
        rules.entry(key).or_default().push(finding);
    }
    rules.into_values().collect()
}

fn offset(finding: &Finding) -> Option<u64> {
    finding.bytes.iter().map(|slot| slot.offset).min()
}
