//! The argument of the command: a SavedModel or a capture.

use miette::Diagnostic;
use sp_layer::capture::{CaptureError, CaptureReader};
use sp_system::errors;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The files of which a SavedModel has one.
const MODEL_FILES: [&str; 2] = ["saved_model.pb", "saved_model.pbtxt"];

errors! {
    /// An argument that is no input.
    #[derive(Debug, Error, Diagnostic)]
    pub enum InputError in coverage {
        /// The path does not exist.
        Unreadable { path: PathBuf, source: io::Error } = unreadable: ("cannot read {}: {source}", path.display()),
            help("name a SavedModel or a capture, or a program after `--`");

        /// The folder has no model.
        NoModel(PathBuf) = no_model: ("{} is no SavedModel: it has no saved_model.pb", .0.display()),
            help("name the folder that `tf.saved_model.save` or `model.export` has written");

        /// The file is no capture.
        NoCapture(PathBuf) = no_input: ("{} is neither a SavedModel nor a capture", .0.display()),
            help("name the folder of a SavedModel, a file of `sp-gen layer --capture`, or a program after `--`");

        /// The capture has options of a model.
        Options(PathBuf) = capture_options: ("{} is a capture: --python and --seconds do not apply to it", .0.display());
    }
}

/// An input that exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CoverageInput<'p> {
    /// The folder of a SavedModel.
    Model(&'p Path),
    /// The file of a capture, which may be damaged.
    Capture(&'p Path),
}

impl<'p> CoverageInput<'p> {
    /// Returns the input at `path`.
    ///
    /// # Errors
    /// Returns an error if there is none.
    pub fn find(path: &'p Path) -> Result<Self, InputError> {
        let owned = || path.to_owned();
        let metadata = path.metadata();
        let metadata = metadata.map_err(|source| InputError::Unreadable {
            path: owned(),
            source,
        })?;
        if !metadata.is_dir() {
            // `read_capture` reports another error.
            return match CaptureReader::open(path) {
                Err(CaptureError::NoCapture(_)) => Err(InputError::NoCapture(owned())),
                _ => Ok(Self::Capture(path)),
            };
        }
        match MODEL_FILES.iter().any(|it| path.join(it).is_file()) {
            true => Ok(Self::Model(path)),
            false => Err(InputError::NoModel(owned())),
        }
    }
}
