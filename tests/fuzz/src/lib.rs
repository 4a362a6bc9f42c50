//! Shared code of the fuzz targets: snapshots with hostile texts, and checks of the output for them.

pub mod c;
pub mod edit;
pub mod html;
pub mod markdown;
pub mod rust;
pub mod scene;
pub mod text;
