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

/// All that differs between `old` and `new`, with layouts as `target` has them.
///
/// Give whole sides: names are followed from one API into another. Who wants less narrows the
/// findings, not the surfaces.
pub fn diff(old: &Surface, new: &Surface, target: &str) -> Diff {
    let findings = apis::findings(old, new);
    Diff::of(&old.label, &new.label, target, findings)
}
