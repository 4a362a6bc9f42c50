//! Shared code of the fuzz targets: snapshots with hostile texts, checks of the output for them, long inputs, edits of samples.

pub mod bytes;
pub mod c;
pub mod edit;
pub mod html;
pub mod markdown;
pub mod rust;
pub mod scene;
pub mod sized;
pub mod text;
