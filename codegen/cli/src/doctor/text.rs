//! The text report: a line for each step, and advice below a step that failed.

use super::{DoctorReport, Step, StepVerdict};
use textwrap::{Options, WordSeparator, WordSplitter};

/// Columns before a step's detail.
const INDENT: &str = "                          ";

/// Returns the report in lines of at most `width` characters, where words allow it.
pub fn print(report: &DoctorReport, width: usize) -> String {
    let mut text = format!("{}\n", report.python);
    let mut plugin = None;
    for step in &report.steps {
        if step.plugin != plugin {
            let title = step.plugin.as_deref().unwrap_or(&report.python);
            text += &format!("{title}\n");
            plugin.clone_from(&step.plugin);
        }
        text += &line(step, width);
    }
    text
}

fn line(step: &Step, width: usize) -> String {
    let verdict = match step.verdict {
        StepVerdict::Ok => "ok",
        StepVerdict::Failed => "FAILED",
        StepVerdict::Unknown => "unknown",
    };
    let head = format!("  {verdict:<9}{:<15}", step.step.name());
    let options = |first| {
        Options::new(width)
            .initial_indent(first)
            .subsequent_indent(INDENT)
            .break_words(false)
            // A path stays whole.
            .word_separator(WordSeparator::AsciiSpace)
            .word_splitter(WordSplitter::NoHyphenation)
    };
    let mut text = textwrap::fill(&step.detail, options(&head));
    text.push('\n');
    if !step.advice.is_empty() {
        let advice = format!("-> {}", step.advice);
        text += &textwrap::fill(&advice, options(INDENT));
        text.push('\n');
    }
    text
}
