//! `sp-gen coverage -- <PROGRAM>...`: the ops of a program by the kernel that computed them.

use crate::console::{print, warning};
use crate::coverage::recorder::{self, Recorded};
use crate::coverage::{self, Baseline, CoverageReport, Regression};
use crate::diagnostic::{CommandOutcome, Result};
use clap::ValueEnum;
use miette::IntoDiagnostic;
use sp_system::temporary::delay_signals;
use std::ffi::OsString;
use std::path::PathBuf;

const NOTES: &str = "\
The program runs unchanged, with any plugin and TensorFlow 2.5 or later; its output goes to stderr. TensorFlow's profiler records \
it, so that a program that profiles itself cannot be recorded. Times are those of the plugin's profiler, or of the host. A plugin of sp-gen states which \
kernels are its author's and which the reference's; each kernel of another plugin counts as the author's.

Examples:
  sp-gen coverage -- python train.py                              print what to write next
  sp-gen coverage --format html -- python train.py > page.html    write a page
  sp-gen coverage --format json -- python train.py > base.json    keep a report, for CI
  sp-gen coverage --baseline base.json -- python train.py         fail if an op has a worse kernel

Exit status: 0 done, 1 an op has a worse kernel than in the baseline, or the program failed, 2 no process used a plugin's device.";

/// Output format.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CoverageFormat {
    /// Text for a terminal
    Text,
    /// JSON for programs
    Json,
    /// A page
    Html,
}

/// Arguments of `coverage`.
#[derive(clap::Args)]
#[command(after_help = NOTES)]
pub struct Args {
    /// The program that uses TensorFlow, and its arguments
    #[arg(required = true, last = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
    /// End the recording of each process after this time
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    seconds: Option<u64>,
    /// A report in JSON of an earlier run, to compare with
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Print all ops, not only the first 25
    #[arg(long)]
    all: bool,
    /// The output format
    #[arg(long, value_enum, default_value_t = CoverageFormat::Text)]
    format: CoverageFormat,
}

/// Runs the program and prints the report.
pub fn run(args: Args) -> Result {
    let baseline = args.baseline.as_deref().map(Baseline::read).transpose()?;
    // Ctrl-C ends the program, whose record is then still printed.
    let _delay = delay_signals();
    let recorded = recorder::record(&args.program, args.seconds)?;
    let report = CoverageReport::new(&recorded.processes);
    warn(&recorded, &report);
    if report.rows.is_empty() || report.device_types.is_empty() {
        return Ok(CommandOutcome::Incomplete);
    }
    let regressions = baseline.map_or_else(Vec::new, |it| it.regressions(&report));
    if args.format == CoverageFormat::Html {
        for it in &regressions {
            warning!(
                "{} {}: a worse kernel than in the baseline",
                it.op,
                it.types
            );
        }
    }
    print(&text(&report, &regressions, &args)?)?;
    Ok(match regressions.is_empty() && recorded.status.success() {
        true => CommandOutcome::Done,
        false => CommandOutcome::Found,
    })
}

fn text(report: &CoverageReport, regressions: &[Regression], args: &Args) -> Result<String> {
    let text = match args.format {
        CoverageFormat::Json => return Ok(coverage::print_json(report, regressions)),
        CoverageFormat::Html => return coverage::print_html(report).into_diagnostic(),
        CoverageFormat::Text => coverage::print_text(report, args.all),
    };
    Ok(match regressions.is_empty() {
        true => text,
        false => text + &coverage::print_regressions(regressions),
    })
}

/// Warns of what the report lacks.
fn warn(recorded: &Recorded, report: &CoverageReport) {
    if !recorded.status.success() {
        warning!(
            "the program failed ({}): the report has the ops up to then",
            recorded.status
        );
    }
    for failure in &report.failures {
        warning!("not recorded: {failure}");
    }
    if recorded.processes.is_empty() {
        warning!("no process used TensorFlow in Python and ended by itself: there is no report");
    } else if report.device_types.is_empty() {
        warning!("TensorFlow lists no device of a plugin: `sp-gen doctor` finds out why");
    } else if report.rows.is_empty() {
        warning!("the program ran no op: there is no report");
    }
}
