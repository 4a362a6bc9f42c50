//! `sp-gen diff <OLD> <NEW>`: prints the differences between two releases' APIs, and their effect on a plugin built
//! for one of them; with `--ops`, the differences between their op definitions; between two hosts of PJRT such as
//! `jaxlib:0.9`, those of what they demand of a plugin.

mod demand;
mod ops;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use miette::{IntoDiagnostic, Report};

use super::next_pluggable_device;
use crate::console;
use crate::diagnostic::{self, CommandOutcome, Result};
use crate::operand::{self, LoadedSide, Operand, OperandError, ReadOptions};
use crate::report::{self, DiffReport, SideHeaders, Suppressed, TextStyle};
use sp_data::release::Release;
use sp_data::suggest;
use sp_diff::plugin::{HostReleases, PluginUsage};
use sp_diff::suppress::Suppressions;
use sp_diff::{self, Diff, Surface, Verdict};
use sp_parse::clang::DEFAULT_TARGET;
use sp_parse::extract::UnreadableApi;

const EXAMPLES: &str = "\
Examples:
  sp-gen diff 2.20 2.21                                 compare two releases
  sp-gen diff --api kernels,ops 2.6 2.7                 compare two of their APIs
  sp-gen diff 2.21 path/to/include --plugin libfoo.so   print what headers change for a plugin
  sp-gen diff 2.20 2.21 --format html > diff.html       write an HTML page
  sp-gen diff 2.12 2.13 --ops                           compare the op definitions of two releases
  sp-gen diff jaxlib:0.9 jaxlib:0.10                    compare what two hosts demand of a PJRT plugin";

/// Arguments of `diff`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The old side: a release (2.6), an IR file or a folder of them, an include root, a wheel, an installed
    /// TensorFlow, or a measured host of PJRT plugins (jaxlib:0.9)
    old: String,
    /// The new side, of the same kinds as OLD
    new: String,
    /// Compare only these APIs, such as stream_executor,kernels
    #[arg(long, value_name = "API", value_delimiter = ',')]
    api: Vec<String>,
    /// The target whose layouts are compared
    #[arg(long, default_value = DEFAULT_TARGET, value_name = "TRIPLE")]
    target: String,
    /// The output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// The findings for which the command exits with 1
    #[arg(long, value_enum, default_value_t = FailOn::Breaking, value_name = "WHAT")]
    fail_on: FailOn,
    /// Print only findings about what this plugin uses; between hosts of PJRT plugins, a child process loads the library
    #[arg(long, value_name = "LIBFOO.SO")]
    plugin: Option<PathBuf>,
    /// Compare the op definitions of two releases instead of their headers, for a plugin that registers kernels
    #[arg(long, conflicts_with_all = ["api", "plugin", "target"])]
    ops: bool,
    /// The file that lists accepted findings [default: the nearest sp-gen.toml in this folder or a folder above]
    #[arg(long, value_name = "SP-GEN.TOML")]
    config: Option<PathBuf>,
}

impl Args {
    /// Returns the arguments of a report about `plugin` on two releases, whatever is found.
    pub fn for_plugin(releases: [&str; 2], plugin: PathBuf, config: Option<PathBuf>) -> Self {
        let [old, new] = releases.map(str::to_owned);
        Self {
            old,
            new,
            api: Vec::new(),
            target: DEFAULT_TARGET.to_owned(),
            format: Format::Text,
            fail_on: FailOn::Never,
            plugin: Some(plugin),
            ops: false,
            config,
        }
    }
}

/// Output format of a diff.
#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// Text for a terminal
    Text,
    /// JSON for programs
    Json,
    /// Markdown for a pull request
    Markdown,
    /// An HTML page in one file
    Html,
    /// SARIF 2.1.0, for code scanning
    Sarif,
}

/// Findings for which the exit status is 1.
#[derive(Clone, Copy, ValueEnum)]
enum FailOn {
    /// Findings that break built plugins
    Breaking,
    /// All findings
    Any,
    /// No finding
    Never,
}

/// Prints the diff.
pub fn run(args: Args) -> Result {
    let current_dir = operand::current_folder()?;
    let folders = operand::readable_folders(&current_dir);
    let mut suppressions = Suppressions::find(args.config.as_deref(), &current_dir)?;
    if args.ops {
        suppressions.retain_rules(sp_diff::ops::RULES);
        return ops::run(&args, &suppressions, &folders);
    }
    if let Some(hosts) = demand::hosts(&args)? {
        suppressions.retain_rules(sp_diff::demand::RULES);
        return demand::run(&args, &suppressions, hosts);
    }
    suppressions.retain_rules(sp_diff::RULES);
    let (old, new) = (Operand::parse(&args.old)?, Operand::parse(&args.new)?);
    let target = &args.target;
    let reading = ReadOptions {
        folders: &folders,
        target,
        apis: &args.api,
    };
    let (mut old, mut new) = operand::read_both(&old, &new, reading)?;
    let unread = separate_unread(&mut old, &mut new, &args.api)?;
    if old.is_parsed || new.is_parsed {
        old.surface.restrict(&args.api);
        new.surface.restrict(&args.api);
    }
    check_apis(&args.api, &old.surface, &new.surface)?;
    let diff = sp_diff::diff(&old.surface, &new.surface, target);
    let (diff, suppressed) = separate_suppressed(
        diff,
        &suppressions,
        compared_releases(&old.surface, &new.surface),
    )?;
    let plugin = args.plugin.as_deref();
    if let Some(text) = plugin.and_then(next_pluggable_device::note) {
        console::note!("{text}");
    }
    let plugin = plugin.map(|path| usage(path, &old.surface, &new.surface));
    let mut report = select(diff, suppressed, &args.api, plugin.transpose()?);
    let hosts = HostReleases {
        old: old.release,
        new: new.release,
    };
    judge(&mut report, hosts);
    let outcome = outcome(report.diff.verdict, args.fail_on);
    report.set_unread(unread);
    let (old, new) = (old.headers, new.headers);
    print(&report, &SideHeaders { old, new }, args.format)?;
    Ok(match outcome {
        CommandOutcome::Done if !report.unread.is_empty() => CommandOutcome::Incomplete,
        outcome => outcome,
    })
}

/// Reports the APIs that cannot be read and removes them from both sides. Returns their names.
fn separate_unread(
    old: &mut LoadedSide,
    new: &mut LoadedSide,
    apis: &[String],
) -> Result<Vec<String>> {
    let mut unread: Vec<UnreadableApi> = old.unread.drain(..).chain(new.unread.drain(..)).collect();
    unread.retain(|unread| apis.is_empty() || apis.contains(&unread.api));
    let names: BTreeSet<String> = unread.iter().map(|unread| unread.api.clone()).collect();
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
    Ok(names.into_iter().collect())
}

fn outcome(verdict: Verdict, fail_on: FailOn) -> CommandOutcome {
    let found = match fail_on {
        FailOn::Breaking => verdict == Verdict::Breaking,
        FailOn::Any => verdict != Verdict::Identical,
        FailOn::Never => false,
    };
    match found {
        true => CommandOutcome::Found,
        false => CommandOutcome::Done,
    }
}

/// Returns an error for a requested API that neither side has. An API that one side has is a finding of the diff.
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

fn usage(path: &Path, old: &Surface, new: &Surface) -> Result<PluginUsage> {
    Ok(PluginUsage::read(path, old.apis.iter().chain(&new.apis))?)
}

/// Returns the compared releases, or `None` if a side does not state its release.
fn compared_releases(old: &Surface, new: &Surface) -> Option<(Release, Release)> {
    let release = |side: &Surface| side.apis.first()?.release.parse().ok();
    Some((release(old)?, release(new)?))
}

/// Separates suppressed findings. This must precede the selection by API and plugin: a suppression that matches no
/// finding is an error.
fn separate_suppressed(
    diff: Diff,
    suppressions: &Suppressions,
    releases: Option<(Release, Release)>,
) -> Result<(Diff, Vec<Suppressed>)> {
    let reasons = suppressions.reasons(&diff.findings, releases)?;
    let mut is_active = reasons.iter().map(Option::is_none);
    let (diff, others) = diff.partition(|_| is_active.next().unwrap_or(true));
    let reasons = reasons.iter().flatten().cloned();
    let suppressed = reasons.zip(others);
    let suppressed = suppressed.map(|(reason, finding)| Suppressed { reason, finding });
    Ok((diff, suppressed.collect()))
}

/// Prints the differences of sides that have neither APIs nor headers.
fn print_whole(
    args: &Args,
    suppressions: &Suppressions,
    releases: Option<(Release, Release)>,
    found: Diff,
) -> Result {
    let (diff, suppressed) = separate_suppressed(found, suppressions, releases)?;
    let report = select(diff, suppressed, &[], None);
    print(&report, &SideHeaders::default(), args.format)?;
    Ok(outcome(report.diff.verdict, args.fail_on))
}

fn select(
    diff: Diff,
    mut suppressed: Vec<Suppressed>,
    apis: &[String],
    plugin: Option<PluginUsage>,
) -> DiffReport {
    let is_wanted = |finding: &sp_diff::Finding| {
        let is_in_api = apis.is_empty() || apis.contains(&finding.api);
        is_in_api && plugin.as_ref().is_none_or(|usage| usage.concerns(finding))
    };
    let (diff, _) = diff.partition(is_wanted);
    suppressed.retain(|suppressed| is_wanted(&suppressed.finding));
    DiffReport {
        diff,
        suppressed,
        unread: Vec::new(),
        plugin,
    }
}

/// Replaces the effects by those on the plugin of the report.
fn judge(report: &mut DiffReport, hosts: HostReleases) {
    let Some(plugin) = &report.plugin else { return };
    let diff = report.diff.clone();
    report.diff = diff.map(|finding| plugin.judge(finding, hosts));
    for entry in &mut report.suppressed {
        entry.finding = plugin.judge(entry.finding.clone(), hosts);
    }
}

fn print(report: &DiffReport, headers: &SideHeaders, format: Format) -> Result<()> {
    let page = TextStyle {
        paint: console::paint(),
        width: console::width(),
    };
    let text = match format {
        Format::Text => report::text(report, headers, page),
        Format::Json => report::json(report),
        Format::Markdown => report::markdown(report).into_diagnostic()?,
        Format::Html => report::html(report).into_diagnostic()?,
        Format::Sarif => report::sarif(report),
    };
    console::print(&text)
}
