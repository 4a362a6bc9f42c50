//! An installed TensorFlow as the source of an import.

use crate::error::FetchError;
use sp_parse::source::{self, Identity, Source};
use std::collections::BTreeSet;
use std::path::Path;

/// [`source::Installed`] with the errors of an import.
pub struct InstalledTensorFlow(source::Installed);

impl InstalledTensorFlow {
    /// Opens an environment, a site-packages folder, a `tensorflow` folder or an include root.
    ///
    /// # Errors
    /// Returns an error if `folder` has no headers of TensorFlow or cannot be read.
    pub fn open(folder: &Path) -> Result<Self, FetchError> {
        Ok(Self(source::Installed::open(folder)?))
    }
}

impl Source for InstalledTensorFlow {
    type Error = FetchError;

    fn origin(&self) -> String {
        self.0.origin()
    }

    fn identity(&mut self) -> Result<Identity, FetchError> {
        Ok(self.0.identity()?)
    }

    fn names(&self) -> &BTreeSet<String> {
        self.0.names()
    }

    fn read(&mut self, name: &str) -> Result<Vec<u8>, FetchError> {
        Ok(self.0.read(name)?)
    }
}
