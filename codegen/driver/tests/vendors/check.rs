//! Binds a header, and compares the bindings with what gcc and rustc compute.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use sp_driver::{Bindings, Compilation, Options};

use crate::c_asserts::c_asserts;
use crate::compilers::{functions_by_gcc, has_libclang, options, preprocess, try_compile_c};
use crate::headers::Vendor;

/// The result for a header.
pub struct Found {
    /// The bindings.
    pub bindings: Bindings,
    /// Functions that gcc sees and that are neither bound nor left out.
    pub missing: Vec<String>,
    /// The result of rustc.
    pub compiled: Result<(), String>,
    /// The number of sizes, alignments and offsets that gcc computes too, or its message.
    pub layouts: Result<usize, String>,
}

/// Returns the folder of `tests/driver-headers`.
pub fn made() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/made/driver-headers")
}

/// Returns a path of the vendor, below the folder of the wheels if it is relative.
fn path(text: &str) -> PathBuf {
    let wheels = made().join("nvidia");
    // gcc's paths have no `..`.
    wheels.canonicalize().unwrap_or(wheels).join(text)
}

/// Binds the header, or returns `None` without it or libclang.
pub fn bind(vendor: &Vendor) -> Option<(Options, Bindings)> {
    let header = path(vendor.header);
    if !header.is_file() {
        eprintln!("skipped: no {}: package {}", vendor.header, vendor.package);
        return None;
    }
    if !has_libclang() {
        return None;
    }
    let mut options = options(&header);
    options.header.folders = vendor.folders.iter().map(|folder| path(folder)).collect();
    options.header.defines = vendor.defines.iter().map(|it| (*it).to_owned()).collect();
    options.status = vendor.option.map(|text| text.parse().unwrap());
    let bindings = sp_driver::bindings(&options);
    let bindings = bindings.unwrap_or_else(|error| panic!("{}: {error}", vendor.header));
    Some((options, bindings))
}

/// Compares the bindings with what gcc and rustc compute.
pub fn find(vendor: &Vendor) -> Option<Found> {
    let (options, bindings) = bind(vendor)?;
    let compiled = match sp_driver::compile(&bindings, vendor.header) {
        Ok(Compilation::Accepted) => Ok(()),
        Ok(Compilation::Skipped(reason)) => Err(reason),
        Err(error) => Err(error.to_string()),
    };
    let asserts = c_asserts(&bindings.text, &preprocess(&options));
    let layouts = try_compile_c(&asserts.concat(), &options).map(|()| asserts.len());
    Some(Found {
        missing: missing(vendor, &options, &bindings),
        bindings,
        compiled,
        layouts,
    })
}

/// Returns the functions that gcc sees and that the bindings do not name.
fn missing(vendor: &Vendor, options: &Options, bindings: &Bindings) -> Vec<String> {
    let left_out = bindings.left_out.iter().map(|it| it.name.as_str());
    let bound = bindings.functions.iter().map(String::as_str);
    let known: BTreeSet<&str> = bound.chain(left_out).collect();
    let declared = functions_by_gcc(options, &|file| file.contains(vendor.own));
    assert!(!declared.is_empty(), "gcc sees no function");
    let declared = declared.into_iter();
    declared
        .filter(|name| !known.contains(name.as_str()))
        .collect()
}

/// Asserts that a header is bound as expected.
pub fn check(vendor: &Vendor) {
    let Some(found) = find(vendor) else { return };
    let (name, missing) = (vendor.header, &found.missing);
    assert_eq!(found.bindings.status.as_deref(), vendor.status);
    assert!(
        missing.is_empty(),
        "{name}: neither bound nor left out: {missing:?}"
    );
    assert_eq!(found.compiled, Ok(()), "{name}");
    assert!(found.layouts.is_ok(), "{name}: {:?}", found.layouts);
}
