//! The pages of all rules and checks, whichever part of sp-gen they belong to. A new source of rules is one line
//! of [`pages`].

use std::fmt::Write;

use miette::Diagnostic;
use thiserror::Error;

use crate::lint;
use sp_data::suggest;

/// What there is to say of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// The rule's stable id.
    pub id: &'static str,
    /// The command that speaks of it.
    pub command: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Paragraphs; empty where the line says it all.
    pub explanation: &'static str,
    /// Where the convention is written down; empty where nothing is said.
    pub reference: &'static str,
}

/// No rule is called so.
#[derive(Debug, Error, Diagnostic)]
#[error("no rule is called `{id}`")]
#[diagnostic(code(sp_gen::explain::unknown), help("{help}"))]
pub struct Unknown {
    id: String,
    help: String,
}

/// Every rule's page, sorted by id.
pub fn pages() -> Vec<Page> {
    let of_diff = sp_diff::RULES.iter().map(|rule| Page {
        id: rule.id,
        command: "diff",
        summary: rule.summary,
        explanation: rule.explanation,
        reference: rule.reference,
    });
    let lints = lint::RULES.iter().map(|rule| (rule.id, rule.about));
    let conventions = lint::conventions::RULES.iter();
    let conventions = conventions.map(|rule| (rule.id, rule.about));
    let lints = lints.chain(lint::releases::RULES).chain(conventions);
    let of_headers = lints.map(|(id, about)| {
        let (summary, explanation) = first_sentence(about);
        Page {
            id,
            command: "ir --lints",
            summary,
            explanation,
            reference: "",
        }
    });
    let checks = sp_host::CHECKS.iter().map(|check| Page {
        id: check.id,
        command: "verify",
        summary: check.summary,
        explanation: check.explanation,
        reference: "",
    });
    let mut pages: Vec<Page> = of_diff.chain(of_headers).chain(checks).collect();
    pages.sort_by_key(|page| page.id);
    pages
}

/// The page of one rule.
///
/// # Errors
/// Where there is none: with the names that are near.
pub fn page(id: &str) -> Result<Page, Unknown> {
    let pages = pages();
    let found = pages.iter().find(|page| page.id == id).copied();
    found.ok_or_else(|| unknown(id, &pages))
}

fn unknown(id: &str, pages: &[Page]) -> Unknown {
    let help = suggest::did_you_mean(id, pages.iter().map(|page| page.id));
    Unknown {
        id: id.into(),
        help: help.unwrap_or_else(|| "`sp-gen explain --list` has them all".into()),
    }
}

impl Page {
    /// The page as text of that width.
    pub fn text(&self, width: usize) -> String {
        let fill = |text: &str| {
            let paragraphs = text.split("\n\n").map(|one| {
                let words: Vec<&str> = one.split_whitespace().collect();
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
        for part in [self.explanation, self.reference] {
            if !part.is_empty() {
                let _ = write!(out, "\n{}\n", fill(part));
            }
        }
        out
    }
}

/// All rules, a line each, under the commands that speak of them.
pub fn list() -> String {
    let pages = pages();
    let widest = pages.iter().map(|page| page.id.len()).max().unwrap_or(0);
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
            let _ = writeln!(out, "  {:<widest$}  {}", page.id, page.summary);
        }
    }
    out
}

fn first_sentence(text: &'static str) -> (&'static str, &'static str) {
    let end = text.find(". ").map_or(text.len(), |at| at + 1);
    (&text[..end], text[end..].trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_a_page_and_one_name() {
        let pages = pages();
        let lints =
            lint::RULES.len() + lint::releases::RULES.len() + lint::conventions::RULES.len();
        let count = sp_diff::RULES.len() + lints + sp_host::CHECKS.len();
        assert_eq!(pages.len(), count);
        for pair in pages.windows(2) {
            assert!(pair[0].id < pair[1].id, "{}", pair[1].id);
        }
        for one in &pages {
            assert_eq!(page(one.id).unwrap(), *one);
            assert!(list().contains(one.id) && !one.summary.is_empty());
        }
    }

    #[test]
    fn a_page_is_set_within_its_width() {
        let text = page("last_field_outdated").unwrap().text(60);
        assert!(text.starts_with("last_field_outdated (sp-gen ir --lints)\n\n"));
        assert!(
            text.lines().all(|line| line.chars().count() <= 60),
            "{text}"
        );
    }

    #[test]
    fn an_unknown_rule_brings_the_near_ones() {
        let error = page("last_field_outdatd").unwrap_err();
        assert_eq!(
            error.help,
            "did you mean `last_field_outdated` or `struct_size_outdated`?"
        );
        assert!(page("zzz").unwrap_err().help.contains("--list"));
    }
}
