//! Groups findings by API, and then by struct, enumeration or function. Breaking findings come first.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use sp_diff::finding::{DeclarationText, Finding, Impact};

/// The findings of one API.
#[derive(Debug)]
pub struct ApiFindings<'a> {
    /// The API.
    pub api: &'a str,
    /// The findings by item.
    pub items: Vec<ItemFindings<'a>>,
}

/// The findings about one item and its members.
#[derive(Debug)]
pub struct ItemFindings<'a> {
    /// The item: `SP_StreamExecutor`.
    pub item: &'a str,
    /// The findings, sorted by impact and then by offset.
    pub findings: Vec<&'a Finding>,
}

/// Groups findings by API, in the order of the APIs' names.
pub fn group_by_api<'a>(findings: impl Iterator<Item = &'a Finding>) -> Vec<ApiFindings<'a>> {
    let mut apis: BTreeMap<&str, BTreeMap<&str, Vec<&Finding>>> = BTreeMap::new();
    for finding in findings {
        let items = apis.entry(&finding.api).or_default();
        items.entry(finding.owner()).or_default().push(finding);
    }
    let groups = apis.into_iter().map(|(api, items)| {
        let items = items.into_iter().map(|(item, mut findings)| {
            findings.sort_by_key(|finding| (Reverse(finding.impact), first_offset(finding)));
            ItemFindings { item, findings }
        });
        let mut items: Vec<ItemFindings> = items.collect();
        items.sort_by_key(|item| Reverse(item.impact()));
        ApiFindings { api, items }
    });
    groups.collect()
}

impl ItemFindings<'_> {
    /// Returns true if both items have one finding and only the names differ. A finding that shows bytes or different
    /// declarations is equal to no other.
    fn is_equal_except_name(&self, other: &Self) -> bool {
        let ([finding], [other]) = (&*self.findings, &*other.findings) else {
            return false;
        };
        let without_name = |finding: &Finding, text: &str| text.replace(finding.owner(), "");
        let texts = |finding: &Finding| {
            let directions = &finding.directions;
            let texts = [
                &finding.message,
                &directions.old_on_new.why,
                &directions.new_on_old.why,
                &finding.remedy,
            ];
            let texts = texts.map(|text| without_name(finding, text));
            (finding.rule, texts, finding.target.clone())
        };
        let is_plain = |finding: &Finding| {
            let text = |declaration: &Option<DeclarationText>| {
                let declaration = declaration.as_ref();
                declaration.map(|declaration| declaration.text.clone())
            };
            finding.bytes.is_empty() && text(&finding.before) == text(&finding.after)
        };
        is_plain(finding) && is_plain(other) && texts(finding) == texts(other)
    }

    /// Returns the highest impact of the findings.
    pub fn impact(&self) -> Option<Impact> {
        self.findings.iter().map(|finding| finding.impact).max()
    }
}

impl<'a> ApiFindings<'a> {
    /// Returns the items with a finding that is reported with its effects, or those without.
    pub fn items(&self, notable: bool) -> impl Iterator<Item = &ItemFindings<'a>> {
        let matches =
            move |item: &&ItemFindings| (item.impact() >= Some(Impact::Reduced)) == notable;
        self.items.iter().filter(matches)
    }

    /// Returns all findings of the API.
    pub fn findings(&self) -> impl Iterator<Item = &'a Finding> + Clone {
        self.items
            .iter()
            .flat_map(|item| item.findings.iter().copied())
    }
}

/// Merges items whose findings are equal except for the names. The order of the first of each group is kept.
pub fn merge_equal<'g, 'a>(
    items: impl Iterator<Item = &'g ItemFindings<'a>>,
) -> Vec<Vec<&'g ItemFindings<'a>>> {
    let mut groups: Vec<Vec<&ItemFindings>> = Vec::new();
    for item in items {
        let is_equal = |group: &&mut Vec<&ItemFindings>| item.is_equal_except_name(group[0]);
        match groups.iter_mut().find(is_equal) {
            Some(group) => group.push(item),
            None => groups.push(vec![item]),
        }
    }
    groups
}

/// Groups findings by rule, those with the highest impact first.
pub fn group_by_rule<'a>(findings: impl Iterator<Item = &'a Finding>) -> Vec<Vec<&'a Finding>> {
    let mut rules: BTreeMap<_, Vec<&Finding>> = BTreeMap::new();
    for finding in findings {
        let key = (Reverse(finding.impact), finding.rule);
        rules.entry(key).or_default().push(finding);
    }
    rules.into_values().collect()
}

fn first_offset(finding: &Finding) -> Option<u64> {
    finding.bytes.iter().map(|range| range.offset).min()
}
