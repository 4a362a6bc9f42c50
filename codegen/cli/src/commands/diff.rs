//! `sp-gen diff <OLD> <NEW>`: what differs between two releases' APIs, and what that means for a plugin
//! built for one of them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use miette::{IntoDiagnostic, Report};

use crate::console;
use crate::diagnostic::{self, Outcome, Result};
use crate::operand::{self, Operand, OperandError, Reading, Side};
use crate::report::{self, Page, Quotable, Report as Findings, Suppressed};
use sp_data::release::Release;
use sp_data::suggest;
use sp_diff::plugin::Usage;
use sp_diff::suppress::Suppressions;
use sp_diff::{self, Diff, Surface, Verdict};
use sp_parse::clang::DEFAULT_TARGET;
use sp_parse::extract::UnreadableApi;

const EXAMPLES: &str = "\
Examples:
  sp-gen diff 2.20 2.21                                 two releases
  sp-gen diff --api kernels,ops 2.6 2.7                 two of their APIs
  sp-gen diff 2.21 path/to/include --plugin libfoo.so   what headers at hand change for a plugin
  sp-gen diff 2.20 2.21 --format html > diff.html       a page for a browser";

/// Arguments of `diff`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// A release (2.6), an IR file or a folder of them, an include root, a wheel, or an installed TensorFlow
    old: String,
    /// What it is compared with: the same kinds
    new: String,
    /// Only these APIs: stream_executor, kernels, ...
    #[arg(long, value_name = "API", value_delimiter = ',')]
    api: Vec<String>,
    /// The target whose layouts are compared
    #[arg(long, default_value = DEFAULT_TARGET, value_name = "TRIPLE")]
    target: String,
    /// The output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// What makes the exit status 1
    #[arg(long, value_enum, default_value_t = FailOn::Breaking, value_name = "WHAT")]
    fail_on: FailOn,
    /// Only what this plugin uses
    #[arg(long, value_name = "LIBFOO.SO")]
    plugin: Option<PathBuf>,
    /// What is suppressed; the nearest sp-gen.toml in this folder and those above if absent
    #[arg(long, value_name = "SP-GEN.TOML")]
    config: Option<PathBuf>,
}

/// How to print a diff.
#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// For a terminal
    Text,
    /// For programs
    Json,
    /// For a pull request
    Markdown,
    /// A page for a browser, in one file
    Html,
    /// SARIF 2.1.0, for code scanning
    Sarif,
}

/// What makes the exit status 1.
#[derive(Clone, Copy, ValueEnum)]
enum FailOn {
    /// A finding that breaks binaries
    Breaking,
    /// Any finding
    Any,
    /// Nothing
    Never,
}

/// Prints the diff.
pub fn run(args: Args) -> Result {
    let here = std::env::current_dir().into_diagnostic()?;
    let place = operand::readable_place(&here);
    let (old, new) = (Operand::find(&args.old)?, Operand::find(&args.new)?);
    let suppressions = Suppressions::find(args.config.as_deref(), &here)?;
    let target = &args.target;
    let reading = Reading {
        place: &place,
        target,
        apis: &args.api,
    };
    let (mut old, mut new) = operand::both(&old, &new, reading)?;
    let is_whole = set_aside_unread(&mut old, &mut new, &args.api)?;
    if old.is_parsed || new.is_parsed {
        old.surface.restrict(&args.api);
        new.surface.restrict(&args.api);
    }
    check_apis(&args.api, &old.surface, &new.surface)?;
    let diff = sp_diff::diff(&old.surface, &new.surface, target);
    let (diff, suppressed) = suppress(diff, &suppressions, step(&old.surface, &new.surface))?;
    let plugin = args.plugin.as_deref();
    let plugin = plugin.map(|path| usage(path, &old.surface, &new.surface));
    let report = narrow(diff, suppressed, &args.api, plugin.transpose()?);
    print(&report, old, new, args.format)?;
    Ok(match outcome(report.diff.verdict, args.fail_on) {
        Outcome::Done if !is_whole => Outcome::Incomplete,
        outcome => outcome,
    })
}

/// Shows the APIs that cannot be read and takes them out of both sides. Returns true if there are none.
fn set_aside_unread(old: &mut Side, new: &mut Side, apis: &[String]) -> Result<bool> {
    let mut unread: Vec<UnreadableApi> = old.unread.drain(..).chain(new.unread.drain(..)).collect();
    unread.retain(|one| apis.is_empty() || apis.contains(&one.api));
    let names: BTreeSet<String> = unread.iter().map(|one| one.api.clone()).collect();
    let reports = unread.into_iter().map(Report::from);
    let is_only = !apis.is_empty() && apis.iter().all(|api| names.contains(api));
    for report in reports {
        if is_only {
            return Err(report);
        }
        diagnostic::show(&report);
    }
    for side in [old, new] {
        let apis = &mut side.surface.apis;
        apis.retain(|api| !names.contains(&api.name));
    }
    Ok(names.is_empty())
}

fn outcome(verdict: Verdict, fail_on: FailOn) -> Outcome {
    let found = match fail_on {
        FailOn::Breaking => verdict == Verdict::Breaking,
        FailOn::Any => verdict != Verdict::Identical,
        FailOn::Never => false,
    };
    match found {
        true => Outcome::Found,
        false => Outcome::Done,
    }
}

/// An API that only one side has is a finding; one that neither has is a mistake.
fn check_apis(wanted: &[String], old: &Surface, new: &Surface) -> Result<()> {
    let apis = old.apis.iter().chain(&new.apis);
    let known: BTreeSet<&str> = apis.map(|api| api.name.as_str()).collect();
    let unknown = wanted.iter().find(|api| !known.contains(api.as_str()));
    unknown.map_or(Ok(()), |api| {
        let list: Vec<&str> = known.iter().copied().collect();
        let list = format!("known: {}", list.join(", "));
        Err(OperandError::UnknownApi {
            api: api.clone(),
            old: old.label.clone(),
            new: new.label.clone(),
            help: suggest::with_suggestion(api, known, list),
        }
        .into())
    })
}

fn usage(path: &Path, old: &Surface, new: &Surface) -> Result<Usage> {
    Ok(Usage::of(path, old.apis.iter().chain(&new.apis))?)
}

/// The releases that are compared, where both sides say theirs.
fn step(old: &Surface, new: &Surface) -> Option<(Release, Release)> {
    let release = |side: &Surface| side.apis.first()?.release.parse().ok();
    Some((release(old)?, release(new)?))
}

/// Takes out what is suppressed. Before anything is narrowed: an entry for what is not asked for now
/// is no mistake.
fn suppress(
    diff: Diff,
    suppressions: &Suppressions,
    step: Option<(Release, Release)>,
) -> Result<(Diff, Vec<Suppressed>)> {
    let reasons = suppressions.reasons(&diff.findings, step)?;
    let mut keep = reasons.iter().map(Option::is_none);
    let (diff, others) = diff.part(|_| keep.next().unwrap_or(true));
    let reasons = reasons.iter().flatten().cloned();
    let suppressed = reasons.zip(others);
    let suppressed = suppressed.map(|(reason, finding)| Suppressed { reason, finding });
    Ok((diff, suppressed.collect()))
}

fn narrow(
    diff: Diff,
    mut suppressed: Vec<Suppressed>,
    apis: &[String],
    plugin: Option<Usage>,
) -> Findings {
    let is_wanted = |finding: &sp_diff::Finding| {
        let of_api = apis.is_empty() || apis.contains(&finding.api);
        of_api && plugin.as_ref().is_none_or(|one| one.concerns(finding))
    };
    let (mut diff, _) = diff.part(is_wanted);
    suppressed.retain(|one| is_wanted(&one.finding));
    if let Some(plugin) = &plugin {
        diff = diff.map(|finding| plugin.judge(finding));
        for one in &mut suppressed {
            one.finding = plugin.judge(one.finding.clone());
        }
    }
    Findings {
        diff,
        suppressed,
        plugin,
    }
}

fn print(report: &Findings, old: Side, new: Side, format: Format) -> Result<()> {
    let page = Page {
        paint: console::paint(),
        width: console::width(),
    };
    let text = match format {
        Format::Text => {
            let (old, new) = (old.headers, new.headers);
            report::text(report, &Quotable { old, new }, page)
        }
        Format::Json => report::json(report),
        Format::Markdown => report::markdown(report).into_diagnostic()?,
        Format::Html => report::html(report).into_diagnostic()?,
        Format::Sarif => report::sarif(report),
    };
    console::print(&text)
}
