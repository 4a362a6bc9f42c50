//! The pages of all rules and checks of all commands. A new source of rules is one line of [`pages`].

use std::borrow::Cow;

use std::fmt::Write;

use miette::Diagnostic;
use thiserror::Error;

use crate::lint;
use crate::verify::kernels::rules;
use sp_data::suggest;

/// The page of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RulePage {
    /// The stable id.
    pub id: &'static str,
    /// The command that uses the rule.
    pub command: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Paragraphs; empty if the summary is sufficient.
    pub explanation: Cow<'static, str>,
    /// The document that defines the convention, or "".
    pub reference: &'static str,
}

/// A rule id that does not exist.
#[derive(Debug, Error, Diagnostic)]
#[error("unknown rule `{id}`")]
#[diagnostic(code(sp_gen::explain::unknown), help("{help}"))]
pub struct UnknownRule {
    id: String,
    help: String,
}

/// Returns the pages of all rules, sorted by id.
pub fn pages() -> Vec<RulePage> {
    let diff_rules = sp_diff::all_rules().map(|rule| RulePage {
        id: rule.id,
        command: "diff",
        summary: rule.summary(),
        explanation: rule.explanation().into(),
        reference: rule.reference,
    });
    let lints = lint::RULES.iter().map(|rule| (rule.id, rule.about));
    let releases = lint::releases::RULES.iter();
    let lints = lints.chain(releases.map(|rule| (rule.id, rule.about)));
    let conventions = lint::conventions::RULES.iter();
    let lints = lints.chain(conventions.map(|rule| (rule.id, rule.about)));
    let lints = lints.map(|(id, about)| paragraph_page("ir --lints", id, about));
    let checks = sp_host::CHECKS.iter().map(|check| RulePage {
        id: check.id,
        command: "verify",
        summary: check.summary,
        explanation: check.explanation.into(),
        reference: "",
    });
    let pjrt = sp_pjrt_host::CHECKS.iter().map(|check| RulePage {
        id: check.id,
        command: "verify --host",
        summary: check.summary,
        explanation: check.explanation.into(),
        reference: "",
    });
    let kernels = rules::RULES.iter();
    let kernels = kernels.map(|rule| paragraph_page("verify --kernels", rule.id, rule.about));
    let port = sp_port::rules::RULES.iter();
    let port = port.map(|(id, about)| paragraph_page("port", id, about));
    let layer = sp_layer::runtime::check::RULES.iter();
    let layer = layer.map(|(id, summary, explanation)| RulePage {
        id,
        command: "layer",
        summary,
        explanation: (*explanation).into(),
        reference: "",
    });
    let pages = diff_rules.chain(lints).chain(checks).chain(pjrt);
    let pages = pages.chain(kernels).chain(layer);
    let pages = pages.chain(port);
    let mut pages: Vec<RulePage> = pages.collect();
    pages.sort_by_key(|page| page.id);
    pages
}

/// Returns the page of one rule.
///
/// # Errors
/// Returns an error with similar ids if there is no such rule.
pub fn page(id: &str) -> Result<RulePage, UnknownRule> {
    let pages = pages();
    let found = pages.iter().find(|page| page.id == id).cloned();
    found.ok_or_else(|| unknown_rule(id, &pages))
}

fn unknown_rule(id: &str, pages: &[RulePage]) -> UnknownRule {
    let help = suggest::did_you_mean(id, pages.iter().map(|page| page.id));
    UnknownRule {
        id: id.into(),
        help: help.unwrap_or_else(|| "`sp-gen explain --list` lists all rules".into()),
    }
}

impl RulePage {
    /// Returns the page as text, wrapped to `width`.
    pub fn text(&self, width: usize) -> String {
        let fill = |text: &str| {
            let paragraphs = text.split("\n\n").map(|paragraph| {
                let words: Vec<&str> = paragraph.split_whitespace().collect();
                textwrap::fill(&words.join(" "), width)
            });
            paragraphs.collect::<Vec<_>>().join("\n\n")
        };
        let mut out = format!(
            "{} (sp-gen {})\n\n{}\n",
            self.id,
            self.command,
            fill(self.summary)
        );
        for text in [&self.explanation, self.reference] {
            if !text.is_empty() {
                let _ = write!(out, "\n{}\n", fill(text));
            }
        }
        out
    }
}

/// Returns one line for each rule, grouped by command.
pub fn list() -> String {
    let pages = pages();
    let id_width = pages.iter().map(|page| page.id.len()).max().unwrap_or(0);
    let mut commands: Vec<&str> = pages.iter().map(|page| page.command).collect();
    commands.sort_unstable();
    commands.dedup();
    let mut out = String::new();
    for command in commands {
        let _ = writeln!(
            out,
            "{}sp-gen {command}",
            if out.is_empty() { "" } else { "\n" }
        );
        for page in pages.iter().filter(|page| page.command == command) {
            let _ = writeln!(out, "  {:<id_width$}  {}", page.id, page.summary);
        }
    }
    out
}

/// Returns the page of a rule whose text is one paragraph. Its first sentence is the summary.
fn paragraph_page(command: &'static str, id: &'static str, about: &'static str) -> RulePage {
    let end = about.find(". ").map_or(about.len(), |index| index + 1);
    RulePage {
        id,
        command,
        summary: &about[..end],
        explanation: about[end..].trim_start().into(),
        reference: "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_pages_have_unique_ids() {
        let pages = pages();
        let lints =
            lint::RULES.len() + lint::releases::RULES.len() + lint::conventions::RULES.len();
        let further = sp_host::CHECKS.len() + rules::RULES.len() + sp_port::rules::RULES.len();
        let further = further + sp_pjrt_host::CHECKS.len() + sp_layer::runtime::check::RULES.len();
        let count = sp_diff::all_rules().count() + lints + further;
        assert_eq!(pages.len(), count);
        for pair in pages.windows(2) {
            assert!(pair[0].id < pair[1].id, "{}", pair[1].id);
        }
        let list = list();
        for rule in &pages {
            assert_eq!(page(rule.id).unwrap(), *rule);
            assert!(list.contains(&format!("  {}", rule.summary)) && !rule.summary.is_empty());
        }
    }

    #[test]
    fn text_of_page_fits_width() {
        let text = page("last_field_outdated").unwrap().text(60);
        assert!(text.starts_with("last_field_outdated (sp-gen ir --lints)\n\n"));
        assert!(
            text.lines().all(|line| line.chars().count() <= 60),
            "{text}"
        );
    }

    #[test]
    fn unknown_rule_suggests_similar_ids() {
        let error = page("last_field_outdatd").unwrap_err();
        let expected = "did you mean `last_field_outdated` or `struct_size_outdated`?";
        assert_eq!(error.help, expected);
        assert!(page("zzz").unwrap_err().help.contains("--list"));
    }
}
