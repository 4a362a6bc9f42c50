//! What became of structs, functions and APIs over the releases, for people and for programs.
//!
//! `sp_ir::History` says what the epochs are; here they are laid side by side and written down:
//! as text, as JSON, or as a page.

mod event;
mod exports;
mod json;
mod lint;
mod lookup;
mod page;
mod table;
mod text;

pub use event::{Event, What};
pub use exports::{Exporter, Exports};
pub use json::json;
pub use lint::{Lint, lints};
pub use lookup::{Subject, Unknown};
pub use page::page;
pub use table::{Cell, Column, Mark, Row, Table};
pub use text::{Paint, text};

use sp_ir::History;

/// Returns releases as runs: `2.5–2.7, 2.9`, and `2.21–2.22*` if 2.22 is a preview.
pub fn span(history: &History, releases: &[String]) -> String {
    let all = &history.releases;
    let mut runs: Vec<(&str, &str, usize)> = Vec::new();
    for release in releases {
        let place = all.iter().position(|one| one == release).unwrap_or(0);
        match runs.last_mut() {
            Some((_, last, at)) if *at + 1 == place => (*last, *at) = (release, place),
            _ => runs.push((release, release, place)),
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
