//! The headers of a host that is newer than this plugin's sp-abi, and what follows from them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::c_header::Header;
use crate::declared::{Api, Requires};
use crate::host::Host;
use crate::installation::{IncludeRoot, Why, library_of};
use crate::validation::{Required, required_fields};
use crate::{Code, Error, Result, report, symbol};

/// The libraries that hold the texts of TensorFlow's checks, by their paths from the folder of the
/// first: the framework's for devices, one of the others for graphs and profiles.
const LIBRARIES: [&str; 5] = [
    "libtensorflow_framework.so.2",
    "libtensorflow_framework.2.dylib",
    "libtensorflow_cc.so.2",
    "libtensorflow_cc.2.dylib",
    "python/_pywrap_tensorflow_internal.so",
];

/// The texts of a header and of its includes, or the reason for which they are not read.
type Texts = Result<BTreeMap<String, String>, NoHeader>;

/// Why a header is not read.
#[derive(Debug, Clone, PartialEq, Eq)]
enum NoHeader {
    /// The installation has none.
    Missing,
    /// It has one that is not trusted.
    Rejected(Error),
}

impl Host {
    /// Reads the layouts of `api` from the headers of a host whose release is not known. Does nothing
    /// for a known release, or if the installation has no headers: then the sizes of structs decide.
    ///
    /// # Errors
    /// Returns an error if the host is to be declined: a header differs in what a plugin needs.
    pub fn read_layouts(&self, api: &Api) -> Result<()> {
        if self.is_known() {
            return Ok(());
        }
        if !self.reads_headers() {
            let _ = NO_HEADERS.set("its headers are not read");
            return Ok(());
        }
        match texts(api.header) {
            Ok(texts) => api.read(&scan(&texts)?, &Libraries),
            Err(NoHeader::Rejected(error)) => Err(error),
            Err(NoHeader::Missing) => {
                let _ = NO_HEADERS.set("its headers were not found");
                Ok(())
            }
        }
    }

    /// Writes one line if the host is newer than the plugin and accepted by the sizes of its structs.
    pub fn report_sizes_only(&self) {
        static REPORTED: OnceLock<()> = OnceLock::new();
        if let Some(why) = NO_HEADERS.get().filter(|_| self.serve().is_ok()) {
            let name = self.name();
            REPORTED.get_or_init(|| {
                report!(Warn, "{name} is newer than the plugin, and {why}: structs are accepted by their sizes");
            });
        }
    }

    /// Returns true if the host's `header` declares the function `name` with `signature`, in the IR's
    /// canonical spelling.
    pub(crate) fn declares(&self, header: &str, name: &str, signature: &str) -> bool {
        let texts = match self.reads_headers() {
            true => texts(header),
            false => return false,
        };
        texts.is_ok_and(|texts| {
            let found = scan(&texts).map(|header| header.function(name));
            found.is_ok_and(|found| found.is_ok_and(|ty| ty.to_string() == signature))
        })
    }
}

/// Why struct sizes decide about a host of an unknown release.
static NO_HEADERS: OnceLock<&str> = OnceLock::new();

fn scan(texts: &BTreeMap<String, String>) -> Result<Header<'_>> {
    Header::scan(texts.values().map(String::as_str)).map_err(|problem| {
        let message = format!("its headers could not be read: {problem}");
        Error::new(Code::FAILED_PRECONDITION, message)
    })
}

/// Returns the texts of a header of the host; each is read once.
fn texts(header: &str) -> Texts {
    static TEXTS: Mutex<BTreeMap<String, Texts>> = Mutex::new(BTreeMap::new());
    let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    let entry = texts.entry(header.to_owned());
    entry.or_insert_with(|| read(header)).clone()
}

fn read(header: &str) -> Texts {
    let root = framework().and_then(IncludeRoot::beside);
    let root = root.ok_or(NoHeader::Missing)?;
    root.read(header).map_err(|unreadable| {
        if unreadable.why == Why::Missing && unreadable.name == header {
            return NoHeader::Missing;
        }
        let message = unreadable.to_string();
        NoHeader::Rejected(Error::new(Code::FAILED_PRECONDITION, message))
    })
}

/// Returns the file of the library that has TensorFlow's statuses, in every release the framework's.
fn framework() -> Option<&'static Path> {
    static FRAMEWORK: OnceLock<Option<PathBuf>> = OnceLock::new();
    let find = || library_of(symbol::look_up(c"TF_SetStatus")?);
    FRAMEWORK.get_or_init(find).as_deref()
}

/// The libraries beside the framework's.
struct Libraries;

impl Requires for Libraries {
    fn requires(&self, api: &Api, name: &str, field: &str) -> Option<bool> {
        let folder = framework()?.parent()?;
        LIBRARIES.iter().enumerate().find_map(|(index, library)| {
            let required = required(index, &folder.join(library))?;
            let is_checked = |name: &str| required.iter().any(|(it, _)| it == name);
            let holds_texts = api.structs.iter().any(|known| is_checked(known.name()));
            holds_texts.then(|| required.contains(&(name.to_owned(), field.to_owned())))
        })
    }
}

/// Returns the required fields that a library's texts name; each library is read once.
fn required(index: usize, path: &Path) -> Option<&'static Required> {
    static REQUIRED: [OnceLock<Option<Required>>; LIBRARIES.len()] =
        [const { OnceLock::new() }; LIBRARIES.len()];
    let read = || required_fields(path).ok();
    REQUIRED.get(index)?.get_or_init(read).as_ref()
}
