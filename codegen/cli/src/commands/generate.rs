//! `sp-gen generate [--lang rust|c] [--release R | --headers ROOT] [--out DIR] [--check] [--docs upstream]`:
//! the sp-abi crate, or the shim in C, from the committed IR or from headers at hand.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use miette::{Context, IntoDiagnostic, miette};

use crate::console::{self, note};
use crate::diagnostic::{Outcome, Result};
use sp_ir::{Api, History};
use sp_parse::clang::DEFAULT_TARGET;

use crate::disk::{self, FolderKind};
use crate::lint;
use crate::operand;
use crate::scaffold::vendor;
use sp_data::folders::{DataFolders, find_checkout};
use sp_data::release::{Release, RequestedRelease};
use sp_data::snapshots;
use sp_data::symbols::Symbols;
use sp_emit::{Files, emit, header};
use sp_fetch::store::Store;
use sp_parse::extract;
use sp_parse::header_docs;

/// Lines of a drifted file's diff that are shown.
const SHOWN: usize = 24;

const EXAMPLES: &str = "\
Examples:
  sp-gen generate --out abi                                  the sp-abi crate, as a crate of its own
  sp-gen generate --lang c --out include                     headers for C and C++
  sp-gen generate --headers path/to/include --out abi        from headers at hand
  sp-gen generate --check                                    exit 1 if the committed crate is outdated";

/// Arguments of `generate`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// What is written: the crate that plugins in Rust stand on, or headers for C and C++ (needs --out)
    #[arg(long, value_enum, default_value_t = Lang::Rust, value_name = "LANG", requires_if("c", "out"))]
    lang: Lang,
    /// The newest release that the crate shall know: 2.21, 2.22.0rc0, nightly; the newest snapshots if absent
    #[arg(long, value_name = "R")]
    release: Option<RequestedRelease>,
    /// Make it of the headers under this include root alone, for `--out`; --release says of which
    /// release they are, the newest known if absent
    #[arg(long, value_name = "INCLUDE_ROOT", requires = "out")]
    headers: Option<PathBuf>,
    /// Where the crate goes; the checkout's generated/ if absent
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Write nothing; exit 1 where the files on disk differ
    #[arg(long)]
    check: bool,
    /// Whose sentences the docs are; `upstream` needs the release's headers, libclang and `--out`
    #[arg(long, value_enum, default_value_t = Docs::Own, value_name = "WHOSE")]
    docs: Docs,
}

/// What code is made.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Lang {
    /// The sp-abi crate.
    Rust,
    /// A header-only shim in C11, which is C++17 too.
    C,
}

impl Lang {
    fn kind(self) -> FolderKind {
        match self {
            Self::Rust => FolderKind::Crate,
            Self::C => FolderKind::Headers,
        }
    }
}

/// Where docs come from.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Docs {
    /// Ours.
    Own,
    /// The headers' own comments.
    Upstream,
}

/// Writes the crate, or compares it.
pub fn run(args: Args) -> Result {
    let here = std::env::current_dir().into_diagnostic()?;
    let place = operand::readable_place(&here);
    let out = match (&args.out, find_checkout(&here)) {
        (Some(out), _) => out.clone(),
        (None, Some(root)) => root.join("generated"),
        (None, None) => return Err(homeless()),
    };
    if args.headers.is_some() || args.docs == Docs::Upstream {
        spare_what_is_committed(&out, &here)?;
    }
    let kind = args.lang.kind();
    let release = args.release.map(operand::resolve).transpose()?;
    let mut apis = apis(&args, release, &place)?;
    let symbols = symbols(release, &place)?;
    if args.docs == Docs::Upstream {
        quote_headers(&mut apis, args.headers, &place)?;
    }
    let files = match args.lang {
        Lang::Rust => rust_crate(&apis, &symbols, &out)?,
        Lang::C => header::emit(&apis, &symbols)?,
    };
    check_writable(kind, &out, &files)?;
    if args.check {
        return check(kind, &out, &files);
    }
    if write(kind, &out, &files)? {
        warn(&apis, &symbols);
    }
    Ok(Outcome::Done)
}

/// Returns the crate for `out`: alone, or as a member of the workspace in the folder above.
fn rust_crate(apis: &[Api], symbols: &Symbols, out: &Path) -> Result<Files> {
    let mut files = emit(apis, symbols)?;
    if !is_member_of_our_workspace(out) {
        vendor::make_standalone(&mut files);
    }
    Ok(files)
}

/// Returns true if the folder above `out` has a workspace with sp-abi's dependencies.
fn is_member_of_our_workspace(out: &Path) -> bool {
    let above = std::path::absolute(out).ok();
    let manifest = above.and_then(|it| Some(it.parent()?.join("Cargo.toml")));
    let text = manifest.and_then(|it| std::fs::read_to_string(it).ok());
    let table = text.and_then(|it| it.parse::<toml::Table>().ok());
    let dependencies = table.and_then(|it| it.get("workspace")?.get("dependencies").cloned());
    dependencies.is_some_and(|it| it.get("sp-runtime").is_some())
}

/// Rejects a folder with files that sp-gen did not write.
fn check_writable(kind: FolderKind, out: &Path, files: &Files) -> Result<()> {
    let seen = kind.obstacle(out, files).into_diagnostic();
    let seen = seen.wrap_err_with(|| format!("{} cannot be read", out.display()))?;
    seen.map_or(Ok(()), |obstacle| {
        Err(miette!(
            code = "sp_gen::generate::occupied",
            help = "say `--out DIR`, with a folder that is new, empty, or of an earlier run",
            "{obstacle}"
        ))
    })
}

fn apis(args: &Args, release: Option<Release>, place: &DataFolders) -> Result<Vec<Api>> {
    let Some(root) = &args.headers else {
        return Ok(snapshots::read_history(place, release)?);
    };
    let newest = || snapshots::releases(place).map(|all| all.into_iter().next_back());
    let release = release.map_or_else(newest, |it| Ok(Some(it)))?;
    let baseline = snapshots::read_newest(place, release)?;
    let release = release.map_or_else(String::new, |it| it.key().to_string());
    let extracted = extract(root, &release, DEFAULT_TARGET, baseline)?;
    extracted
        .format_unassigned()
        .iter()
        .for_each(|line| note!("{line}"));
    Ok(extracted.into_apis()?)
}

/// Who exports the functions, as far as the crate's releases go.
fn symbols(release: Option<Release>, place: &DataFolders) -> Result<Symbols> {
    let all = Symbols::load(place)?;
    Ok(match release {
        Some(release) => all.up_to(release),
        None => all,
    })
}

/// Says of the newest release where its headers contradict their own rules, a line for each API.
fn warn(apis: &[Api], symbols: &Symbols) {
    let release = |api: &Api| api.release.parse::<Release>().ok();
    let newest = apis.iter().filter_map(release).max();
    let history = History::from_apis(apis);
    for api in apis.iter().filter(|api| release(api) == newest) {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for found in lint::all(api, &history, symbols) {
            *counts.entry(found.id).or_default() += 1;
        }
        if !counts.is_empty() {
            let counts: Vec<String> = counts.iter().map(|(id, n)| format!("{n} {id}")).collect();
            let (name, counts) = (&api.name, counts.join(", "));
            note!("{name}: {counts} (sp-gen ir {name} --lints)");
        }
    }
}

/// The committed crate is of all releases, and has none of the headers' own comments.
fn spare_what_is_committed(out: &Path, here: &Path) -> Result<()> {
    let committed = find_checkout(here).map(|root| root.join("generated"));
    if committed.is_some_and(|it| same(&it, out)) {
        return Err(miette!(
            code = "sp_gen::generate::committed",
            help = "say `--out DIR`, with a folder that is not the checkout's generated/",
            "what is committed is made of all snapshots, with docs of our own"
        ));
    }
    Ok(())
}

/// Takes docs from `headers`, else from those of the newest release, for a crate that nobody commits.
fn quote_headers(apis: &mut [Api], headers: Option<PathBuf>, place: &DataFolders) -> Result<()> {
    let releases = apis.iter().filter_map(|api| api.release.parse().ok());
    let newest: Option<Release> = releases.max();
    let name = newest.map_or_else(String::new, |it| it.to_string());
    let store = Store::at(place.store.clone());
    let stored = || Some(store.include(store.resolve(newest?)?));
    let Some(include) = headers.or_else(stored) else {
        return Err(miette!(
            code = "sp_gen::generate::headers_missing",
            help = "`sp-gen import tensorflow {name}` brings them",
            "the headers of TensorFlow {name} are not in {}",
            place.store.display()
        ));
    };
    let put = header_docs::annotate(apis, &name, &include)?;
    note!("{put} comments of the headers in {}", include.display());
    Ok(())
}

fn same(left: &Path, right: &Path) -> bool {
    match (left.canonicalize(), right.canonicalize()) {
        (Ok(left), Ok(right)) => left == right,
        _ => left == right,
    }
}

fn homeless() -> miette::Report {
    miette!(
        code = "sp_gen::generate::homeless",
        help = "run it inside a checkout of sp-gen, or say `--out DIR`",
        "there is no place for the generated crate here"
    )
}

fn check(kind: FolderKind, out: &Path, files: &Files) -> Result {
    let drifts = drift(kind, out, files)?;
    let shown = |drift: &disk::Drift| {
        format!(
            "{}\n{}\n",
            out.join(&drift.path).display(),
            drift.diff(SHOWN)
        )
    };
    console::print(&drifts.iter().map(shown).collect::<String>())?;
    if drifts.is_empty() {
        note!("{}: {} files as generated", out.display(), files.len());
        return Ok(Outcome::Done);
    }
    note!(
        "{} of {} files drifted; `sp-gen generate` writes them",
        drifts.len(),
        files.len()
    );
    Ok(Outcome::Found)
}

/// Whether anything changed.
fn write(kind: FolderKind, out: &Path, files: &Files) -> Result<bool> {
    let drifts = drift(kind, out, files)?;
    if !drifts.is_empty() {
        let applied = disk::apply(out, &drifts).into_diagnostic();
        applied.wrap_err_with(|| format!("{} cannot be written", out.display()))?;
    }
    let shown = |drift: &disk::Drift| {
        let done = if drift.new.is_some() {
            "wrote"
        } else {
            "removed"
        };
        format!("{done} {}\n", out.join(&drift.path).display())
    };
    console::print(&drifts.iter().map(shown).collect::<String>())?;
    note!(
        "{}: {} files, {} changed",
        out.display(),
        files.len(),
        drifts.len()
    );
    Ok(!drifts.is_empty())
}

fn drift(kind: FolderKind, out: &Path, files: &Files) -> Result<Vec<disk::Drift>> {
    let read = kind.drift(out, files).into_diagnostic();
    read.wrap_err_with(|| format!("{} cannot be read", out.display()))
}
