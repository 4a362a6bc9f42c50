//! `sp-gen coverage -- <PROGRAM>...`: the ops of a program, of a SavedModel or of a capture, by the kernel that computed them.

use crate::console::{print, warning};
use crate::coverage::recorder::{self, Recorded};
use crate::coverage::{self, Baseline, CoverageInput, CoverageReport, InputError, Regression};
use crate::diagnostic::{CommandOutcome, Result};
use clap::ValueEnum;
use miette::IntoDiagnostic;
use sp_system::temporary::delay_signals;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

const NOTES: &str = "\
A program runs unchanged, with any plugin and TensorFlow 2.5 or later; its output goes to stderr. TensorFlow's profiler records \
it, so that a program that profiles itself cannot be recorded. Times are those of the plugin's profiler, or of the host. A plugin of sp-gen states which \
kernels are its author's and which the reference's; each kernel of another plugin counts as the author's.

Of a SavedModel each signature is called three times, with ones, or zeros for integers, of the stated shapes; a dimension that is not \
stated is 1. A capture of `sp-gen layer` has the plugin's kernels only: the report states that the other classes are unknown.

Examples:
  sp-gen coverage -- python train.py                              print what to write next
  sp-gen coverage --format html -- python train.py > page.html    write a page
  sp-gen coverage --format json -- python train.py > base.json    keep a report, for CI
  sp-gen coverage --baseline base.json -- python train.py         fail if an op has a worse kernel
  sp-gen coverage saved_model --python venv/bin/python            call the signatures of a SavedModel
  sp-gen coverage step.capture                                    print the kernels of a capture

Exit status: 0 done, 1 an op has a worse kernel than in the baseline, or the program or a signature failed, 2 no process used a plugin's \
device, or the input is none.";

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
    /// A SavedModel or a capture, in place of a program
    #[arg(
        value_name = "MODEL|CAPTURE",
        conflicts_with = "program",
        required_unless_present = "program"
    )]
    input: Option<PathBuf>,
    /// The program that uses TensorFlow, and its arguments
    #[arg(last = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
    /// The Python that loads a SavedModel [default: python3]
    #[arg(long, value_name = "PYTHON", conflicts_with = "program")]
    python: Option<PathBuf>,
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

/// Runs the program or the model, or reads the capture, and prints the report.
pub fn run(args: Args) -> Result {
    let baseline = args.baseline.as_deref().map(Baseline::read).transpose()?;
    let input = args.input.as_deref().map(CoverageInput::find).transpose()?;
    // Ctrl-C ends the program, whose record is then still printed.
    let _delay = (!matches!(input, Some(CoverageInput::Capture(_)))).then(delay_signals);
    let (report, has_failed) = match input {
        None => {
            let recorded = recorder::record(&args.program, args.seconds)?;
            self::recorded(
                ("the program", "the report has the ops up to then"),
                &recorded,
            )
        }
        Some(CoverageInput::Model(path)) => {
            let python = args.python.as_deref().unwrap_or(Path::new("python3"));
            let recorded = recorder::record_model(python, path, args.seconds)?;
            if recorded.processes.is_empty() && !recorded.status.success() {
                warning!(
                    "{} ended ({}) before it called a signature: there is no report",
                    python.display(),
                    recorded.status
                );
                return Ok(CommandOutcome::Incomplete);
            }
            self::recorded(
                ("a signature", "the report has the ops that ran"),
                &recorded,
            )
        }
        Some(CoverageInput::Capture(path)) if args.python.is_some() || args.seconds.is_some() => {
            return Err(InputError::Options(path.to_owned()).into());
        }
        Some(CoverageInput::Capture(path)) => (captured(path)?, false),
    };
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
    Ok(match regressions.is_empty() && !has_failed {
        true => CommandOutcome::Done,
        false => CommandOutcome::Found,
    })
}

/// Returns the report of a capture. Warns of what it lacks.
fn captured(path: &Path) -> Result<CoverageReport> {
    let report = coverage::read_capture(path)?;
    warn_of_failures(&report);
    if report.rows.is_empty() {
        warning!(
            "{} has no call of a kernel: there is no report",
            path.display()
        );
    }
    Ok(report)
}

fn warn_of_failures(report: &CoverageReport) {
    for failure in &report.failures {
        warning!("not recorded: {failure}");
    }
}

/// Returns the report of recorded processes, and true if `subject` has failed. Warns of what the report lacks; `rest` states what it
/// has after a failure.
fn recorded((subject, rest): (&str, &str), recorded: &Recorded) -> (CoverageReport, bool) {
    let report = CoverageReport::new(&recorded.processes);
    let has_failed = !recorded.status.success();
    if has_failed {
        warning!("{subject} failed ({}): {rest}", recorded.status);
    }
    warn_of_failures(&report);
    if recorded.processes.is_empty() {
        warning!("no process used TensorFlow in Python and ended by itself: there is no report");
    } else if report.device_types.is_empty() {
        warning!("TensorFlow lists no device of a plugin: `sp-gen doctor` finds out why");
    } else if report.rows.is_empty() {
        warning!("{subject} ran no op: there is no report");
    }
    (report, has_failed)
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
