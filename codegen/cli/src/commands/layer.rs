//! `sp-gen layer -- PROGRAM`: runs a program and shows, or checks, every call between TensorFlow and a plugin.

use crate::console::warning;
use crate::diagnostic::{CommandOutcome, Result};
use crate::layer::{self, LayerOptions};
use sp_data::release::Release;
use std::ffi::OsString;
use std::path::PathBuf;

const NOTES: &str = "\
The plugin may be written in any language, and is not changed. A library between TensorFlow and the plugin is compiled \
once for each release, which needs rustc. Without --trace, --validate and --capture, --trace - is the default.

Examples:
  sp-gen layer -- python train.py                                    print every call to stderr
  sp-gen layer --trace t.json --filter slots -- python train.py      write the slots' calls for ui.perfetto.dev
  sp-gen layer --trace t.txt --filter 'kernels,copies,TF_*Output' -- python train.py
  sp-gen layer --validate -- python train.py                         report wrong calls of either side
  sp-gen layer --validate --guard -- python train.py                 also accesses outside of the host memory of copies
  sp-gen layer --capture step.capture -- python train.py             write what kernels computed, for `sp-gen replay`

Groups of --filter: slots, functions, callbacks, entry_points, kernels, copies, streams, memory, graph, profiler.

Exit status: that of the program; 1 if it is 0 and --validate has found something; 2 if the program was not run, or a file could not be written.";

/// Arguments of `layer`.
#[derive(clap::Args)]
#[command(after_help = NOTES)]
pub struct Args {
    /// Write every call to FILE, which must not exist: as text, as JSON for Perfetto if its name ends with .json, or to stderr if it is `-`
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Write what each kernel computed to FILE, which must not exist, for `sp-gen replay`
    #[arg(long, value_name = "FILE")]
    capture: Option<PathBuf>,
    /// End the capture of a process before its records have more bytes: a number, or one with KiB, MiB or GiB
    #[arg(long, value_name = "SIZE", default_value = "4GiB", value_parser = parse_size, requires = "capture")]
    capture_limit: u64,
    /// Check calls, and report those that break TensorFlow's contract
    #[arg(long)]
    validate: bool,
    /// With --validate, place the host memory of each copy between inaccessible pages, and wait for the copy
    #[arg(long, requires = "validate")]
    guard: bool,
    /// Show, check and capture only this plugin: a library's path or file name [default: every plugin]
    #[arg(long, value_name = "LIB")]
    plugin: Option<String>,
    /// Trace only these functions, slots (with * and ?) and groups; `-NAME` excludes
    #[arg(
        long,
        value_name = "NAMES",
        default_value = "",
        hide_default_value = true,
        allow_hyphen_values = true
    )]
    filter: String,
    /// The Python of the program [default: the program itself, or that of a script's first line]
    #[arg(long, value_name = "PYTHON")]
    python: Option<PathBuf>,
    /// The release of the program's TensorFlow [default: that of its Python]
    #[arg(long, value_name = "RELEASE", conflicts_with = "python")]
    release: Option<Release>,
    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

/// Returns the number of bytes in a text such as `512MiB`.
fn parse_size(text: &str) -> std::result::Result<u64, String> {
    let (number, unit) = text.split_at(text.find(char::is_alphabetic).unwrap_or(text.len()));
    let factor = match unit {
        "" => Some(1),
        "KiB" => Some(1 << 10),
        "MiB" => Some(1 << 20),
        "GiB" => Some(1_u64 << 30),
        _ => None,
    };
    let number: Option<u64> = number.trim_end().parse().ok().filter(|it| *it > 0);
    let size = number
        .zip(factor)
        .and_then(|(it, factor)| it.checked_mul(factor));
    size.ok_or_else(|| "expected a size such as 512MiB or 4GiB".into())
}

/// Runs the program.
pub fn run(args: Args) -> Result {
    let shows_nothing = args.trace.is_none() && args.capture.is_none() && !args.validate;
    let options = LayerOptions {
        trace: args.trace.or(shows_nothing.then(|| "-".into())),
        capture: args.capture,
        capture_limit: args.capture_limit,
        validate: args.validate,
        guard: args.guard,
        plugin: args.plugin,
        filter: args.filter,
        python: args.python,
        release: args.release,
    };
    let run = layer::run(&args.program, &options)?;
    if !run.findings.is_empty() {
        let (count, plural) = match run.findings.len() {
            1 => (1, ""),
            count => (count, "s"),
        };
        warning!("sp-gen layer: {count} finding{plural}; `sp-gen explain RULE` describes a rule");
    }
    // The layer has printed each when it was found; a program may show nothing of its stderr.
    for finding in &run.findings {
        warning!("  {finding}");
    }
    Ok(match (run.status, run.findings.is_empty()) {
        (0, false) => CommandOutcome::Found,
        (status, _) => CommandOutcome::Exit(status),
    })
}
