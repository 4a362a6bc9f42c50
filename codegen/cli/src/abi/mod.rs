//! What differs between two sides, and what that means for a plugin built for one of them.
//!
//! Data flows one way: two surfaces give changes, each change is judged by exactly one rule, and the
//! findings give the verdict. Only `sp_ir` is known here: no clang, no files.

pub mod finding;
pub mod rules;
pub mod surface;

mod apis;

pub use finding::{Diff, Finding, Verdict};
pub use rules::{RULES, Rule};
pub use surface::Surface;

use finding::{Bump, Impact, SCHEMA};

/// All that differs between `old` and `new`, with layouts as `target` has them.
///
/// Give whole sides: names are followed from one API into another. Who wants less narrows the
/// findings, not the surfaces.
pub fn diff(old: &Surface, new: &Surface, target: &str) -> Diff {
    let mut findings = apis::findings(old, new);
    findings.sort_by(|left, right| {
        let key = |one: &Finding| (one.api.clone(), one.item.clone(), one.rule);
        key(left).cmp(&key(right))
    });
    Diff {
        schema: SCHEMA,
        old: old.label.clone(),
        new: new.label.clone(),
        target: target.into(),
        verdict: verdict(&findings),
        bump: findings
            .iter()
            .map(|one| one.bump)
            .max()
            .unwrap_or(Bump::None),
        findings,
    }
}

fn verdict(findings: &[Finding]) -> Verdict {
    match findings.iter().map(|one| one.impact).max() {
        None => Verdict::Identical,
        Some(Impact::Breaking) => Verdict::Breaking,
        Some(_) => Verdict::Compatible,
    }
}
