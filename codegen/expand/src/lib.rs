//! The `#[abi(..)]` grammar and what the macros expand to.
