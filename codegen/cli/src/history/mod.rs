//! Reports of `sp-gen history`: the changes of structs, functions and APIs over the releases.
//!
//! `sp_ir::History` determines the epochs, which are runs of releases with one layout or signature. The modules here
//! compare the epochs and format them as text, JSON or an HTML page.

mod demand;
mod event;
mod exports;
mod json;
mod lint;
mod lookup;
mod page;
mod table;
mod text;

pub use demand::DemandHistory;
pub use event::{EventKind, HistoryEvent};
pub use exports::{Exporter, FunctionExporters};
pub use json::json;
pub use lint::{LayoutLint, layout_lints};
pub use lookup::{Subject, UnknownName};
pub use page::page;
pub use table::{FieldRow, LayoutCell, LayoutColumn, LayoutTable, Mark};
pub use text::{Paint, text};

use sp_ir::History;

/// Describes the releases that have an API, and its versions in them, if it has any.
fn releases_and_versions(history: &History, api: &str) -> (String, Option<String>) {
    let epochs = history.apis.get(api).map_or(&[][..], Vec::as_slice);
    let releases = epochs.iter().flat_map(|epoch| epoch.releases.clone());
    let versions = epochs.iter().filter_map(|epoch| epoch.shape.as_deref());
    let versions = match versions.collect::<Vec<_>>()[..] {
        [] => None,
        [version] => Some(format!("version {version} in all releases")),
        [first, .., last] => Some(format!("version {first} to {last}")),
    };
    (span(history, &releases.collect::<Vec<_>>()), versions)
}

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
