//! Formats rejected arguments like every other failure.

use super::show;
use crate::console;
use clap::error::ErrorKind;
use miette::Diagnostic;
use std::fmt::Display;
use std::process::ExitCode;
use thiserror::Error;

/// The arguments are wrong.
#[derive(Debug, Error)]
#[error("{message}")]
struct UsageError {
    message: String,
    code: String,
    help: String,
}

impl Diagnostic for UsageError {
    fn code<'a>(&'a self) -> Option<Box<dyn Display + 'a>> {
        Some(Box::new(&self.code))
    }

    fn help<'a>(&'a self) -> Option<Box<dyn Display + 'a>> {
        (!self.help.is_empty()).then(|| Box::new(&self.help) as Box<dyn Display>)
    }
}

/// Prints clap's response in place of a command: a help text or the version to stdout, an error to stderr.
pub fn exit_usage(error: &clap::Error) -> ExitCode {
    let is_colored = |paint| paint == crate::history::Paint::Ansi;
    let styled = error.render();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            let text = match is_colored(console::paint()) {
                true => styled.ansi().to_string(),
                false => styled.to_string(),
            };
            super::exit(print_result(&text))
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            console::write_stderr(format_args!("{}", styled.to_string().trim_end()));
            ExitCode::from(2)
        }
        kind => {
            show(&usage_error(&styled.to_string(), kind).into());
            ExitCode::from(2)
        }
    }
}

fn print_result(text: &str) -> super::Result {
    console::print(text)?;
    Ok(super::CommandOutcome::Done)
}

/// Converts clap's text. The first paragraph is the message, the others are help.
fn usage_error(text: &str, kind: ErrorKind) -> UsageError {
    let text = text.strip_prefix("error: ").unwrap_or(text);
    let (first, rest) = text.split_once("\n\n").unwrap_or((text, ""));
    let mut lines = first.lines().map(str::trim);
    let mut message = lines.next().unwrap_or_default().to_owned();
    let (values, listed): (Vec<&str>, Vec<&str>) = lines.partition(|line| line.starts_with('['));
    if !listed.is_empty() {
        message = format!("{message} {}", listed.join(", "));
    }
    let values = values.iter().map(|line| line.trim_matches(['[', ']']));
    let rest = rest.lines().map(str::trim).filter(|line| !line.is_empty());
    let rest = rest.map(|line| line.strip_prefix("tip: ").unwrap_or(line));
    let help: Vec<&str> = values.chain(rest).collect();
    UsageError {
        message,
        code: format!("sp_gen::usage::{}", snake_case(&format!("{kind:?}"))),
        help: help.join("\n"),
    }
}

fn snake_case(name: &str) -> String {
    let mut text = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.extend(letter.to_lowercase());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn converts_list_of_missing_arguments() {
        let text = "error: the following required arguments were not provided:\n  <OLD>\n  <NEW>\n\nUsage: sp-gen diff <OLD> <NEW>\n\nFor more information, try '--help'.\n";
        let error = usage_error(text, ErrorKind::MissingRequiredArgument);
        let expected = "the following required arguments were not provided: <OLD>, <NEW>";
        assert_eq!(error.message, expected);
        assert_eq!(error.code, "sp_gen::usage::missing_required_argument");
        let help = "Usage: sp-gen diff <OLD> <NEW>\nFor more information, try '--help'.";
        assert_eq!(error.help, help);
    }
}
