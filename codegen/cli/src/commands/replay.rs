//! `sp-gen replay FILE --plugin LIB`: repeats the kernel calls of a capture, and compares what they compute. `--list` prints them.

use super::TextOrJson;
use crate::console::{note, print};
use crate::diagnostic::{CommandOutcome, Result};
use crate::replay::{self, ReplayError, ReplayOptions, ReplayedCalls, Verdict};
use sp_data::release::Release;
use std::path::PathBuf;
use std::time::Duration;

const NOTES: &str = "\
`sp-gen layer --capture FILE -- python train.py` writes FILE. A replay needs neither TensorFlow nor the program: kernels get the \
captured attributes, inputs and values of variables, and their outputs are compared to the bit. Random results are not compared.

Examples:
  sp-gen replay step.capture --list                                        print a line for each call
  sp-gen replay step.capture --plugin libmine.so                           compare all calls
  sp-gen replay step.capture --plugin libmine.so --call 27                 compare one call
  sp-gen replay step.capture --plugin libnew.so --tolerance 1e-5           another implementation
  sp-gen replay step.capture --plugin libmine.so --reduce small.capture    write the calls that a failure needs

Exit status: 0 all is equal, 1 a call differs or fails, 2 the replay was not possible, nothing could be compared, or a failure \
to reduce did not repeat.";

/// Arguments of `replay`.
#[derive(clap::Args)]
#[command(after_help = NOTES)]
pub struct Args {
    /// The capture
    #[arg(value_name = "FILE")]
    capture: PathBuf,
    /// The plugin's library
    #[arg(long, value_name = "LIB", required_unless_present = "list")]
    plugin: Option<PathBuf>,
    /// Print each call: number, op, node, types and shapes, and whether its kernel was the author's (own) or the reference's
    #[arg(long, conflicts_with_all = ["plugin", "call", "tolerance", "reduce", "release", "timeout", "format"])]
    list: bool,
    /// Repeat only this call, by its number
    #[arg(long, value_name = "NUMBER", conflicts_with = "reduce", value_parser = clap::value_parser!(u64).range(1..))]
    call: Option<u64>,
    /// Accept floating-point numbers that differ by at most X * (1 + the captured number) [default: to the bit]
    #[arg(long, value_name = "X", value_parser = parse_tolerance)]
    tolerance: Option<f64>,
    /// Write the fewest calls with which the first failing call still fails to OUT, which must not exist
    #[arg(long, value_name = "OUT")]
    reduce: Option<PathBuf>,
    /// The release to emulate [default: that of the capture]
    #[arg(long, value_name = "RELEASE")]
    release: Option<Release>,
    /// The longest time of a call
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    timeout: u64,
    /// The output format
    #[arg(long, value_enum, default_value_t = TextOrJson::Text)]
    format: TextOrJson,
}

fn parse_tolerance(text: &str) -> std::result::Result<f64, String> {
    let value: f64 = text.parse().map_err(|error| format!("{error}"))?;
    match value.is_finite() && value >= 0.0 {
        true => Ok(value),
        false => Err("expected a number that is not negative".into()),
    }
}

/// Repeats the calls, or lists them.
pub fn run(args: Args) -> Result {
    let Some(plugin) = args.plugin else {
        print(&replay::list(&args.capture)?)?;
        return Ok(CommandOutcome::Done);
    };
    // The loader searches its own folders for a name without a slash.
    let library = plugin.canonicalize();
    let library = library.map_err(|error| {
        let path = sp_host::escape_control(&plugin.display().to_string());
        ReplayError::NoPlugin(format!("{path}: {error}"))
    })?;
    let options = ReplayOptions {
        capture: args.capture,
        plugin,
        library,
        release: args.release,
        tolerance: args.tolerance,
        timeout: Duration::from_secs(args.timeout),
    };
    replay::run_child(&options)?;
    if let Some(output) = args.reduce.as_ref().filter(|it| it.exists()) {
        return Err(ReplayError::ExistingFile(output.clone()).into());
    }
    let calls = args.call.map_or(ReplayedCalls::All, ReplayedCalls::One);
    let Some(replayed) = replay::replay(&options, calls)? else {
        return Ok(CommandOutcome::Incomplete);
    };
    print(&match args.format {
        TextOrJson::Text => replay::print_text(&options, &replayed),
        TextOrJson::Json => replay::print_json(&options, &replayed),
    })?;
    let failed = replayed.failures().next().map(|it| it.call);
    if failed.is_none() && replayed.count(Verdict::Equal) == 0 {
        return Err(ReplayError::nothing_compared(options.capture, args.call).into());
    }
    match (&args.reduce, failed) {
        (Some(output), Some(failed)) => {
            let count = replay::reduce(&options, &replayed, failed, output)?;
            let plural = if count == 1 { "" } else { "s" };
            note!("{}: {count} call{plural}", output.display());
        }
        (Some(output), None) => note!("{} is not written: no call fails", output.display()),
        (None, _) => {}
    }
    Ok(match failed {
        Some(_) => CommandOutcome::Found,
        None => CommandOutcome::Done,
    })
}
