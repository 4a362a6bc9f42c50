//! A diff as one page that needs nothing else: what breaks first, equal findings together, with filters by API and
//! impact.

use askama::Template;

use super::tokens::{self, Part};
use super::view::View;
use super::{Report, word};
use sp_diff::finding::{Effect, Finding, Impact, Shown};

#[derive(Template)]
#[template(path = "report/diff.html.jinja")]
struct Page<'a> {
    view: View<'a>,
    sections: Vec<Section<'a>>,
}

/// The findings of one impact.
struct Section<'a> {
    impact: String,
    apis: Vec<(&'a str, Vec<Equal<'a>>)>,
    count: usize,
}

/// Findings of an API that nothing but the names tells apart.
struct Equal<'a> {
    findings: Vec<&'a Finding>,
}

/// A declaration of one side.
struct Declaration<'a> {
    side: &'a str,
    shown: Option<&'a Shown>,
    parts: Vec<Part>,
}

/// The page, ending in one newline.
///
/// # Errors
/// Where the template fails.
pub fn html(report: &Report) -> askama::Result<String> {
    let view = View::of(report);
    let impacts = [Impact::Breaking, Impact::Compatible, Impact::SourceOnly];
    let sections = impacts.map(|impact| section(&view, impact));
    let sections = sections.into_iter().filter(|one| one.count > 0).collect();
    Page { view, sections }
        .render()
        .map(|text| text.trim_end().to_owned() + "\n")
}

fn section<'a>(view: &View<'a>, impact: Impact) -> Section<'a> {
    let of_impact = |finding: &&Finding| finding.impact == impact;
    let apis = view.chapters.iter().map(|chapter| {
        let findings: Vec<&'a Finding> = chapter.findings().filter(of_impact).collect();
        (chapter.api, equal(findings))
    });
    let apis: Vec<_> = apis.filter(|(_, groups)| !groups.is_empty()).collect();
    let counts = apis.iter().flat_map(|(_, groups)| groups);
    Section {
        impact: word(impact),
        count: counts.map(|group| group.findings.len()).sum(),
        apis,
    }
}

/// Groups findings; the order of the first of each group is kept.
fn equal(findings: Vec<&Finding>) -> Vec<Equal<'_>> {
    let mut groups: Vec<Equal> = Vec::new();
    for finding in findings {
        let is_equal = |group: &&mut Equal| says_the_same(group.findings[0], finding);
        match groups.iter_mut().find(is_equal) {
            Some(group) => group.findings.push(finding),
            None => groups.push(Equal {
                findings: vec![finding],
            }),
        }
    }
    groups
}

/// Returns true if only the names differ. Findings that show bytes stay alone.
fn says_the_same(one: &Finding, two: &Finding) -> bool {
    let said = |finding: &Finding| {
        let both = [
            &finding.directions.old_on_new,
            &finding.directions.new_on_old,
        ];
        let parts = [
            &finding.message,
            &both[0].why,
            &both[1].why,
            &finding.remedy,
        ];
        let parts = parts.map(|text| unnamed(finding, text));
        let outcomes = both.map(|effect| (effect.outcome, effect.guarded));
        (finding.rule, parts, outcomes, finding.target.clone())
    };
    one.bytes.is_empty() && two.bytes.is_empty() && said(one) == said(two)
}

fn unnamed(finding: &Finding, text: &str) -> String {
    text.replace(finding.owner(), "it")
}

impl<'a> Equal<'a> {
    fn first(&self) -> &'a Finding {
        self.findings[0]
    }

    /// Returns `text` of the first finding; without its name if it stands for several.
    fn shared(&self, text: &str) -> String {
        match self.findings.len() {
            1 => text.to_owned(),
            _ => unnamed(self.first(), text),
        }
    }

    /// Returns both directions, each with what it is about.
    fn effects(&self, view: &View<'a>) -> [(String, &'a Effect); 2] {
        let directions = &self.first().directions;
        [
            (
                format!("{} on {}", view.old, view.new),
                &directions.old_on_new,
            ),
            (
                format!("{} on {}", view.new, view.old),
                &directions.new_on_old,
            ),
        ]
    }
}

/// What stands at a place of a struct.
fn member(name: &Option<String>) -> &str {
    name.as_deref().unwrap_or("·")
}

/// Returns both declarations, each with the side that has it or lacks it; one where both read the same.
fn declarations<'a>(view: &View<'a>, finding: &'a Finding) -> Vec<Declaration<'a>> {
    let (before, after) = (finding.before.as_ref(), finding.after.as_ref());
    let text = |shown: Option<&'a Shown>| shown.map_or("", |one| one.text.as_str());
    let (old, new) = (text(before), text(after));
    let (left, right) = match before.is_some() && after.is_some() {
        true => tokens::compare(old, new),
        false => (tokens::whole(old), tokens::whole(new)),
    };
    let declaration = |side, shown, parts| Declaration { side, shown, parts };
    let mut both = vec![
        declaration(view.old, before, left),
        declaration(view.new, after, right),
    ];
    if before.is_some() == after.is_some() && old == new {
        both.remove(0);
    }
    both
}
