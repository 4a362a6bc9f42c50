//! `new`: a plugin's folder, from the templates and the carried crates.
//!
//! Everything is checked first; then the folder is built beside its place and renamed into it, so
//! that a failure leaves nothing.

pub mod listing;
pub mod lock;
pub mod name;
mod parts;
pub mod repository;
pub mod update;
pub mod vendor;

use crate::embedded::{CRATE_FILES, CRATES};
use askama::Template;
use miette::Diagnostic;
use name::NameError;
pub use parts::{Part, Parts};
use sp_system::temporary::delay_signals;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why there is no new plugin.
#[derive(Debug, Error, Diagnostic)]
pub enum ScaffoldError {
    /// A name will not do.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Name(#[from] NameError),
    /// There is something at its place.
    #[error("{} exists and is not an empty folder", path.display())]
    #[diagnostic(
        code(sp_gen::new::occupied),
        help("it was left as it is. Choose another name, or another folder with `--path DIR`")
    )]
    Occupied {
        /// The place.
        path: PathBuf,
    },
    /// `--sp-source path=DIR` names no checkout.
    #[error("{} is not a checkout of sp-gen", path.display())]
    #[diagnostic(
        code(sp_gen::new::source),
        help(
            "DIR is the folder that has sp-gen's codegen/, macros/ and generated/; without `--sp-source` the crates are vendored"
        )
    )]
    NoCheckout {
        /// The folder.
        path: PathBuf,
    },
    /// The folder cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    #[diagnostic(code(sp_gen::new::unwritable), help("nothing was left half-written"))]
    Unwritable {
        /// The place.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A template cannot be filled.
    #[error("the template of {file}: {detail}")]
    #[diagnostic(code(sp_gen::new::template))]
    Template {
        /// The file it makes.
        file: &'static str,
        /// Why not.
        detail: String,
    },
}

/// Where the plugin's sp-* crates come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SpSource {
    /// From this binary, under `vendor/`.
    Vendor,
    /// From a checkout, for people who work on sp-gen.
    Checkout(PathBuf),
}

/// What a plugin is called. Every value is checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names {
    name: String,
    device_type: String,
    platform_name: String,
}

impl Names {
    /// Checks the names; what is not given is made from the plugin's.
    pub fn new(
        name: &str,
        device_type: Option<&str>,
        platform_name: Option<&str>,
    ) -> Result<Self, NameError> {
        name::check_plugin(name)?;
        let own = name::suggest_device(name);
        let (device_type, platform_name) =
            (device_type.unwrap_or(&own), platform_name.unwrap_or(&own));
        name::check_device_type(device_type)?;
        name::check_platform_name(platform_name)?;
        Ok(Self {
            name: name.to_owned(),
            device_type: device_type.to_owned(),
            platform_name: platform_name.to_owned(),
        })
    }

    /// The type by which TensorFlow lists the device.
    pub fn device_type(&self) -> &str {
        &self.device_type
    }
}

/// What the templates say: `{{ name }}` is a field of this.
#[derive(Debug)]
struct Values<'a> {
    /// `my-accel`
    name: &'a str,
    /// `my_accel`: the library's name, less `lib` and `.so`
    lib_name: String,
    /// `MyAccel`: the device's type
    struct_name: String,
    /// `MY_ACCEL`: what TensorFlow lists
    device_type: &'a str,
    /// `MY_ACCEL`: the platform's name
    platform_name: &'a str,
    /// `2.21`: the release whose contract the plugin is built from
    release: &'a str,
    /// The sp-gen that wrote it
    version: &'a str,
    /// The parts that it has
    parts: Parts,
    /// The folder of each carried crate, as a path dependency has it
    sp_abi: String,
    sp_cpu: String,
    sp_host: String,
    sp_ir: String,
    sp_plugin: String,
    sp_runtime: String,
}

impl<'a> Values<'a> {
    fn new(names: &'a Names, parts: Parts, source: &SpSource) -> Self {
        let at = |name: &str| crate_path(source, name);
        Self {
            name: &names.name,
            lib_name: names.name.replace('-', "_"),
            struct_name: name::struct_name(&names.name),
            device_type: &names.device_type,
            platform_name: &names.platform_name,
            release: carried_release(),
            version: env!("CARGO_PKG_VERSION"),
            parts,
            sp_abi: at("sp-abi"),
            sp_cpu: at("sp-cpu"),
            sp_host: at("sp-host"),
            sp_ir: at("sp-ir"),
            sp_plugin: at("sp-plugin"),
            sp_runtime: at("sp-runtime"),
        }
    }
}

fn crate_path(source: &SpSource, name: &str) -> String {
    let folder =
        |(crate_name, folder): &&(&str, &'static str)| (*crate_name == name).then_some(*folder);
    match source {
        SpSource::Vendor => format!("vendor/{name}"),
        SpSource::Checkout(root) => {
            let folder = CRATES.iter().find_map(|row| folder(&row)).unwrap_or(name);
            root.join(folder).display().to_string()
        }
    }
}

/// Returns the release whose snapshots a scaffold carries: `2.21` of `sp-abi/ir/stream_executor/2.21.json`.
fn carried_release() -> &'static str {
    let of_api = |(path, _): &(&'static str, &[u8])| {
        path.strip_prefix("sp-abi/ir/stream_executor/")?
            .strip_suffix(".json")
    };
    CRATE_FILES.iter().find_map(of_api).unwrap_or_default()
}

/// Makes a struct for each template: the file it gives, the template below `templates/`, and the
/// part that the file is of, if it is one that can be left out.
macro_rules! plugin_files {
    ($($file:literal from $template:literal $(of $part:ident)?,)*) => {
        /// The files that the author owns, where no part is left out.
        pub const FILES: &[&str] = &[$($file),*];

        fn render(values: &Values<'_>) -> Result<Vec<(&'static str, String)>, ScaffoldError> {
            let mut files = Vec::new();
            $(if true $(&& values.parts.$part)? {
                #[derive(Template)]
                #[template(path = $template, escape = "none")]
                struct File<'a>(&'a Values<'a>);
                impl<'a> std::ops::Deref for File<'a> {
                    type Target = Values<'a>;
                    fn deref(&self) -> &Values<'a> {
                        self.0
                    }
                }
                files.push(($file, filled($file, &File(values))?));
            })*
            Ok(files)
        }
    };
}

plugin_files! {
    "Cargo.toml" from "plugin/Cargo.toml.jinja",
    "MANIFEST.in" from "plugin/MANIFEST.in.jinja",
    "README.md" from "plugin/README.md.jinja",
    "pyproject.toml" from "plugin/pyproject.toml.jinja",
    ".gitignore" from "plugin/gitignore.jinja",
    "examples/train.py" from "plugin/examples/train.py.jinja",
    "src/lib.rs" from "plugin/src/lib.rs.jinja",
    "src/device.rs" from "plugin/src/device.rs.jinja",
    "src/kernels/mod.rs" from "plugin/src/kernels/mod.rs.jinja" of kernels,
    "src/kernels/relu.rs" from "plugin/src/kernels/relu.rs.jinja" of kernels,
    "src/optimizer.rs" from "plugin/src/optimizer.rs.jinja" of optimizer,
    "src/profiler.rs" from "plugin/src/profiler.rs.jinja" of profiler,
    "tests/conformance.rs" from "plugin/tests/conformance.rs.jinja",
}

fn filled(file: &'static str, template: &impl Template) -> Result<String, ScaffoldError> {
    let text = template.render().map_err(|error| ScaffoldError::Template {
        file,
        detail: error.to_string(),
    })?;
    // askama drops a template's last newline.
    Ok(format!("{}\n", text.trim_end()))
}

/// How many files a plugin has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// Those that the author owns.
    pub own: usize,
    /// Those that sp-gen carries.
    pub carried: usize,
}

/// Writes a plugin to `target`.
pub fn create(
    target: &Path,
    names: &Names,
    parts: Parts,
    source: &SpSource,
) -> Result<Written, ScaffoldError> {
    check_source(source)?;
    check_target(target)?;
    let own = own_files(names, parts, source)?;
    let carried = match source {
        SpSource::Vendor => listing::with_listing(vendor::files()),
        SpSource::Checkout(_) => Vec::new(),
    };
    let written = Written {
        own: own.len(),
        carried: carried.len(),
    };
    let files = [own, carried].concat();
    place(target, &files).map_err(|source| ScaffoldError::Unwritable {
        path: target.to_owned(),
        source,
    })?;
    Ok(written)
}

/// Every file of the author's by its path.
fn own_files(
    names: &Names,
    parts: Parts,
    source: &SpSource,
) -> Result<Vec<(String, Vec<u8>)>, ScaffoldError> {
    let rendered = render(&Values::new(names, parts, source))?;
    let depends_on = vendor::manifest_dependencies(&rendered[0].1);
    let lock = lock::lock(&names.name, &depends_on);
    let mut files = vec![("Cargo.lock".to_owned(), lock.into_bytes())];
    files.extend(
        rendered
            .into_iter()
            .map(|(path, text)| (path.to_owned(), text.into_bytes())),
    );
    Ok(files)
}

fn check_source(source: &SpSource) -> Result<(), ScaffoldError> {
    match source {
        SpSource::Checkout(root) if !root.join("codegen/cli/Cargo.toml").is_file() => {
            Err(ScaffoldError::NoCheckout { path: root.clone() })
        }
        _ => Ok(()),
    }
}

fn check_target(target: &Path) -> Result<(), ScaffoldError> {
    let vacant = match fs::read_dir(target) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) => error.kind() == io::ErrorKind::NotFound && !target.is_symlink(),
    };
    if vacant {
        return Ok(());
    }
    Err(ScaffoldError::Occupied {
        path: target.to_owned(),
    })
}

/// Writes the files into a folder beside `target`, which becomes `target` at the end.
fn place(target: &Path, files: &[(String, Vec<u8>)]) -> io::Result<()> {
    let target = std::path::absolute(target)?;
    let existing = target.ancestors().skip(1).find(|folder| folder.is_dir());
    let beside = existing.ok_or(io::ErrorKind::NotFound)?;
    let _delay = delay_signals();
    let staged = tempfile::Builder::new()
        .prefix(".sp-gen-new-")
        .tempdir_in(beside)?;
    let plugin = staged.path().join("plugin");
    for (path, bytes) in files {
        let path = plugin.join(path);
        fs::create_dir_all(path.parent().unwrap_or(&plugin))?;
        fs::write(path, bytes)?;
    }
    fs::create_dir_all(target.parent().unwrap_or(beside))?;
    fs::rename(plugin, target)
}

#[cfg(test)]
mod tests;
