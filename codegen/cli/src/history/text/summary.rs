//! An API in a few lines: what changed and how, what came, what went.

use std::collections::BTreeMap;
use std::fmt::Write;

use sp_ir::History;

use super::Paint;
use crate::history::event::{Event, What, events};
use crate::history::lint::lints;
use crate::history::lookup::Subject;
use crate::history::span;

/// Where lines are broken.
const WIDTH: usize = 100;

/// The summary of an API.
pub fn api(history: &History, api: &str, paint: Paint) -> String {
    let subject = Subject::Api(api.into());
    let names = subject.items(history);
    let mut out = heading(history, api, names.len(), paint);
    let (mut came, mut went) = (BTreeMap::new(), BTreeMap::new());
    let mut changed = Vec::new();
    for name in &names {
        for event in events(history, name) {
            let list: &mut BTreeMap<_, Vec<&str>> = match event.what {
                What::Appeared => &mut came,
                What::Went => &mut went,
                _ => {
                    changed.push((*name, event));
                    continue;
                }
            };
            list.entry(place(history, &event.release))
                .or_default()
                .push(name);
        }
    }
    out += &changes(history, &changed);
    out += &lists(history, "appeared", &came);
    out += &lists(history, "went", &went);
    let lints: Vec<_> = names.iter().flat_map(|name| lints(history, name)).collect();
    if !lints.is_empty() {
        out += "\n  lints\n";
    }
    for lint in lints {
        let _ = writeln!(out, "    {}: {}, {}", lint.rule, lint.item, lint.text);
    }
    if changed.is_empty() && came.is_empty() && went.is_empty() {
        out += "  nothing changed\n";
    }
    out
}

fn place(history: &History, release: &str) -> usize {
    let place = history.releases.iter().position(|one| one == release);
    place.unwrap_or(0)
}

fn heading(history: &History, api: &str, items: usize, paint: Paint) -> String {
    let epochs = history.apis.get(api).map_or(&[][..], Vec::as_slice);
    let releases: Vec<String> = epochs.iter().flat_map(|one| one.releases.clone()).collect();
    let versions: Vec<&str> = epochs
        .iter()
        .filter_map(|one| one.shape.as_deref())
        .collect();
    let version = match versions.as_slice() {
        [] => String::new(),
        [one] => format!(", version {one} in all"),
        [first, .., last] => format!(", version {first} to {last}"),
    };
    let when = span(history, &releases);
    format!("{}  {when}{version}, {items} items\n", paint.strong(api))
}

fn changes(history: &History, changed: &[(&str, Event)]) -> String {
    let mut out = String::new();
    let width = changed
        .iter()
        .map(|(name, _)| name.len())
        .max()
        .unwrap_or(0)
        .min(36);
    let mut last = "";
    for (name, event) in changed {
        if out.is_empty() {
            out += "\n  changed (! breaks programs built before)\n";
        }
        let shown = if *name == last { "" } else { name };
        let sign = if event.what == What::Changed {
            '!'
        } else {
            ' '
        };
        if shown.len() > width {
            let _ = writeln!(out, "    {shown}");
        }
        let shown = if shown.len() > width { "" } else { shown };
        let release = history.label(&event.release);
        let head = format!("    {shown:<width$}  {release:<5}{sign} ");
        out += &wrapped(&head, &event.text, width + 14);
        last = name;
    }
    out
}

fn lists(history: &History, word: &str, lists: &BTreeMap<usize, Vec<&str>>) -> String {
    let mut out = String::new();
    for (place, names) in lists {
        if out.is_empty() {
            let _ = writeln!(out, "\n  {word}");
        }
        let head = format!("    {:<5} ", history.label(&history.releases[*place]));
        out += &wrapped(&head, &names.join(", "), 10);
    }
    out
}

/// The text behind its head, broken between words.
fn wrapped(head: &str, text: &str, indent: usize) -> String {
    let mut out = String::new();
    let mut line = head.to_string();
    for word in text.split(' ') {
        let begun = line.trim_end().len() > indent.min(head.trim_end().len());
        if begun && line.chars().count() + word.chars().count() > WIDTH && line.trim() != "" {
            let _ = writeln!(out, "{}", line.trim_end());
            line = " ".repeat(indent);
        }
        line += word;
        line += " ";
    }
    let _ = writeln!(out, "{}", line.trim_end());
    out
}
