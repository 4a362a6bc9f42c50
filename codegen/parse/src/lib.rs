//! C headers to IR: `closure` selects the headers of a release, `clang` reads their declarations, `contract` adds
//! what comments and notes state, `extract` is the whole pipeline.

pub mod clang;
pub mod closure;
pub mod contract;
pub mod extract;
pub mod include;
pub mod source;
pub mod upstream;

pub use extract::extract;
