//! A diff for a terminal: first the verdict, then the breaking findings with bytes, declarations and effects in both
//! directions. Every other finding is one line.

mod color;
mod finding;

use std::fmt::Write;

use super::group::{ApiFindings, ItemFindings, group_by_rule, merge_equal};
use super::view::{ReportView, WorstOutcome};
use super::{DiffReport, SideHeaders};
use crate::history::Paint;
use color::{TextColor, colored};
use finding::FindingPrinter;
use sp_diff::Finding;

/// From this number on, the findings of one rule are listed by name only.
const MANY_FINDINGS: usize = 5;

/// Colors and width of the text.
#[derive(Clone, Copy, Debug)]
pub struct TextStyle {
    /// Plain or colored text.
    pub paint: Paint,
    /// The number of characters in a line.
    pub width: usize,
}

/// Returns the report as text that ends with one newline.
pub fn text(report: &DiffReport, headers: &SideHeaders, style: TextStyle) -> String {
    let view = ReportView::new(report);
    let mut out = summary(&view, style);
    let printer = FindingPrinter {
        sides: [view.old, view.new],
        headers,
        style,
    };
    for findings in &view.apis {
        out += &api(findings, &printer);
    }
    out += &suppressed(report, style);
    let last = format!(
        "{}: {}; {}",
        view.counts, view.verdict, view.required_version
    );
    out + "\n" + &with_colored_verdict(&last, &view, style)
}

/// Returns the verdict, the plugin, and the worst outcome in each direction.
fn summary(view: &ReportView, style: TextStyle) -> String {
    let diff = &view.report.diff;
    let line = format!(
        "{} → {}: {}, {}",
        diff.old, diff.new, view.verdict, diff.target
    );
    let mut out = with_colored_verdict(&line, view, style);
    if let Some(plugin) = &view.report.plugin {
        let _ = writeln!(out, "{}", textwrap::fill(&plugin.to_string(), style.width));
    }
    for direction in &view.directions {
        let line = worst_outcome(direction);
        let _ = writeln!(out, "{}", textwrap::fill(&line, style.width));
    }
    out
}

fn worst_outcome(direction: &WorstOutcome) -> String {
    let WorstOutcome {
        plugin,
        host,
        outcome,
        item,
        guarded,
    } = direction;
    let guarded = match guarded == outcome {
        true => String::new(),
        false => format!("; if it checks sizes and symbols: {guarded}"),
    };
    let item = match item.is_empty() {
        true => String::new(),
        false => format!(" ({item})"),
    };
    format!("plugin built for {plugin} on {host}: worst outcome: {outcome}{item}{guarded}")
}

fn api(findings: &ApiFindings, printer: &FindingPrinter) -> String {
    let TextStyle { paint, width } = printer.style;
    let name = format!("{}  ", findings.api);
    let line = "─".repeat(width.saturating_sub(name.chars().count()));
    let name = colored(paint, TextColor::Strong, &name);
    let mut out = format!("\n{name}{}\n", colored(paint, TextColor::Faint, &line));
    for groups in merge_equal(findings.items(true)) {
        let items: Vec<&str> = groups.iter().map(|group| group.item).collect();
        let items = finding::fill(&items.join(", "), width, "", "  ");
        let _ = writeln!(out, "\n{}", colored(paint, TextColor::Strong, &items));
        out += &item(groups[0], printer);
    }
    let others = findings.items(false).flat_map(|group| &group.findings);
    out + &one_line_each(others.copied(), printer)
}

fn item(group: &ItemFindings, printer: &FindingPrinter) -> String {
    let mut out = String::new();
    for finding in &group.findings {
        if !out.is_empty() {
            out.push('\n');
        }
        out += &match finding.is_notable() {
            true => printer.block(finding),
            false => printer.line_below_item(finding),
        };
    }
    out
}

/// Returns a line for each finding, or one line with the names if a rule has many findings.
fn one_line_each<'a>(
    findings: impl Iterator<Item = &'a Finding>,
    printer: &FindingPrinter,
) -> String {
    let mut out = String::new();
    for findings in group_by_rule(findings) {
        out += &match findings.len() {
            ..MANY_FINDINGS => findings
                .iter()
                .map(|finding| printer.line(finding))
                .collect(),
            _ => printer.names(&findings),
        };
    }
    match out.is_empty() {
        true => out,
        false => format!("\n{out}"),
    }
}

fn suppressed(report: &DiffReport, style: TextStyle) -> String {
    if report.suppressed.is_empty() {
        return String::new();
    }
    let title = colored(style.paint, TextColor::Strong, "suppressed");
    let mut out = format!("\n{title}\n");
    for suppressed in &report.suppressed {
        let finding = &suppressed.finding;
        let line = format!("{} {}: {}", finding.rule, finding.item, suppressed.reason);
        let line = finding::fill(&line, style.width, "  ", "    ");
        let _ = writeln!(out, "{}", colored(style.paint, TextColor::Faint, &line));
    }
    out
}

/// Wraps the line, and colors the verdict after its colon.
fn with_colored_verdict(line: &str, view: &ReportView, style: TextStyle) -> String {
    let verdict = &view.verdict;
    let color = TextColor::for_verdict(view.report.diff.verdict);
    let line = textwrap::fill(line, style.width) + "\n";
    match line.rfind(&format!(": {verdict}")) {
        Some(index) => {
            let (before, after) = line.split_at(index + ": ".len());
            let verdict_text = colored(style.paint, color, verdict);
            format!("{before}{verdict_text}{}", &after[verdict.len()..])
        }
        None => line,
    }
}
