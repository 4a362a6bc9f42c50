//! The rules: one file each, with what it is about and when it speaks. The files, this list and the
//! pairs of headers under `tests/abi` are one-to-one.

use super::finding::{Bump, Impact};

/// What a rule is, for `sp-gen explain` and for reports.
pub struct Rule {
    /// The stable id, `noun_past_participle`.
    pub id: &'static str,
    /// How much its findings weigh at most; a finding may weigh less where it says why.
    pub impact: Impact,
    /// The bump that it asks for at most.
    pub bump: Bump,
    /// One line.
    pub summary: &'static str,
    /// What happens to which plugins, and what to do. Paragraphs.
    pub explanation: &'static str,
    /// Where the convention that it rests on is written down, as a place in a header or document.
    pub reference: &'static str,
}

/// All rules, sorted by id.
pub const RULES: &[&Rule] = &[];
