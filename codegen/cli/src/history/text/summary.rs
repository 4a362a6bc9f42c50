//! Summary of an API: changed, added and removed items, and lints.

use std::collections::BTreeMap;
use std::fmt::Write;

use sp_ir::History;

use super::Paint;
use crate::history::event::{EventKind, HistoryEvent, events};
use crate::history::lint::layout_lints;
use crate::history::lookup::Subject;
use crate::history::releases_and_versions;

/// Maximum width of a line.
const MAX_WIDTH: usize = 100;

/// Formats the summary of an API.
pub fn api(history: &History, api: &str, paint: Paint) -> String {
    let subject = Subject::Api(api.into());
    let names = subject.items(history);
    let mut out = format_heading(history, api, names.len(), paint);
    let (mut appeared, mut removed) = (BTreeMap::new(), BTreeMap::new());
    let mut changed = Vec::new();
    for name in &names {
        for event in events(history, name) {
            let list: &mut BTreeMap<_, Vec<&str>> = match event.kind {
                EventKind::Appeared => &mut appeared,
                EventKind::Removed => &mut removed,
                _ => {
                    changed.push((*name, event));
                    continue;
                }
            };
            list.entry(release_index(history, &event.release))
                .or_default()
                .push(name);
        }
    }
    out += &format_changes(history, &changed);
    out += &format_lists(history, "appeared", &appeared);
    out += &format_lists(history, "removed", &removed);
    let lints = names.iter().flat_map(|name| layout_lints(history, name));
    let lints: Vec<_> = lints.collect();
    if !lints.is_empty() {
        out += "\n  lints\n";
    }
    for lint in lints {
        let _ = writeln!(out, "    {}: {}, {}", lint.rule, lint.item, lint.text);
    }
    if changed.is_empty() && appeared.is_empty() && removed.is_empty() {
        out += "  no changes\n";
    }
    out
}

fn release_index(history: &History, release: &str) -> usize {
    let index = history.releases.iter().position(|known| known == release);
    index.unwrap_or(0)
}

fn format_heading(history: &History, api: &str, items: usize, paint: Paint) -> String {
    let (releases, versions) = releases_and_versions(history, api);
    let versions = versions.map_or_else(String::new, |it| format!(", {it}"));
    format!(
        "{}  {releases}{versions}, {items} items\n",
        paint.strong(api)
    )
}

fn format_changes(history: &History, changed: &[(&str, HistoryEvent)]) -> String {
    let mut out = String::new();
    let width = changed.iter().map(|(name, _)| name.len()).max();
    let width = width.unwrap_or(0).min(36);
    let mut last = "";
    for (name, event) in changed {
        if out.is_empty() {
            out += "\n  changed (! breaks programs built before)\n";
        }
        let shown = if *name == last { "" } else { name };
        let sign = if event.kind == EventKind::Changed {
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
        out += &wrap(&head, &event.text, width + 14);
        last = name;
    }
    out
}

fn format_lists(history: &History, word: &str, lists: &BTreeMap<usize, Vec<&str>>) -> String {
    let mut out = String::new();
    for (index, names) in lists {
        if out.is_empty() {
            let _ = writeln!(out, "\n  {word}");
        }
        let head = format!("    {:<5} ", history.label(&history.releases[*index]));
        out += &wrap(&head, &names.join(", "), 10);
    }
    out
}

/// Formats `text` after `head`, broken between words.
fn wrap(head: &str, text: &str, indent: usize) -> String {
    let mut out = String::new();
    let mut line = head.to_string();
    for word in text.split(' ') {
        let has_text = line.trim_end().len() > indent.min(head.trim_end().len());
        if has_text && line.chars().count() + word.chars().count() > MAX_WIDTH && line.trim() != ""
        {
            let _ = writeln!(out, "{}", line.trim_end());
            line = " ".repeat(indent);
        }
        line += word;
        line += " ";
    }
    let _ = writeln!(out, "{}", line.trim_end());
    out
}
