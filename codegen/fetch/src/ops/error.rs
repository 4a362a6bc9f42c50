//! Errors of an import of op definitions, each with a message, a code and help.

use miette::Diagnostic;
use sp_data::folders::NoCache;
use sp_data::ops::OpTableError;
use sp_data::release::Release;
use sp_ops::InvalidOp;
use thiserror::Error;

use crate::error::FetchError;

/// A failure of an import of op definitions, which wrote nothing.
#[derive(Debug, Error, Diagnostic)]
pub enum OpImportError {
    /// There is no such program.
    #[error("cannot run {python}: {source}")]
    #[diagnostic(code(sp_gen::ops::no_python), help("{NAME_THE_PYTHON}"))]
    NoPython {
        /// The program.
        python: String,
        /// The cause.
        source: std::io::Error,
    },
    /// The program is not a Python, or its process ended before it answered.
    #[error("{python} did not list the ops: {detail}")]
    #[diagnostic(code(sp_gen::ops::no_answer), help("{NAME_THE_PYTHON}"))]
    NoAnswer {
        /// The program.
        python: String,
        /// The end of the process.
        detail: String,
    },
    /// The Python has no TensorFlow.
    #[error("{python}: {detail}")]
    #[diagnostic(code(sp_gen::ops::no_tensorflow), help("{NAME_THE_PYTHON}"))]
    NoTensorFlow {
        /// The program.
        python: String,
        /// The reason.
        detail: String,
    },
    /// TensorFlow's library cannot be loaded, or lists no ops.
    #[error("{python}: TensorFlow cannot list its ops: {detail}")]
    #[diagnostic(
        code(sp_gen::ops::not_listed),
        help(
            "`{python} -c \"import tensorflow\"` must work; `sp-gen doctor {python}` says why it does not"
        )
    )]
    NotListed {
        /// The program.
        python: String,
        /// The reason.
        detail: String,
    },
    /// The op definitions are malformed.
    #[error("the op definitions of TensorFlow {version} are malformed: {detail}")]
    #[diagnostic(
        code(sp_gen::ops::malformed_list),
        help(
            "nothing was written. Install TensorFlow again; if it is intact, report this as a bug of sp-gen"
        )
    )]
    Malformed {
        /// The version.
        version: String,
        /// The reason.
        detail: String,
    },
    /// The release is older than all supported ones, or its version cannot be parsed.
    #[error("TensorFlow {0} is not supported: its ops are not imported")]
    #[diagnostic(
        code(sp_gen::ops::unsupported_release),
        help("supported are the releases from {} on", Release::FIRST_SUPPORTED)
    )]
    Unsupported(String),
    /// Another release is installed than the requested one.
    #[error("{python} has TensorFlow {version}, not {requested}")]
    #[diagnostic(
        code(sp_gen::ops::other_release),
        help("name the Python of {requested} with `--from`, or leave the release out")
    )]
    OtherRelease {
        /// The program.
        python: String,
        /// The installed version.
        version: Release,
        /// The requested release.
        requested: String,
    },
    /// The table has a newer version of the release.
    #[error("{table} has the ops of TensorFlow {newest}, which is newer than {version}")]
    #[diagnostic(
        code(sp_gen::ops::superseded),
        help("import {newest} or a later version")
    )]
    Superseded {
        /// The installed version.
        version: Release,
        /// The version in the table.
        newest: Release,
        /// The table.
        table: String,
    },
    /// The table cannot be read or written.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Table(#[from] OpTableError),
    /// The table cannot be locked.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Fetch(#[from] FetchError),
    /// A nightly build needs the user's cache.
    #[error(transparent)]
    #[diagnostic(transparent)]
    NoCache(#[from] NoCache),
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
