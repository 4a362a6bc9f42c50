//! Reports of `sp-gen history`: the changes of structs, functions and APIs over the releases.
//!
//! `sp_ir::History` determines the epochs, which are runs of releases with one layout or signature. The modules here
//! compare the epochs and format them as text, JSON or an HTML page.

mod event;
mod exports;
mod json;
mod lint;
mod lookup;
mod page;
mod table;
mod text;

pub use event::{EventKind, HistoryEvent};
pub use exports::{Exporter, FunctionExporters};
pub use json::json;
pub use lint::{LayoutLint, layout_lints};
pub use lookup::{Subject, UnknownName};
pub use page::page;
pub use table::{FieldRow, LayoutCell, LayoutColumn, LayoutTable, Mark};
pub use text::{Paint, text};

use sp_ir::History;

/// Formats releases as runs: `2.5–2.7, 2.9`, and `2.21–2.22*` if 2.22 is a preview.
pub fn span(history: &History, releases: &[String]) -> String {
    let all = &history.releases;
    let mut runs: Vec<(&str, &str, usize)> = Vec::new();
    for release in releases {
        let index = all.iter().position(|known| known == release).unwrap_or(0);
        match runs.last_mut() {
            Some((_, last, last_index)) if *last_index + 1 == index => {
                (*last, *last_index) = (release, index);
            }
            _ => runs.push((release, release, index)),
        }
    }
    let runs = runs.iter().map(|(first, last, _)| match first == last {
        true => history.label(first),
        false => format!("{}–{}", history.label(first), history.label(last)),
    });
    runs.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
