//! Formats a diagnostic as text:
//!
//! ```text
//! error: MESSAGE [sp_gen::area::problem]
//!   --> FILE:LINE:COLUMN
//!    |
//!  3 | the line
//!    |     ^^^^ label
//!   caused by: MESSAGE
//!   help: what to do
//! ```

use super::snippet::Snippet;
use crate::console;
use crate::history::Paint;
use miette::{Diagnostic, ReportHandler, Severity, SourceCode};
use sp_host::escape_control;
use std::error::Error;
use std::fmt;

/// Code of a failure that has no code.
const OTHER: &str = "sp_gen::failed";

/// Formats every report.
pub struct Handler;

impl ReportHandler for Handler {
    fn debug(&self, error: &dyn Diagnostic, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(format(error, console::diagnostic_paint()).trim_end())
    }
}

/// Returns the text of `error`, ending in a newline.
pub fn format(error: &dyn Diagnostic, paint: Paint) -> String {
    let mut text = DiagnosticText {
        out: String::new(),
        paint,
    };
    text.diagnostic(error, None);
    text.out
}

struct DiagnosticText {
    out: String,
    paint: Paint,
}

impl DiagnosticText {
    /// Appends `error` and its related diagnostics. `source` is the text that labels refer to if `error` has no text.
    fn diagnostic(&mut self, error: &dyn Diagnostic, source: Option<&dyn SourceCode>) {
        let message = error.to_string();
        self.heading(error, &message);
        let source = error.source_code().or(source);
        self.snippets(error, source);
        self.causes(error, &message);
        if let Some(help) = error.help() {
            self.field("help", &help.to_string());
        }
        for related in error.related().into_iter().flatten() {
            self.diagnostic(related, source);
        }
    }

    fn heading(&mut self, error: &dyn Diagnostic, message: &str) {
        let (word, color) = match error.severity() {
            Some(Severity::Warning) => ("warning:", "1;33"),
            Some(Severity::Advice) => ("note:", "1;36"),
            _ => ("error:", "1;31"),
        };
        let word = self.colored(color, word);
        let code = code(error).unwrap_or_else(|| OTHER.into());
        let code = self.colored("2", &format!("[{code}]"));
        let message = printable(message).replace('\n', "\n  ");
        self.out.push_str(&format!("{word} {message} {code}\n"));
    }

    fn snippets(&mut self, error: &dyn Diagnostic, source: Option<&dyn SourceCode>) {
        let labels = error.labels().into_iter().flatten();
        let found = labels.filter_map(|label| Snippet::find(source?, &label));
        for snippet in found.collect::<Vec<_>>() {
            let caret = self.colored("1;31", &snippet.caret);
            self.out.push_str(&snippet.text(&caret));
        }
    }

    /// Appends the causes whose text the message does not contain already.
    fn causes(&mut self, error: &dyn Diagnostic, message: &str) {
        let mut shown = message.to_owned();
        let mut next = error.diagnostic_source();
        while let Some(cause) = next {
            self.cause(&cause.to_string(), code(cause), &mut shown);
            self.snippets(cause, cause.source_code());
            if let Some(help) = cause.help() {
                self.field("help", &help.to_string());
            }
            for related in cause.related().into_iter().flatten() {
                self.diagnostic(related, cause.source_code());
            }
            next = cause.diagnostic_source();
        }
        let mut next = error.source();
        while let Some(cause) = next {
            self.cause(&cause.to_string(), None, &mut shown);
            next = Error::source(cause);
        }
    }

    fn cause(&mut self, message: &str, code: Option<String>, shown: &mut String) {
        if shown.contains(message) {
            return;
        }
        shown.push_str(message);
        let code = code.map_or_else(String::new, |code| format!(" [{code}]"));
        self.field("caused by", &format!("{message}{code}"));
    }

    fn field(&mut self, name: &str, text: &str) {
        let name = self.colored("36", &format!("{name}:"));
        let text = printable(text).replace('\n', "\n    ");
        self.out.push_str(&format!("  {name} {text}\n"));
    }

    fn colored(&self, code: &str, text: &str) -> String {
        match self.paint {
            Paint::Plain => text.to_owned(),
            Paint::Ansi => format!("\x1b[{code}m{text}\x1b[0m"),
        }
    }
}

/// Returns the lines of `text` without what a terminal interprets: a message may have names of files and text of headers.
fn printable(text: &str) -> String {
    let lines = text.trim_end().split('\n');
    let lines = lines.map(|line| escape_control(&line.replace('\t', " ")));
    lines.collect::<Vec<_>>().join("\n")
}

fn code(error: &dyn Diagnostic) -> Option<String> {
    error.code().map(|code| code.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use miette::{LabeledSpan, NamedSource, miette};

    #[test]
    fn escapes_what_a_terminal_interprets() {
        let name = "a\u{1b}[2J\u{202e}b";
        let report = miette!(
            labels = vec![LabeledSpan::at(0..3, name)],
            help = format!("remove {name}"),
            "{name}\tis\nodd"
        );
        let text = plain(report.with_source_code(NamedSource::new(name, "int x;".to_owned())));
        assert!(!text.contains(['\u{1b}', '\u{202e}', '\t']), "{text}");
        assert_eq!(text.matches("a\\u{1b}[2J\\u{202e}b").count(), 4, "{text}");
        assert!(text.contains(" is\n  odd [sp_gen::failed]\n"), "{text}");
    }

    #[test]
    fn shows_part_of_a_long_line() {
        let line = format!("{}wrong{}", "x".repeat(1_000_000), "y".repeat(1_000_000));
        let label = LabeledSpan::at(1_000_000..1_000_005, "here");
        let report = miette!(labels = vec![label], "odd");
        let text = plain(report.with_source_code(NamedSource::new("a.h", line)));
        assert!(text.len() < 1_000, "{}", text.len());
        assert!(text.contains("--> a.h:1:1000001\n"), "{text}");
        let mut lines = text.lines().skip(3);
        let (shown, marked) = (lines.next().unwrap(), lines.next().unwrap());
        assert_eq!(shown.find("wrong"), marked.find("^^^^^ here"), "{text}");
    }

    fn plain(report: miette::Report) -> String {
        format(report.as_ref(), Paint::Plain)
    }

    #[test]
    fn shows_code_at_the_end_then_help() {
        let text = plain(miette!(
            code = "sp_gen::a::b",
            help = "do\nthis",
            "it failed"
        ));
        assert_eq!(
            text,
            "error: it failed [sp_gen::a::b]\n  help: do\n    this\n"
        );
    }

    #[test]
    fn shows_line_with_caret() {
        let label = LabeledSpan::at(8..11, "here");
        let report = miette!(labels = vec![label], code = "sp_gen::a::b", "wrong");
        let source = NamedSource::new("a.h", "int a;\n\tfoo bar;\n".to_owned());
        let text = plain(report.with_source_code(source));
        let expected =
            "error: wrong [sp_gen::a::b]\n  --> a.h:2:2\n   |\n 2 |  foo bar;\n   |  ^^^ here\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn shows_each_cause_once() {
        let inner = std::io::Error::other("disk");
        let report = miette::IntoDiagnostic::into_diagnostic(Err::<(), _>(inner)).unwrap_err();
        let text = plain(report.wrap_err("x cannot be written"));
        let expected = "error: x cannot be written [sp_gen::failed]\n  caused by: disk\n";
        assert_eq!(text, expected);
    }
}
