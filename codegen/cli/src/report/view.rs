//! What the templates show: a report's findings by API and item, and the words around them.

use super::group::{Chapter, chapters};
use super::{Report, counts, short, word};
use sp_diff::finding::{Bump, Effect, Finding, Outcome};

/// A report, laid out.
pub struct View<'a> {
    /// The report.
    pub report: &'a Report,
    /// OLD in a sentence.
    pub old: &'a str,
    /// NEW in a sentence.
    pub new: &'a str,
    /// One word.
    pub verdict: String,
    /// `3 breaking, 1 compatible`
    pub counts: String,
    /// What semantic versioning asks for.
    pub asked: String,
    /// OLD on NEW, NEW on OLD; none where nothing differs.
    pub directions: Vec<Direction<'a>>,
    /// The findings.
    pub chapters: Vec<Chapter<'a>>,
}

/// What becomes of plugins in one direction, at worst.
pub struct Direction<'a> {
    /// What they are built for.
    pub from: &'a str,
    /// What they run on.
    pub to: &'a str,
    /// One that trusts its headers.
    pub trusting: String,
    /// One that checks sizes and symbols.
    pub guarded: String,
}

impl<'a> View<'a> {
    /// Lays a report out.
    pub fn of(report: &'a Report) -> Self {
        let diff = &report.diff;
        let (old, new) = match (short(&diff.old), short(&diff.new)) {
            (old, new) if old == new => ("OLD", "NEW"),
            both => both,
        };
        Self {
            report,
            old,
            new,
            verdict: word(diff.verdict),
            counts: counts(diff.findings.iter(), report.suppressed.len()),
            asked: asked(diff.bump),
            directions: directions(&diff.findings, old, new),
            chapters: chapters(diff.findings.iter()),
        }
    }
}

/// Both directions over all findings.
fn directions<'a>(findings: &[Finding], old: &'a str, new: &'a str) -> Vec<Direction<'a>> {
    let there = |pick: fn(&Finding) -> &Effect| findings.iter().map(pick);
    let worst = |outcomes: &mut dyn Iterator<Item = Outcome>| outcomes.max().map(word);
    let direction = |from, to, pick| {
        Some(Direction {
            from,
            to,
            trusting: worst(&mut there(pick).map(|one| one.outcome))?,
            guarded: worst(&mut there(pick).map(|one| one.guarded))?,
        })
    };
    let both = [
        direction(old, new, |one| &one.directions.old_on_new),
        direction(new, old, |one| &one.directions.new_on_old),
    ];
    both.into_iter().flatten().collect()
}

/// The version that semantic versioning would have asked for.
fn asked(bump: Bump) -> String {
    match bump {
        Bump::None => "the version may stay".into(),
        bump => format!("semantic versioning asks for a {} version", word(bump)),
    }
}
