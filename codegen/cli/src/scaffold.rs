//! Writes the plugins of `new` from templates and embedded crates.
//!
//! All input is checked first. Then the plugin is staged and renamed, so that a failure leaves no files. An empty folder
//! is filled, not replaced: a shell may be in it.

mod backend;
pub mod lock;
pub mod name;
mod parts;
pub mod repository;
pub mod update;
pub mod vendor;

use crate::disk::{self, Drift};
use crate::embedded::{CRATES, embedded_release};
use crate::listing;
use askama::Template;
pub use backend::Backend;
use miette::Diagnostic;
use name::NameError;
pub use parts::{ExtraPart, Part, Parts};
use sp_emit::Files;
use sp_system::errors;
use sp_system::replacement::{ReplacementError, recover};
use std::fs;
use std::path::{Path, PathBuf};
use thiserror::Error;

errors! {
    /// A failure to write a new plugin.
    #[derive(Debug, Error, Diagnostic)]
    pub enum ScaffoldError in new {
        /// A name is invalid.
        Name(NameError) = transparent;

        /// The target is not an empty folder.
        TargetNotEmpty(PathBuf) = target_not_empty: ("{} exists and is not an empty folder", .0.display()),
            help("use another name, or another folder with `--path DIR`");

        /// The folder of `--sp-source path=DIR` is not a checkout of sp-gen.
        NoCheckout(PathBuf) = not_a_checkout: ("{} is not a checkout of sp-gen", .0.display()),
            help("DIR must have sp-gen's codegen/, macros/, templates/ and generated/; without `--sp-source` the crates are \
                  vendored");

        /// The folder cannot be written.
        Replacement(ReplacementError) = transparent;

        /// A plugin with an op and without kernels.
        OpsWithoutKernels
            = ops_without_kernels: ("a plugin with ops needs kernels: an op without one is not registered"),
            help("remove `kernels` from --without");

        /// A plugin with a backend and without kernels.
        BackendWithoutKernels
            = backend_without_kernels: ("--backend writes kernels, which --without leaves out"),
            help("remove `kernels` from --without");

        /// A template cannot be rendered.
        Template { file: &'static str, detail: String }
            = template_failed: ("cannot render the template of {file}: {detail}");
    }
}

/// Source of the plugin's sp-* crates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SpSource {
    /// The embedded crates, which are written to `vendor/`.
    Vendor,
    /// A checkout of sp-gen, for its developers.
    Checkout(PathBuf),
}

/// The checked names of a plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PluginNames {
    name: String,
    device_type: String,
    platform_name: String,
}

impl PluginNames {
    /// Checks the names. A name that is `None` is derived from the plugin's name.
    ///
    /// # Errors
    /// Returns an error if a name is invalid.
    pub fn new(
        name: &str,
        device_type: Option<&str>,
        platform_name: Option<&str>,
    ) -> Result<Self, NameError> {
        name::check_plugin(name)?;
        let (suggested_type, suggested_platform) =
            (name::suggest_device(name), name::suggest_platform(name));
        let device_type = device_type.unwrap_or(&suggested_type);
        let platform_name = platform_name.unwrap_or(&suggested_platform);
        name::check_device_type(device_type)?;
        name::check_platform_name(platform_name)?;
        Ok(Self {
            name: name.to_owned(),
            device_type: device_type.to_owned(),
            platform_name: platform_name.to_owned(),
        })
    }

    /// Returns the device type that TensorFlow lists.
    pub fn device_type(&self) -> &str {
        &self.device_type
    }
}

/// The plugin that [`create`] writes.
#[derive(Debug, Clone, Copy)]
pub struct Plugin<'a> {
    /// The names.
    pub names: &'a PluginNames,
    /// The optional parts.
    pub parts: Parts,
    /// The source of the sp-* crates.
    pub source: &'a SpSource,
    /// The contents of `src/driver.rs`, if the plugin has one.
    pub driver: Option<&'a str>,
    /// The backend, of which `driver` has the bindings.
    pub backend: Option<Backend>,
}

/// The values in templates: `{{ name }}` is a field of this struct.
#[derive(Debug)]
struct TemplateValues<'a> {
    /// The plugin's name: `my-accel`
    name: &'a str,
    /// The library's name without `lib` and `.so`: `my_accel`
    lib_name: String,
    /// The Rust type of the device: `MyAccel`
    struct_name: String,
    /// The device type that TensorFlow lists: `MY_ACCEL`
    device_type: &'a str,
    /// The platform's name: `MY_ACCEL`
    platform_name: &'a str,
    /// The release of the plugin's sp-abi: `2.21`
    release: &'a str,
    /// The version of sp-gen
    version: &'a str,
    /// The parts of the plugin
    parts: Parts,
    /// True if it has `src/driver.rs`
    has_driver: bool,
    /// True if its device is one of OpenCL
    is_opencl: bool,
    /// The environment variable that names another library of the driver: `MY_ACCEL_DRIVER`
    driver_variable: String,
    /// The path of each sp-* crate in dependencies
    sp_abi: String,
    sp_cpu: String,
    sp_host: String,
    sp_ir: String,
    sp_plugin: String,
    sp_runtime: String,
}

impl<'a> TemplateValues<'a> {
    fn new(plugin: &Plugin<'a>) -> Self {
        let path = |name: &str| crate_path(plugin.source, name);
        let names = plugin.names;
        Self {
            name: &names.name,
            lib_name: names.name.replace('-', "_"),
            struct_name: name::struct_name(&names.name),
            device_type: &names.device_type,
            platform_name: &names.platform_name,
            release: embedded_release(),
            version: env!("CARGO_PKG_VERSION"),
            parts: plugin.parts,
            has_driver: plugin.driver.is_some(),
            is_opencl: plugin.backend == Some(Backend::OpenCl),
            driver_variable: driver_variable(&names.name),
            sp_abi: path("sp-abi"),
            sp_cpu: path("sp-cpu"),
            sp_host: path("sp-host"),
            sp_ir: path("sp-ir"),
            sp_plugin: path("sp-plugin"),
            sp_runtime: path("sp-runtime"),
        }
    }
}

/// Returns the environment variable that names another library of a plugin's driver.
pub fn driver_variable(name: &str) -> String {
    format!("{}_DRIVER", name.to_uppercase().replace('-', "_"))
}

/// Returns the file name of the library of the plugin `name`.
pub fn library_file_name(name: &str) -> String {
    format!("lib{}.so", name.replace('-', "_"))
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

/// The bindings of a plugin with a driver.
const DRIVER_FILE: &str = "src/driver.rs";

/// Defines a struct for each template: the rendered file, the template below `templates/`, and the optional part that
/// the file belongs to.
macro_rules! plugin_files {
    ($(#[$documentation:meta])* $files:ident, $render:ident: $($file:literal from $template:literal $(of $part:ident)?,)*) => {
        $(#[$documentation])*
        pub const $files: &[&str] = &[$($file),*];

        fn $render(values: &TemplateValues<'_>) -> Result<Vec<(&'static str, String)>, ScaffoldError> {
            let mut files = Vec::new();
            $(if true $(&& values.parts.$part)? {
                #[derive(Template)]
                #[template(path = $template, escape = "none")]
                struct TemplateFile<'a>(&'a TemplateValues<'a>);
                impl<'a> std::ops::Deref for TemplateFile<'a> {
                    type Target = TemplateValues<'a>;
                    fn deref(&self) -> &TemplateValues<'a> {
                        self.0
                    }
                }
                files.push(($file, render_file($file, &TemplateFile(values))?));
            })*
            Ok(files)
        }
    };
}

plugin_files! {
    /// The author's files of a plugin with all parts.
    FILES, render:
    "Cargo.toml" from "plugin/Cargo.toml.jinja",
    "MANIFEST.in" from "plugin/MANIFEST.in.jinja",
    "README.md" from "plugin/README.md.jinja",
    "pyproject.toml" from "plugin/pyproject.toml.jinja",
    ".gitignore" from "plugin/gitignore.jinja",
    ".github/workflows/release.yml" from "plugin/github/workflows/release.yml.jinja",
    "examples/train.py" from "plugin/examples/train.py.jinja",
    "src/lib.rs" from "plugin/src/lib.rs.jinja",
    "src/device.rs" from "plugin/src/device.rs.jinja",
    "src/kernels/mod.rs" from "plugin/src/kernels/mod.rs.jinja" of kernels,
    "src/kernels/relu.rs" from "plugin/src/kernels/relu.rs.jinja" of kernels,
    "src/kernels/fused_bias_relu.rs" from "plugin/src/kernels/fused_bias_relu.rs.jinja" of ops,
    "src/ops.rs" from "plugin/src/ops.rs.jinja" of ops,
    "src/optimizer.rs" from "plugin/src/optimizer.rs.jinja" of optimizer,
    "src/profiler.rs" from "plugin/src/profiler.rs.jinja" of profiler,
    "python/__init__.py" from "plugin/python/__init__.py.jinja" of ops,
    "python/ops.py" from "plugin/python/ops.py.jinja" of ops,
    "python/variables.py" from "plugin/python/variables.py.jinja" of ops,
    "python/op_functions.py" from "plugin/python/op_functions.py.jinja" of ops,
    "tests/conformance.rs" from "plugin/tests/conformance.rs.jinja",
    "tools/build_wheel.py" from "plugin/tools/build_wheel.py.jinja",
}

plugin_files! {
    /// The author's files of a plugin over OpenCL, which replace those of the same name.
    OPENCL_FILES, render_opencl:
    "src/device.rs" from "opencl/src/device.rs.jinja",
    "src/icd.rs" from "opencl/src/icd.rs.jinja",
    "src/opencl/mod.rs" from "opencl/src/opencl/mod.rs.jinja",
    "src/opencl/context.rs" from "opencl/src/opencl/context.rs.jinja",
    "src/opencl/event.rs" from "opencl/src/opencl/event.rs.jinja",
    "src/opencl/host_memory.rs" from "opencl/src/opencl/host_memory.rs.jinja",
    "src/opencl/kernel.rs" from "opencl/src/opencl/kernel.rs.jinja",
    "src/opencl/queue.rs" from "opencl/src/opencl/queue.rs.jinja",
    "src/opencl/release.rs" from "opencl/src/opencl/release.rs.jinja",
    "src/kernels/mod.rs" from "opencl/src/kernels/mod.rs.jinja",
    "src/kernels/conv.rs" from "opencl/src/kernels/conv.rs.jinja",
    "src/kernels/elementwise.rs" from "opencl/src/kernels/elementwise.rs.jinja",
    "src/kernels/mat_mul.rs" from "opencl/src/kernels/mat_mul.rs.jinja",
    "src/kernels/nn.rs" from "opencl/src/kernels/nn.rs.jinja",
    "src/kernels/pool.rs" from "opencl/src/kernels/pool.rs.jinja",
    "src/kernels/reduction.rs" from "opencl/src/kernels/reduction.rs.jinja",
    "src/kernels/training.rs" from "opencl/src/kernels/training.rs.jinja",
    "src/kernels/common.cl" from "opencl/src/kernels/common.cl",
    "src/kernels/conv.cl" from "opencl/src/kernels/conv.cl",
    "src/kernels/cross_entropy.cl" from "opencl/src/kernels/cross_entropy.cl",
    "src/kernels/map_one.cl" from "opencl/src/kernels/map_one.cl",
    "src/kernels/map_two.cl" from "opencl/src/kernels/map_two.cl",
    "src/kernels/mat_mul.cl" from "opencl/src/kernels/mat_mul.cl",
    "src/kernels/pool.cl" from "opencl/src/kernels/pool.cl",
    "src/kernels/reduce.cl" from "opencl/src/kernels/reduce.cl",
    "src/kernels/softmax.cl" from "opencl/src/kernels/softmax.cl",
    "src/kernels/sparse_cross_entropy.cl" from "opencl/src/kernels/sparse_cross_entropy.cl",
    "src/kernels/training.cl" from "opencl/src/kernels/training.cl",
    "src/kernels/update.cl" from "opencl/src/kernels/update.cl",
}

plugin_files! {
    /// The author's files of a plugin in C.
    C_FILES, render_c:
    "CMakeLists.txt" from "c/CMakeLists.txt.jinja",
    "README.md" from "c/README.md.jinja",
    "pyproject.toml" from "c/pyproject.toml.jinja",
    ".gitignore" from "c/gitignore.jinja",
    "src/plugin.h" from "c/src/plugin.h.jinja",
    "src/device.c" from "c/src/device.c.jinja",
    "src/kernels.c" from "c/src/kernels.c.jinja",
    "src/mat_mul.cc" from "c/src/mat_mul.cc.jinja",
    "src/op.c" from "c/src/op.c.jinja",
    "src/optimizer.c" from "c/src/optimizer.c.jinja",
    "src/profiler.c" from "c/src/profiler.c.jinja",
    "python/__init__.py" from "c/python/__init__.py.jinja",
    "python/ops.py" from "c/python/ops.py.jinja",
    "python/op_functions.py" from "plugin/python/op_functions.py.jinja",
    "tests/test_plugin.py" from "c/tests/test_plugin.py.jinja",
}

/// The folder of a plugin in C that has the headers of `sp-gen generate --lang c`.
pub const C_HEADERS: &str = "spgen";

/// Renders the author's files: those of the backend take precedence.
fn render_all(plugin: &Plugin<'_>) -> Result<Vec<(&'static str, String)>, ScaffoldError> {
    let values = TemplateValues::new(plugin);
    let mut files = render(&values)?;
    if let Some(backend) = plugin.backend {
        let own = match backend {
            Backend::OpenCl => render_opencl(&values)?,
        };
        let replaced = backend.replaced_files();
        files.retain(|(path, _)| {
            !replaced.contains(path) && own.iter().all(|(other, _)| other != path)
        });
        files.extend(own);
    }
    Ok(files)
}

fn render_file(file: &'static str, template: &impl Template) -> Result<String, ScaffoldError> {
    let text = template.render().map_err(|error| ScaffoldError::Template {
        file,
        detail: error.to_string(),
    })?;
    // askama drops a template's last newline.
    Ok(format!("{}\n", text.trim_end()))
}

/// The numbers of files of a new plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileCounts {
    /// Files of the author.
    pub author_files: usize,
    /// Files of vendored crates, or of headers.
    pub vendored_files: usize,
}

/// Writes a plugin to `target`.
///
/// # Errors
/// Returns an error if the source or the target is invalid, or if a file cannot be written. No files are left then.
pub fn create(target: &Path, plugin: &Plugin<'_>) -> Result<FileCounts, ScaffoldError> {
    check_source(plugin.source)?;
    check_target(target)?;
    if plugin.parts.ops && !plugin.parts.kernels {
        return Err(ScaffoldError::OpsWithoutKernels);
    }
    if plugin.backend.is_some() && !plugin.parts.kernels {
        return Err(ScaffoldError::BackendWithoutKernels);
    }
    let author_files = author_files(plugin)?;
    let vendored_files = match plugin.source {
        SpSource::Vendor => listing::with_listing(vendor::vendored_files()),
        SpSource::Checkout(_) => Vec::new(),
    };
    let written = FileCounts {
        author_files: author_files.len(),
        vendored_files: vendored_files.len(),
    };
    write_folder(target, [author_files, vendored_files].concat())?;
    Ok(written)
}

/// Writes a plugin in C to `target`, with the headers that `emit_c` has made.
///
/// # Errors
/// As [`create`].
pub fn create_c(
    target: &Path,
    names: &PluginNames,
    headers: Files,
) -> Result<FileCounts, ScaffoldError> {
    check_target(target)?;
    let plugin = Plugin {
        names,
        parts: Parts::without(&[]),
        source: &SpSource::Vendor,
        driver: None,
        backend: None,
    };
    let authors = render_c(&TemplateValues::new(&plugin))?.into_iter();
    let authors = authors.map(|(path, text)| (path.to_owned(), text.into_bytes()));
    let headers = disk::with_listing(headers).into_iter();
    let headers = headers.map(|(path, text)| (format!("{C_HEADERS}/{path}"), text.into_bytes()));
    let written = FileCounts {
        author_files: authors.len(),
        vendored_files: headers.len(),
    };
    write_folder(target, authors.chain(headers).collect())?;
    Ok(written)
}

/// Returns the author's files by path.
fn author_files(plugin: &Plugin<'_>) -> Result<Vec<(String, Vec<u8>)>, ScaffoldError> {
    let rendered = render_all(plugin)?;
    let depends_on = vendor::manifest_dependencies(&rendered[0].1);
    let lock = lock::plugin_lock(&plugin.names.name, &depends_on);
    let mut files = vec![("Cargo.lock".to_owned(), lock.into_bytes())];
    files.extend(
        rendered
            .into_iter()
            .map(|(path, text)| (path.to_owned(), text.into_bytes())),
    );
    let driver = plugin.driver.map(|text| text.as_bytes().to_vec());
    files.extend(driver.map(|bytes| (DRIVER_FILE.to_owned(), bytes)));
    Ok(files)
}

fn check_source(source: &SpSource) -> Result<(), ScaffoldError> {
    match source {
        SpSource::Checkout(root) if !root.join("codegen/cli/Cargo.toml").is_file() => {
            Err(ScaffoldError::NoCheckout(root.clone()))
        }
        _ => Ok(()),
    }
}

/// Checks that a plugin can be written to `target`, after an interrupted write of its folder is undone or completed.
///
/// # Errors
/// Returns an error if it is not an empty folder.
pub fn check_target(target: &Path) -> Result<(), ScaffoldError> {
    recover(target)?;
    let is_empty = match fs::read_dir(target) {
        Ok(mut entries) => entries.next().is_none(),
        // What else stands in the way, such as a name that is too long, the write reports.
        Err(_) => fs::symlink_metadata(target).is_err(),
    };
    if is_empty {
        return Ok(());
    }
    Err(ScaffoldError::TargetNotEmpty(target.to_owned()))
}

fn write_folder(target: &Path, files: Vec<(String, Vec<u8>)>) -> Result<(), ReplacementError> {
    let new_file = |(path, bytes)| Drift {
        path,
        old: None,
        new: Some(bytes),
    };
    let drifts: Vec<Drift> = files.into_iter().map(new_file).collect();
    disk::apply(target, &drifts)
}

#[cfg(test)]
mod tests;
