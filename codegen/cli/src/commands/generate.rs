//! `sp-gen generate [--lang rust|c] [--release R | --headers ROOT] [--out DIR] [--check]`:
//! writes the sp-abi crate or the headers of the C shim, from snapshots or from headers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use miette::{Context, IntoDiagnostic, miette};

use crate::console::{self, note};
use crate::diagnostic::{CommandOutcome, Result};
use sp_ir::{Api, History};
use sp_parse::clang::DEFAULT_TARGET;

use crate::disk::{self, FolderKind, WrittenFiles};
use crate::lint;
use crate::operand;
use crate::scaffold::vendor;
use sp_data::folders::{DataFolders, check_no_link, find_checkout};
use sp_data::release::{Release, RequestedRelease};
use sp_data::snapshots;
use sp_data::symbols::Symbols;
use sp_emit::{Files, emit_c, emit_rust};
use sp_parse::extract;
use sp_system::input::{self, MAX_CONFIG_BYTES};
use sp_system::replacement::{LISTING, recover};

/// Number of lines printed of each file's diff.
const DIFF_LINES: usize = 24;

const EXAMPLES: &str = "\
Examples:
  sp-gen generate --out abi                                  write the sp-abi crate
  sp-gen generate --lang c --out include                     write headers for C and C++
  sp-gen generate --headers path/to/include --out abi        write the crate for one set of headers
  sp-gen generate --check                                    exit with 1 if the committed crate is outdated";

/// Arguments of `generate`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The language to generate: the sp-abi crate in Rust, or headers for C and C++ (needs --out)
    #[arg(long, value_enum, default_value_t = Language::Rust, value_name = "LANG", requires_if("c", "out"))]
    lang: Language,
    /// The newest release to include: 2.21, 2.22.0rc0, nightly [default: the newest with snapshots]
    #[arg(long, value_name = "R")]
    release: Option<RequestedRelease>,
    /// Generate from the headers under this include root instead of snapshots; --release states their release
    #[arg(long, value_name = "INCLUDE_ROOT", requires = "out")]
    headers: Option<PathBuf>,
    /// The folder to write to [default: generated/ of the checkout]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Write nothing; print how the files on disk differ, and exit with 1 if they do
    #[arg(long)]
    check: bool,
    /// Also replace files that differ from what sp-gen wrote
    #[arg(long, conflicts_with = "check")]
    force: bool,
}

impl Args {
    /// Returns the arguments that write the headers for C to `out`, or compare them.
    pub fn for_c_headers(out: PathBuf, check: bool, force: bool) -> Self {
        Self {
            lang: Language::C,
            release: None,
            headers: None,
            out: Some(out),
            check,
            force: force && !check,
        }
    }
}

/// Returns the headers for C of all known releases.
pub fn c_headers() -> Result<Files> {
    let folders = operand::readable_folders(&operand::current_folder()?);
    let apis = snapshots::read_history(&folders, None)?;
    Ok(emit_c(&apis, &Symbols::load(&folders)?)?)
}

/// Language of the generated code.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Language {
    /// The sp-abi crate
    Rust,
    /// Headers in C11 that are valid C++17
    C,
}

impl Language {
    fn kind(self) -> FolderKind {
        match self {
            Self::Rust => FolderKind::Crate,
            Self::C => FolderKind::Headers,
        }
    }
}

/// Writes the generated files, or compares them with the files on disk.
pub fn run(args: Args) -> Result {
    let current_dir = operand::current_folder()?;
    let folders = operand::readable_folders(&current_dir);
    let out = match (&args.out, find_checkout(&current_dir)) {
        (Some(out), _) => out.clone(),
        (None, Some(root)) => {
            let generated = root.join("generated");
            check_no_link(&root, &generated)?;
            generated
        }
        (None, None) => return Err(no_output_folder()),
    };
    if args.headers.is_some() {
        check_not_committed(&out, &current_dir)?;
    }
    if !args.check {
        recover(&out)?;
    }
    let kind = args.lang.kind();
    let release = args.release.map(operand::resolve).transpose()?;
    let apis = read_apis(&args, release, &folders)?;
    let symbols = read_symbols(release, &folders)?;
    let files = match args.lang {
        Language::Rust => {
            let mut files = emit_rust(&apis, &symbols)?;
            if !is_member_of_our_workspace(&out) {
                vendor::make_standalone(&mut files);
            }
            files
        }
        Language::C => emit_c(&apis, &symbols)?,
    };
    check_writable(kind, &out, &files)?;
    let (files, written) = match is_committed(&out, &current_dir) {
        true => (files, WrittenFiles::Marked),
        false => (disk::with_listing(files), WrittenFiles::read(&out)),
    };
    let drifts = find_drifts(kind, &out, &files, &written)?;
    if args.check {
        return compare(&out, &files, &drifts);
    }
    if !args.force {
        check_not_edited(&out, &written.edited(&drifts))?;
    }
    if write(&out, &files, &drifts)? {
        report_lints(&apis, &symbols);
    }
    Ok(CommandOutcome::Done)
}

/// Returns true if the folder above `out` has a workspace with sp-abi's dependencies.
fn is_member_of_our_workspace(out: &Path) -> bool {
    let above = std::path::absolute(out).ok();
    let manifest = above.and_then(|path| Some(path.parent()?.join("Cargo.toml")));
    let text = manifest.and_then(|path| input::read_toml(&path, MAX_CONFIG_BYTES).ok());
    let table = text.and_then(|text| text.parse::<toml::Table>().ok());
    let dependencies = table.and_then(|table| table.get("workspace")?.get("dependencies").cloned());
    dependencies.is_some_and(|dependencies| dependencies.get("sp-runtime").is_some())
}

/// Rejects a folder with files that sp-gen did not write.
fn check_writable(kind: FolderKind, out: &Path, files: &Files) -> Result<()> {
    let obstacle = kind.obstacle(out, files).into_diagnostic();
    let obstacle = obstacle.wrap_err_with(|| format!("{} cannot be read", out.display()))?;
    obstacle.map_or(Ok(()), |obstacle| {
        Err(miette!(
            code = "sp_gen::generate::foreign_files",
            help = "use `--out DIR` with a folder that is new, empty, or was written by `sp-gen generate`",
            "{obstacle}"
        ))
    })
}

/// Reads the APIs from snapshots, or parses them from headers.
fn read_apis(args: &Args, release: Option<Release>, folders: &DataFolders) -> Result<Vec<Api>> {
    let Some(root) = &args.headers else {
        return Ok(snapshots::read_history(folders, release)?);
    };
    let newest = || snapshots::releases(folders).map(|all| all.into_iter().next_back());
    let release = release.map_or_else(newest, |release| Ok(Some(release)))?;
    let baseline = snapshots::read_newest(folders, release)?;
    let release = release.map_or_else(String::new, |release| release.key().to_string());
    let extracted = extract(root, &release, DEFAULT_TARGET, baseline)?;
    extracted
        .format_unassigned()
        .iter()
        .for_each(|line| note!("{line}"));
    Ok(extracted.into_apis()?)
}

/// Returns the exported symbols of the releases that the crate includes.
fn read_symbols(release: Option<Release>, folders: &DataFolders) -> Result<Symbols> {
    let all = Symbols::load(folders)?;
    Ok(match release {
        Some(release) => all.up_to(release),
        None => all,
    })
}

/// Prints the number of lint findings in the newest release, one line per API.
fn report_lints(apis: &[Api], symbols: &Symbols) {
    let release = |api: &Api| api.release.parse::<Release>().ok();
    let newest = apis.iter().filter_map(release).max();
    let history = History::from_apis(apis);
    for api in apis.iter().filter(|api| release(api) == newest) {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for finding in lint::find_all(api, &history, symbols) {
            *counts.entry(finding.id).or_default() += 1;
        }
        if !counts.is_empty() {
            let counts = counts.iter().map(|(id, count)| format!("{count} {id}"));
            let counts: Vec<String> = counts.collect();
            let (name, counts) = (&api.name, counts.join(", "));
            note!("{name}: {counts} (sp-gen ir {name} --lints)");
        }
    }
}

/// Rejects the checkout's generated/ as output folder: the committed crate includes all releases.
fn check_not_committed(out: &Path, current_dir: &Path) -> Result<()> {
    if is_committed(out, current_dir) {
        return Err(miette!(
            code = "sp_gen::generate::output_is_committed",
            help = "use `--out DIR` with another folder",
            "{} is the committed crate, which is generated from all snapshots without `--headers`",
            out.display()
        ));
    }
    Ok(())
}

/// Returns true if `out` is generated/ of the checkout. A link of that name leads to a folder of somebody else.
fn is_committed(out: &Path, current_dir: &Path) -> bool {
    find_checkout(current_dir).is_some_and(|root| {
        let committed = root.join("generated");
        check_no_link(&root, &committed).is_ok() && is_same_folder(&committed, out)
    })
}

/// Rejects files that were edited since sp-gen wrote them, or that it did not write.
fn check_not_edited(out: &Path, edited: &[&str]) -> Result<()> {
    let Some(first) = edited.first() else {
        return Ok(());
    };
    let more = match edited.len() {
        1 => String::new(),
        count => format!(" and {} other files differ", count - 1),
    };
    let verb = if more.is_empty() { " differs" } else { "" };
    Err(miette!(
        code = "sp_gen::generate::edited_files",
        help = "no file was changed; `--check` shows the differences, and `--force` replaces these files",
        "{}{more}{verb} from what sp-gen wrote",
        out.join(first).display()
    ))
}

fn is_same_folder(left: &Path, right: &Path) -> bool {
    match (left.canonicalize(), right.canonicalize()) {
        (Ok(left), Ok(right)) => left == right,
        _ => left == right,
    }
}

fn no_output_folder() -> miette::Report {
    miette!(
        code = "sp_gen::generate::no_output_folder",
        help = "run it in a checkout of sp-gen, or use `--out DIR`",
        "the current directory is not in a checkout of sp-gen, and `--out` is absent"
    )
}

/// Prints how the files on disk differ.
fn compare(out: &Path, files: &Files, drifts: &[disk::Drift]) -> Result {
    let drifts: Vec<&disk::Drift> = drifts.iter().filter(|it| !it.is_listing()).collect();
    let count = count_without_listing(files);
    let format = |drift: &disk::Drift| {
        format!(
            "{}\n{}\n",
            out.join(&drift.path).display(),
            drift.diff(DIFF_LINES)
        )
    };
    console::print(&drifts.iter().map(|it| format(it)).collect::<String>())?;
    if drifts.is_empty() {
        note!("{}: {count} files are up to date", out.display());
        return Ok(CommandOutcome::Done);
    }
    note!(
        "{} of {count} files differ; `sp-gen generate` writes them",
        drifts.len()
    );
    Ok(CommandOutcome::Found)
}

/// Writes the files that differ. Returns true if there are any.
fn write(out: &Path, files: &Files, drifts: &[disk::Drift]) -> Result<bool> {
    if !drifts.is_empty() {
        disk::apply(out, drifts)?;
    }
    let drifts: Vec<&disk::Drift> = drifts.iter().filter(|it| !it.is_listing()).collect();
    let format = |drift: &disk::Drift| {
        let verb = if drift.new.is_some() {
            "wrote"
        } else {
            "removed"
        };
        format!("{verb} {}\n", out.join(&drift.path).display())
    };
    console::print(&drifts.iter().map(|it| format(it)).collect::<String>())?;
    note!(
        "{}: {} files, {} changed",
        out.display(),
        count_without_listing(files),
        drifts.len()
    );
    Ok(!drifts.is_empty())
}

fn count_without_listing(files: &Files) -> usize {
    files.keys().filter(|path| *path != LISTING).count()
}

fn find_drifts(
    kind: FolderKind,
    out: &Path,
    files: &Files,
    written: &WrittenFiles,
) -> Result<Vec<disk::Drift>> {
    let drifts = kind.drift(out, files, written).into_diagnostic();
    drifts.wrap_err_with(|| format!("{} cannot be read", out.display()))
}
