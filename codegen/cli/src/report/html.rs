//! A diff as one self-contained HTML page: breaking findings first, equal findings together, with filters by API and
//! impact.

use askama::Template;

use super::tokens::{self, TextPart};
use super::view::ReportView;
use super::{DiffReport, display_name};
use sp_diff::finding::{DeclarationText, Effect, Finding, Impact};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

#[derive(Template)]
#[template(path = "report/diff.html.jinja")]
struct HtmlTemplate<'a> {
    view: ReportView<'a>,
    sections: Vec<FindingSection<'a>>,
}

/// The findings of one impact.
struct FindingSection<'a> {
    impact: String,
    apis: Vec<(&'a str, Vec<EqualFindings<'a>>)>,
    count: usize,
}

/// Findings of an API that are equal except for the names.
struct EqualFindings<'a> {
    findings: Vec<&'a Finding>,
}

/// A declaration of one side, or its absence.
struct SideDeclaration<'a> {
    side: &'a str,
    declaration: Option<&'a DeclarationText>,
    parts: Vec<TextPart>,
}

/// Returns the page, which ends with one newline.
///
/// # Errors
/// Returns an error if the template cannot be rendered.
pub fn html(report: &DiffReport) -> askama::Result<String> {
    let view = ReportView::new(report);
    let impacts = [
        Impact::Breaking,
        Impact::Reduced,
        Impact::Compatible,
        Impact::SourceOnly,
    ];
    let sections = impacts.map(|impact| section(&view, impact));
    let sections = sections.into_iter().filter(|section| section.count > 0);
    let sections = sections.collect();
    HtmlTemplate { view, sections }
        .render()
        .map(|text| text.trim_end().to_owned() + "\n")
}

fn section<'a>(view: &ReportView<'a>, impact: Impact) -> FindingSection<'a> {
    let has_impact = |finding: &&Finding| finding.impact == impact;
    let apis = view.apis.iter().map(|api| {
        let findings: Vec<&'a Finding> = api.findings().filter(has_impact).collect();
        (api.api, merge_equal(findings))
    });
    let apis: Vec<_> = apis.filter(|(_, groups)| !groups.is_empty()).collect();
    let counts = apis.iter().flat_map(|(_, groups)| groups);
    FindingSection {
        impact: display_name(impact),
        count: counts.map(|group| group.findings.len()).sum(),
        apis,
    }
}

/// Merges equal findings. The order of the first of each group is kept.
fn merge_equal(findings: Vec<&Finding>) -> Vec<EqualFindings<'_>> {
    let mut groups: Vec<EqualFindings> = Vec::new();
    let mut positions: HashMap<String, usize> = HashMap::new();
    for finding in findings {
        let known = content(finding).map(|content| positions.entry(content));
        match known {
            Some(Entry::Occupied(position)) => groups[*position.get()].findings.push(finding),
            other => {
                if let Some(Entry::Vacant(position)) = other {
                    position.insert(groups.len());
                }
                let findings = vec![finding];
                groups.push(EqualFindings { findings });
            }
        }
    }
    groups
}

/// Returns what equal findings have in common: all but the names. A finding that shows bytes is equal to no other.
fn content(finding: &Finding) -> Option<String> {
    let effects = [
        &finding.directions.old_on_new,
        &finding.directions.new_on_old,
    ];
    let texts = [
        &finding.message,
        &effects[0].why,
        &effects[1].why,
        &finding.remedy,
    ];
    let texts = texts.map(|text| without_name(finding, text));
    let outcomes = effects.map(|effect| (effect.outcome, effect.guarded));
    let content = || format!("{:?}", (finding.rule, texts, outcomes, &finding.target));
    finding.bytes.is_empty().then(content)
}

fn without_name(finding: &Finding, text: &str) -> String {
    text.replace(finding.owner(), "it")
}

impl<'a> EqualFindings<'a> {
    fn first(&self) -> &'a Finding {
        self.findings[0]
    }

    /// Returns `text` of the first finding, without its name if there are several findings.
    fn shared(&self, text: &str) -> String {
        match self.findings.len() {
            1 => text.to_owned(),
            _ => without_name(self.first(), text),
        }
    }

    /// Returns the effects in both directions, each with a title.
    fn effects(&self, view: &ReportView<'a>) -> [(String, &'a Effect); 2] {
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

/// Returns the member of a byte range.
fn member(name: &Option<String>) -> &str {
    name.as_deref().unwrap_or("·")
}

/// Returns the declarations of both sides, or only NEW's if the texts are the same.
fn declarations<'a>(view: &ReportView<'a>, finding: &'a Finding) -> Vec<SideDeclaration<'a>> {
    let (before, after) = (finding.before.as_ref(), finding.after.as_ref());
    let text = |declaration: Option<&'a DeclarationText>| {
        declaration.map_or("", |declaration| declaration.text.as_str())
    };
    let (old, new) = (text(before), text(after));
    let (left, right) = match before.is_some() && after.is_some() {
        true => tokens::compare(old, new),
        false => (tokens::whole(old), tokens::whole(new)),
    };
    let side_declaration = |side, declaration, parts| SideDeclaration {
        side,
        declaration,
        parts,
    };
    let mut declarations = vec![
        side_declaration(view.old, before, left),
        side_declaration(view.new, after, right),
    ];
    if before.is_some() == after.is_some() && old == new {
        declarations.remove(0);
    }
    declarations
}
