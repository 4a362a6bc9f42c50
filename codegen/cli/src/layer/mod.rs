//! `sp-gen layer`: the release of the program's TensorFlow, the library for it, and the run.

mod installed;
mod run;

pub use installed::{Installed, find_installed};
pub use run::{LayerOptions, LayerRun, run};

use miette::Diagnostic;
use sp_system::errors;
use std::io;
use std::path::PathBuf;
use thiserror::Error;

errors! {
    /// A program cannot be run with the layer.
    #[derive(Debug, Error, Diagnostic)]
    pub enum LayerError in layer {
        /// The system has no preloaded libraries, or another form of them.
        System = system: ("the layer needs Linux on x86-64 or aarch64 with glibc"),
            help("run it there, for example in a container");

        /// The program is no Python program.
        NoPython(String) = no_python: ("cannot determine the Python of {}", .0),
            help("name it: `sp-gen layer --python venv/bin/python -- PROGRAM`, or its release: `--release 2.21`");

        /// The Python has no TensorFlow.
        NoTensorFlow(String) = no_tensorflow: ("{} has no TensorFlow", .0),
            help("name the Python that the program runs in: `sp-gen layer --python venv/bin/python -- PROGRAM`");

        /// The installed package states no version.
        NoVersion(String) = no_version: ("{} has a TensorFlow whose version is unknown", .0),
            help("name it: `sp-gen layer --release 2.21 -- PROGRAM`");

        /// A name of the filter includes nothing.
        Filter { part: String, groups: String } = filter: ("no function, slot or group matches `{part}`"),
            help("name a slot or function such as `SP_StreamExecutor.memcpy_*`, or a group: {groups}");

        /// There is no cache.
        NoCache = no_cache: ("no folder for the layer's library: neither HOME nor XDG_CACHE_HOME is set"),
            help("set one of them");

        /// The program cannot be started.
        NotStarted { program: String, source: io::Error } = not_started: ("cannot run {program}: {source}");

        /// The trace cannot be written.
        Unwritable { path: PathBuf, source: io::Error } = unwritable: ("cannot write {}: {source}", path.display());

        /// The file of the trace or of the capture exists.
        ExistingFile(PathBuf) = existing_file: ("{} exists", .0.display()),
            help("the program was not run: name another file, or remove this one");
    }
}
