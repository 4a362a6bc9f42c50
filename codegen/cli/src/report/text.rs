//! A diff for a terminal: what it comes to first, then what breaks, with the bytes, the declarations
//! and both directions; what does not break is a line each.

mod block;
mod ink;

use std::fmt::Write;

use super::group::{Chapter, Group, alike, by_rule};
use super::view::{Direction, View};
use super::{Quotable, Report};
use crate::history::Paint;
use block::Block;
use ink::{Ink, ink};
use sp_diff::Finding;

/// This many findings of one rule are told by their names.
const MANY: usize = 5;

/// What the text is set on.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// Whether there are colours.
    pub paint: Paint,
    /// Characters in a line.
    pub width: usize,
}

/// The report, ending in one newline.
pub fn text(report: &Report, quotable: &Quotable, page: Page) -> String {
    let view = View::of(report);
    let mut out = head(&view, page);
    let block = Block {
        sides: [view.old, view.new],
        quotable,
        page,
    };
    for chapter in &view.chapters {
        out += &api(chapter, &block);
    }
    out += &suppressed(report, page);
    out + "\n" + &last_line(&view, page)
}

/// The verdict, and what becomes of plugins at worst.
fn head(view: &View, page: Page) -> String {
    let diff = &view.report.diff;
    let line = format!(
        "{} → {}: {}, {}",
        diff.old, diff.new, view.verdict, diff.target
    );
    let mut out = verdict_inked(&line, view, page);
    if let Some(plugin) = &view.report.plugin {
        let _ = writeln!(out, "{}", textwrap::fill(&plugin.to_string(), page.width));
    }
    for one in &view.directions {
        let Direction { from, to, .. } = one;
        let worst = format!(
            "a plugin built for {from}, on {to}: at worst it {}",
            one.trusting
        );
        let guarded = match one.guarded == one.trusting {
            true => String::new(),
            false => format!("; one that checks sizes and symbols {}", one.guarded),
        };
        let _ = writeln!(out, "{}", textwrap::fill(&(worst + &guarded), page.width));
    }
    out
}

fn api(chapter: &Chapter, block: &Block) -> String {
    let Page { paint, width } = block.page;
    let name = format!("{}  ", chapter.api);
    let line = "─".repeat(width.saturating_sub(name.chars().count()));
    let name = ink(paint, Ink::Strong, &name);
    let mut out = format!("\n{name}{}\n", ink(paint, Ink::Faint, &line));
    for groups in alike(chapter.groups(true)) {
        let items: Vec<&str> = groups.iter().map(|group| group.item).collect();
        let items = block::fill(&items.join(", "), width, "", "  ");
        let _ = writeln!(out, "\n{}", ink(paint, Ink::Strong, &items));
        out += &item(groups[0], block);
    }
    let quiet = chapter.groups(false).flat_map(|group| &group.findings);
    out + &quietly(quiet.copied(), block)
}

fn item(group: &Group, block: &Block) -> String {
    let mut out = String::new();
    for finding in &group.findings {
        if !out.is_empty() {
            out.push('\n');
        }
        out += &match finding.is_breaking() {
            true => block.draw(finding),
            false => block.line(finding),
        };
    }
    out
}

/// What does not break: a line each, or the names alone where many are of one rule.
fn quietly<'a>(findings: impl Iterator<Item = &'a Finding>, block: &Block) -> String {
    let mut out = String::new();
    for findings in by_rule(findings) {
        out += &match findings.len() {
            ..MANY => findings.iter().map(|one| block.whole_line(one)).collect(),
            _ => block.names(&findings),
        };
    }
    match out.is_empty() {
        true => out,
        false => format!("\n{out}"),
    }
}

fn suppressed(report: &Report, page: Page) -> String {
    if report.suppressed.is_empty() {
        return String::new();
    }
    let mut out = format!("\n{}\n", ink(page.paint, Ink::Strong, "suppressed"));
    for one in &report.suppressed {
        let finding = &one.finding;
        let line = format!("{} {}: {}", finding.rule, finding.item, one.reason);
        let line = block::fill(&line, page.width, "  ", "    ");
        let _ = writeln!(out, "{}", ink(page.paint, Ink::Faint, &line));
    }
    out
}

fn last_line(view: &View, page: Page) -> String {
    let line = format!("{}: {}; {}", view.counts, view.verdict, view.asked);
    verdict_inked(&line, view, page)
}

/// The line, broken where it is too long, with the verdict behind its colon coloured.
fn verdict_inked(line: &str, view: &View, page: Page) -> String {
    let (plain, shade) = (&view.verdict, Ink::of(view.report.diff.verdict));
    let line = textwrap::fill(line, page.width) + "\n";
    match line.rfind(&format!(": {plain}")) {
        Some(at) => {
            let (before, behind) = line.split_at(at + ": ".len());
            let coloured = ink(page.paint, shade, plain);
            format!("{before}{coloured}{}", &behind[plain.len()..])
        }
        None => line,
    }
}
