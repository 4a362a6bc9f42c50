//! Errors of an import of op definitions, each with a message, a code and help.

use miette::Diagnostic;
use sp_data::folders::NoCache;
use sp_data::ops::OpTableError;
use sp_data::release::Release;
use sp_ops::InvalidOp;
use sp_system::errors;
use thiserror::Error;

use crate::error::FetchError;

errors! {
    /// A failure of an import of op definitions, which wrote nothing.
    #[derive(Debug, Error, Diagnostic)]
    pub enum OpImportError in ops {
        /// There is no such program.
        NoPython { python: String, source: std::io::Error } = no_python: ("cannot run {python}: {source}"),
            help("{NAME_THE_PYTHON}");

        /// The program is not a Python, or its process ended before it answered.
        NoAnswer {
            python: String,
            /// The end of the process.
            detail: String,
        } = no_answer: ("{python} did not list the ops: {detail}"),
            help("{NAME_THE_PYTHON}");

        /// The Python has no TensorFlow.
        NoTensorFlow { python: String, detail: String } = no_tensorflow: ("{python}: {detail}"),
            help("{NAME_THE_PYTHON}");

        /// TensorFlow's library cannot be loaded, or lists no ops.
        NotListed { python: String, detail: String }
            = not_listed: ("{python}: TensorFlow cannot list its ops: {detail}"),
            help("`{python} -c \"import tensorflow\"` must work; `sp-gen doctor {python}` says why it does not");

        /// The op definitions are malformed.
        Malformed { version: String, detail: String }
            = malformed_list: ("the op definitions of TensorFlow {version} are malformed: {detail}"),
            help("nothing was written. Install TensorFlow again; if it is intact, report this as a bug of sp-gen");

        /// The release is older than all supported ones, or its version cannot be parsed.
        Unsupported(String)
            = unsupported_release: ("TensorFlow {0} is not supported: its ops are not imported"),
            help("supported are the releases from {} on", Release::FIRST_SUPPORTED);

        /// Another release is installed than the requested one.
        OtherRelease { python: String, version: Release, requested: String }
            = other_release: ("{python} has TensorFlow {version}, not {requested}"),
            help("name the Python of {requested} with `--from`, or leave the release out");

        /// The table has a newer version of the release.
        Superseded {
            version: Release,
            /// The version in the table.
            newest: Release,
            table: String,
        } = superseded: ("{table} has the ops of TensorFlow {newest}, which is newer than {version}"),
            help("import {newest} or a later version");

        /// The table cannot be read or written.
        Table(OpTableError) = transparent;

        /// The table cannot be locked.
        Fetch(FetchError) = transparent;

        /// A nightly build needs the user's cache.
        NoCache(NoCache) = transparent;
    }
}

const NAME_THE_PYTHON: &str =
    "name the Python that has TensorFlow: `sp-gen import tensorflow --ops --from venv/bin/python`";

impl OpImportError {
    /// Returns the error for definitions of `version` that are malformed.
    pub(super) fn malformed(version: Release, detail: impl ToString) -> Self {
        Self::Malformed {
            version: version.to_string(),
            detail: printable(&detail.to_string()),
        }
    }
}

impl From<(Release, InvalidOp)> for OpImportError {
    fn from((version, invalid): (Release, InvalidOp)) -> Self {
        Self::malformed(version, invalid)
    }
}

/// Returns `text`, which another process wrote, in one line without control characters.
pub(super) fn printable(text: &str) -> String {
    let is_safe = |character: char| {
        character == ' ' || character.is_alphanumeric() || character.is_ascii_punctuation()
    };
    let mut line = String::new();
    for character in text.trim().chars().take(400) {
        match character {
            '\n' => line.push_str("; "),
            character if is_safe(character) => line.push(character),
            character => line.extend(character.escape_unicode()),
        }
    }
    line
}
