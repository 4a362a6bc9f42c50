//! The committed facts about all releases, and what a user's cache adds to them: snapshots of the IR, exported
//! symbols, demanded fields. The binary contains the committed files, so that it works outside of its checkout.

pub mod demands;
pub mod embedded;
pub mod folders;
pub mod platform;
pub mod release;
pub mod snapshots;
pub mod suggest;
pub mod symbols;
