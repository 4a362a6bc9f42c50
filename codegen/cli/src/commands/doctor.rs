//! `sp-gen doctor [PYTHON]`: why TensorFlow does not list a plugin's device.

use crate::console::{print, shows_progress, width};
use crate::diagnostic::{Outcome, Result};
use crate::doctor::{diagnose, json, text};
use clap::ValueEnum;
use indicatif::ProgressBar;
use std::path::PathBuf;
use std::time::Duration;

const NOTES: &str = "\
Each step, from the installed TensorFlow to the registered kernels, is ok, FAILED or unknown, with what to do. \
Every plugin is loaded into a TensorFlow process of its own, then all of them into one. This runs the plugins' \
code, as `import tensorflow` does; it is not a sandbox.

Examples:
  sp-gen doctor                                   the python3 on PATH
  sp-gen doctor venv/bin/python --format json

Exit status: 0 every plugin lists a device, 1 a step failed, 2 there is no TensorFlow that can be imported.";

/// Arguments of `doctor`.
#[derive(clap::Args)]
#[command(after_help = NOTES)]
pub struct Args {
    /// The Python that has TensorFlow
    #[arg(default_value = "python3")]
    python: PathBuf,
    /// The seconds that each process of TensorFlow may take
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    timeout: u64,
    /// The output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// How to print a diagnosis.
#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// For reading
    Text,
    /// For programs
    Json,
}

/// Diagnoses the plugins and prints the steps.
pub fn run(args: Args) -> Result {
    let spinner = spinner();
    let limit = Duration::from_secs(args.timeout);
    let report = diagnose(&args.python, limit, |label| {
        // A plugin's path may have characters that control the terminal.
        spinner.set_message(label.escape_debug().to_string());
    });
    spinner.finish_and_clear();
    let report = report?;
    print(&match args.format {
        Format::Text => text::print(&report, width()),
        Format::Json => json::print(&report),
    })?;
    Ok(match (report.has_tensorflow(), report.has_failed()) {
        (false, _) => Outcome::Incomplete,
        (true, true) => Outcome::Found,
        (true, false) => Outcome::Done,
    })
}

fn spinner() -> ProgressBar {
    if !shows_progress() {
        return ProgressBar::hidden();
    }
    let spinner = ProgressBar::new_spinner();
    spinner.enable_steady_tick(Duration::from_millis(100));
    spinner
}
