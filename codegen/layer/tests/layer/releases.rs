//! The library of every release.

use std::path::Path;

use sp_layer::library::{Compiler, Library};

use crate::c;

/// The generated sources of each supported release are valid.
pub fn libraries_of_all_releases_compile() {
    let compiler = Compiler::find().expect("rustc runs");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("layer-sources");
    let releases = c::releases();
    assert_eq!(releases.len(), 18, "{releases:?}");
    for release in &releases {
        let library = Library::new(&c::apis_of(release), &compiler, &folder);
        let sources = folder.join(release);
        library
            .write_sources(&sources)
            .expect("the sources are written");
        let output = sources.join("library.rmeta");
        let compiled = compiler.compile(&sources, &output, &["--emit=metadata"]);
        compiled.unwrap_or_else(|error| panic!("{release}: {error}"));
    }
    println!("the libraries of {} releases compile", releases.len());
}
