//! `sp-gen replay`: repeats the kernel calls of a capture in sp-host, without TensorFlow, and compares what they compute.
//!
//! The calls run in a child process, this program again ([`child`]): a plugin that crashes or hangs fails one call, and the
//! next child goes on after it ([`process`]). [`reduce()`] finds the fewest calls with which one still fails.

mod child;
mod compare;
mod element;
mod json;
mod list;
mod outcome;
mod process;
mod reduce;
mod session;
mod text;
mod values;

pub use child::run_child;
pub use json::print as print_json;
pub use list::list;
pub use outcome::{CallOutcome, Verdict};
pub use process::{Replayed, ReplayedCalls, replay};
pub use reduce::reduce;
pub use text::print as print_text;

use miette::Diagnostic;
use sp_data::release::Release;
use sp_system::errors;
use std::io;
use std::path::PathBuf;
use std::time::Duration;
use thiserror::Error;

errors! {
    /// A capture cannot be replayed.
    #[derive(Debug, Error, Diagnostic)]
    pub enum ReplayError in replay {
        /// The plugin cannot be loaded.
        NoPlugin(String) = no_plugin: ("cannot load the plugin: {0}"),
            help("`sp-gen verify` checks a plugin in each release");

        /// The plugin ended the process before a call was made.
        EndedAtLoad(String) = ended_at_load: ("the plugin ended the process when it was loaded ({0})"),
            help("`sp-gen verify` finds out where");

        /// The release is unknown.
        NoRelease(String) = no_release: ("TensorFlow {0} is not emulated by this sp-gen"),
            help("name another release: `--release 2.21`");

        /// The capture has no call.
        Empty(PathBuf) = empty: ("{} has no call of a kernel", .0.display()),
            help("the program ran no kernel of the plugin that was captured; `sp-gen doctor` finds out why");

        /// The number of a call is too large.
        NoCall { capture: PathBuf, call: u64, calls: u64 }
            = no_call: ("{} has no call {call}: its calls have the numbers 1 to {calls}", capture.display()),
            help("`sp-gen replay FILE --list` prints them");

        /// Nothing was compared.
        NothingCompared(PathBuf) = nothing_compared: ("nothing in {} could be compared", .0.display()),
            help("the report has the reasons");

        /// The one call was not compared.
        CallNotCompared { capture: PathBuf, call: u64 } = call_not_compared: ("call {call} of {} could not be compared", capture.display()),
            help("the report has the reason");

        /// The failure needs calls before it, and does not happen again with all of them.
        NotRepeated(u64) = not_repeated: ("call {0} did not fail again"),
            help("its result may depend on time; replay several times");

        /// The file of the reduced capture exists.
        ExistingFile(PathBuf) = existing_file: ("{} exists", .0.display()),
            help("name another file, or remove this one");

        /// A child process cannot be started, or its results not be read.
        Child(io::Error) = child: ("cannot run a child process: {0}");
    }
}

impl ReplayError {
    /// Returns the error of a replay of `call`, or of all calls, that compared nothing.
    pub fn nothing_compared(capture: PathBuf, call: Option<u64>) -> Self {
        match call {
            Some(call) => Self::CallNotCompared { capture, call },
            None => Self::NothingCompared(capture),
        }
    }
}

/// Options of a replay.
#[derive(Debug, Clone)]
pub struct ReplayOptions {
    /// The capture.
    pub capture: PathBuf,
    /// The plugin's library, as it was named.
    pub plugin: PathBuf,
    /// Its canonical path.
    pub library: PathBuf,
    /// The release to emulate instead of that of the capture.
    pub release: Option<Release>,
    /// The largest difference of two floating-point numbers, absolute and relative; `None` compares bits.
    pub tolerance: Option<f64>,
    /// The longest time of a call.
    pub timeout: Duration,
}
