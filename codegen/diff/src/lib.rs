//! What differs between two sides, and what that means for a plugin built for one of them.
//!
//! Data flows one way: two surfaces give changes, each change is judged by exactly one rule, and the
//! findings give the verdict. Only `sp_ir` and its spelling in C are known here: no clang, no files.

pub mod change;
pub mod changes;
mod effect;
pub mod finding;
pub mod likeness;
mod names;
pub mod pair;
pub mod plugin;
pub mod rules;
#[cfg(any(test, feature = "sample"))]
pub mod sample;
pub mod suppress;
pub mod surface;
mod targets;
mod version;
pub mod view;
mod words;

pub use finding::{Diff, Finding, Verdict};
pub use rules::{RULES, Rule};
pub use surface::Surface;

use change::Change;
use pair::Pair;

/// All that differs between `old` and `new`, with layouts as `target` has them; and what breaks on
/// other targets only.
///
/// Give whole sides: names are followed from one API into another. Who wants less narrows the
/// findings, not the surfaces.
pub fn diff(old: &Surface, new: &Surface, target: &str) -> Diff {
    let pair = Pair::of(old, new, target);
    let mut findings = judged(&pair, &changes::of(&pair));
    findings.extend(targets::findings(&pair, old, new, target, &findings));
    let versions = version::changes(&pair, &findings);
    findings.extend(judged(&pair, &versions));
    Diff::of(&old.label, &new.label, target, findings)
}

fn judged(pair: &Pair, changes: &[Change]) -> Vec<Finding> {
    let findings = changes
        .iter()
        .filter_map(|change| rules::judge(pair, change));
    findings.collect()
}
