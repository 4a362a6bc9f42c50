//! `sp-gen doctor [PYTHON]`: finds out why TensorFlow or JAX does not list a plugin's device.

use super::TextOrJson;
use crate::console::{print, shows_progress, width};
use crate::diagnostic::{CommandOutcome, Result};
use crate::doctor::{diagnose, jax, json, text};
use indicatif::ProgressBar;
use std::path::PathBuf;
use std::time::Duration;

const NOTES: &str = "\
doctor checks each step from the installed TensorFlow to the registered kernels. A step is ok, FAILED or \
unknown; the report states what to do. Each plugin is loaded into a separate TensorFlow process, then all of \
them into one. This runs the plugins' code, as `import tensorflow` does; it is not a sandbox.

With --jax, the steps are those of a PJRT plugin of JAX: its module, what initialize() registers, the library, the \
version and the slots that the installed jaxlib demands, the devices and JAX_PLATFORMS.

Examples:
  sp-gen doctor                                   check the TensorFlow of python3
  sp-gen doctor venv/bin/python --format json     check another Python, and print JSON
  sp-gen doctor --jax venv/bin/python             check the PJRT plugins of JAX

Exit status: 0 every plugin has a device, 1 a step failed, 2 TensorFlow cannot be imported or there is no JAX.";

/// Arguments of `doctor`.
#[derive(clap::Args)]
#[command(after_help = NOTES)]
pub struct Args {
    /// The Python in which TensorFlow or JAX is installed, or the folder of its environment
    #[arg(default_value = "python3")]
    python: PathBuf,
    /// Diagnose the PJRT plugins of JAX
    #[arg(long)]
    jax: bool,
    /// Time limit of each process in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    timeout: u64,
    /// The output format
    #[arg(long, value_enum, default_value_t = TextOrJson::Text)]
    format: TextOrJson,
}

/// Diagnoses the plugins and prints the steps.
pub fn run(args: Args) -> Result {
    let spinner = new_spinner();
    let limit = Duration::from_secs(args.timeout);
    let progress = |label: &str| {
        // A plugin's path may have characters that control the terminal.
        spinner.set_message(label.escape_debug().to_string());
    };
    let report = match args.jax {
        true => jax::diagnose(&args.python, limit, progress),
        false => diagnose(&args.python, limit, progress),
    };
    spinner.finish_and_clear();
    let report = report?;
    print(&match args.format {
        TextOrJson::Text => text::print(&report, width()),
        TextOrJson::Json => json::print(&report),
    })?;
    Ok(match (report.has_framework(), report.has_failed()) {
        (false, _) => CommandOutcome::Incomplete,
        (true, true) => CommandOutcome::Found,
        (true, false) => CommandOutcome::Done,
    })
}

fn new_spinner() -> ProgressBar {
    if !shows_progress() {
        return ProgressBar::hidden();
    }
    let spinner = ProgressBar::new_spinner();
    spinner.enable_steady_tick(Duration::from_millis(100));
    spinner
}
