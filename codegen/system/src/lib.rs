//! What several crates of sp-gen need of the operating system: temporary files that signals remove too, a Python
//! that imports nothing from the current directory, and work on several threads.

pub mod parallel;
pub mod python;
pub mod temporary;
