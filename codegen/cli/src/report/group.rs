//! Groups findings by API, and then by struct, enumeration or function. Breaking findings come first.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

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

/// The rule, the texts without the name, and the target of a finding.
type Content<'a> = (&'static str, [String; 4], Option<&'a str>);

impl<'a> ItemFindings<'a> {
    /// Returns what items have in common that differ only in their names. Returns `None` for an item that has several
    /// findings, or one that shows bytes or different declarations: it is equal to no other.
    fn content(&self) -> Option<Content<'a>> {
        let [finding] = &*self.findings else {
            return None;
        };
        let text = |declaration: &'a Option<DeclarationText>| {
            let declaration = declaration.as_ref();
            declaration.map(|declaration| &declaration.text)
        };
        let is_plain = finding.bytes.is_empty() && text(&finding.before) == text(&finding.after);
        let directions = &finding.directions;
        let texts = [
            &finding.message,
            &directions.old_on_new.why,
            &directions.new_on_old.why,
            &finding.remedy,
        ];
        let texts = || texts.map(|text| text.replace(finding.owner(), ""));
        is_plain.then(|| (finding.rule, texts(), finding.target.as_deref()))
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
    let mut positions: HashMap<Content, usize> = HashMap::new();
    for item in items {
        let next = groups.len();
        let content = item.content();
        let position = content.map_or(next, |it| *positions.entry(it).or_insert(next));
        match groups.get_mut(position) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use sp_diff::sample;
    use std::time::Instant;

    #[test]
    fn many_items_are_merged_in_linear_time() {
        let finding = sample::diff().findings.swap_remove(0);
        // Each message differs, so that each item is a group of its own.
        let findings: Vec<Finding> = (0..40_000)
            .map(|index| Finding {
                item: format!("TF_Function{index}"),
                message: format!("argument {index} was retyped"),
                bytes: Vec::new(),
                before: None,
                after: None,
                ..finding.clone()
            })
            .collect();
        let apis = group_by_api(findings.iter());
        let start = Instant::now();
        assert_eq!(merge_equal(apis[0].items.iter()).len(), findings.len());
        assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
    }
}
