//! What differs between two sides, and what that means for a plugin built for one of them.
//!
//! Data flows one way: two surfaces give changes, each change is judged by exactly one rule, and the
//! findings give the verdict. Only `sp_ir` is known here: no clang, no files.

pub mod finding;
pub mod rules;
pub mod surface;

pub use finding::{Diff, Finding, Verdict};
pub use rules::{RULES, Rule};
pub use surface::Surface;
