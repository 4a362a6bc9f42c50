//! Rules: which finding a change gives. The catalog declares each kind of change with its rule and its handler. The modules
//! named after topics have the handlers, which write the messages.

mod apis;
mod calls;
mod catalog;
mod contract;
pub(crate) mod define;
mod functions;
mod judged;
mod layout;
mod types;
mod values;

pub use catalog::{ChangeKind, RULES};
use judged::JudgedChange;

use super::change::Declaration;
use super::finding::{Bump, Directions, Finding, Impact};
use super::pair::SurfacePair;

/// One difference between two surfaces. It is one cause: an insertion is one change, however many members it moves.
#[derive(Clone, Debug)]
pub struct Change<'p> {
    /// The API that the item belongs to.
    pub api: &'p str,
    /// The changed item: `SP_StreamExecutor.mem_zero`, `TF_AssignVariable`, `TF_Code.TF_OK`.
    pub item: String,
    /// The kind of the change.
    pub kind: ChangeKind<'p>,
    /// OLD's declaration.
    pub old: Option<Declaration<'p>>,
    /// NEW's declaration.
    pub new: Option<Declaration<'p>>,
}

/// A rule: its weight, and its text for reports and `sp-gen explain`.
#[derive(Debug)]
pub struct Rule {
    /// The stable id.
    pub id: &'static str,
    /// The highest impact of its findings. A finding may have a lower one.
    pub impact: Impact,
    /// The largest version bump that its findings require.
    pub bump: Bump,
    /// Paragraphs. The first is the summary; the others state which plugins are affected, and what to do.
    pub text: &'static str,
    /// The document that defines what the rule relies on.
    pub reference: &'static str,
}

impl Rule {
    /// Returns the first paragraph of the text, which is one line.
    pub fn summary(&self) -> &'static str {
        let end = self.text.find("\n\n").unwrap_or(self.text.len());
        self.text[..end].trim()
    }

    /// Returns the paragraphs after the summary, each on one line.
    pub fn explanation(&self) -> String {
        let paragraphs = self.text.split("\n\n").skip(1);
        let lines = paragraphs.map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
        lines.collect::<Vec<_>>().join("\n\n")
    }

    /// Returns a finding of the rule, without bytes and declarations.
    pub(crate) fn finding(
        &self,
        api: &str,
        item: &str,
        message: impl Into<String>,
        directions: Directions,
        remedy: &str,
    ) -> Finding {
        Finding {
            rule: self.id,
            api: api.into(),
            item: item.into(),
            impact: self.impact,
            bump: self.bump,
            message: message.into(),
            directions,
            bytes: Vec::new(),
            before: None,
            after: None,
            remedy: remedy.into(),
            target: None,
        }
    }
}

/// Returns the finding about a change, or `None` if the change is not reported.
pub fn judge(pair: &SurfacePair, change: &Change) -> Option<Finding> {
    change.kind.finding(&JudgedChange {
        rule: change.kind.rule()?,
        pair,
        api: change.api,
        item: &change.item,
        old: change.old,
        new: change.new,
    })
}
