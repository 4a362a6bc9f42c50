//! The headers of a host that is newer than this plugin's sp-abi, and the decisions that rest on them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::c_header::Header;
use crate::declarations::{KnownApi, RequiredSlots};
use crate::error::{Code, Error, Result};
use crate::host::Host;
use crate::installation::{IncludeRoot, UnreadableReason, framework_library};
use crate::report;
use crate::validation::{RequiredFields, required_fields};

/// The libraries that contain the messages of TensorFlow's checks, by their paths from the folder of the
/// first. The framework library has those for devices, one of the others those for graphs and profiles.
const LIBRARIES: [&str; 5] = [
    "libtensorflow_framework.so.2",
    "libtensorflow_framework.2.dylib",
    "libtensorflow_cc.so.2",
    "libtensorflow_cc.2.dylib",
    "python/_pywrap_tensorflow_internal.so",
];

/// The texts of a header and of its includes, or the reason for which there are none.
type HeaderTexts = Result<BTreeMap<String, String>, HeaderFailure>;

/// The reason for which a header is not used.
#[derive(Debug, Clone, PartialEq, Eq)]
enum HeaderFailure {
    /// The installation has no such header.
    NotFound,
    /// The header, or one that it includes, cannot be read.
    Rejected(Error),
}

impl Host {
    /// Reads the layouts of `api` from the headers of a host whose release is not known. Does nothing
    /// for a known release, or if the installation has no headers: then the sizes of structs decide.
    ///
    /// # Errors
    /// Returns an error if the host is to be declined: a header differs in what a plugin needs.
    pub fn read_layouts(&self, api: &KnownApi) -> Result<()> {
        if self.is_known() {
            return Ok(());
        }
        if !self.is_decided_by_headers() {
            let _ = HEADERS_UNUSED_REASON.set(match IncludeRoot::find().is_some() {
                true => "its headers are not read",
                false => HEADERS_NOT_FOUND,
            });
            return Ok(());
        }
        match header_texts(api.header) {
            Ok(texts) => api.read(&scan_header(&texts)?, &Libraries),
            Err(HeaderFailure::Rejected(error)) => Err(error),
            Err(HeaderFailure::NotFound) => {
                let _ = HEADERS_UNUSED_REASON.set(HEADERS_NOT_FOUND);
                Ok(())
            }
        }
    }

    /// Writes one line if the host is newer than the plugin and was accepted by the sizes of its structs.
    pub fn report_sizes_only(&self) {
        static REPORTED: OnceLock<()> = OnceLock::new();
        if let Some(reason) = HEADERS_UNUSED_REASON
            .get()
            .filter(|_| self.check_accepted().is_ok())
        {
            REPORTED.get_or_init(|| {
                let line = sp_macros::decline_message!(AcceptedBySizes, self.name(), reason);
                report!(Warn, "{line}");
            });
        }
    }

    /// Returns true if the host's `header` declares the function `name` with `signature`, in the IR's
    /// canonical spelling.
    pub(crate) fn declares(&self, header: &str, name: &str, signature: &str) -> bool {
        let texts = match self.is_decided_by_headers() {
            true => header_texts(header),
            false => return false,
        };
        texts.is_ok_and(|texts| {
            let found = scan_header(&texts).map(|header| header.function(name));
            found.is_ok_and(|found| found.is_ok_and(|ty| ty.to_string() == signature))
        })
    }
}

const HEADERS_NOT_FOUND: &str = "its headers were not found";

/// The reason for which struct sizes, and not headers, decide about a host of an unknown release.
static HEADERS_UNUSED_REASON: OnceLock<&str> = OnceLock::new();

fn scan_header(texts: &BTreeMap<String, String>) -> Result<Header<'_>> {
    Header::scan(texts.values().map(String::as_str)).map_err(|error| {
        let message = format!("its headers could not be read: {error}");
        Error::new(Code::FAILED_PRECONDITION, message)
    })
}

/// Returns the texts of a header of the host; each is read once.
fn header_texts(header: &str) -> HeaderTexts {
    static TEXTS: Mutex<BTreeMap<String, HeaderTexts>> = Mutex::new(BTreeMap::new());
    let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    let entry = texts.entry(header.to_owned());
    entry.or_insert_with(|| read_texts(header)).clone()
}

fn read_texts(header: &str) -> HeaderTexts {
    let root = IncludeRoot::find().ok_or(HeaderFailure::NotFound)?;
    root.read(header).map_err(|unreadable| {
        if unreadable.reason == UnreadableReason::NotFound && unreadable.name == header {
            return HeaderFailure::NotFound;
        }
        let message = unreadable.to_string();
        HeaderFailure::Rejected(Error::new(Code::FAILED_PRECONDITION, message))
    })
}

/// The libraries beside the framework library, which contain the messages about required slots.
struct Libraries;

impl RequiredSlots for Libraries {
    fn requires(&self, api: &KnownApi, name: &str, field: &str) -> Option<bool> {
        let folder = framework_library()?.parent()?;
        LIBRARIES.iter().enumerate().find_map(|(index, library)| {
            let required = required_fields_of(index, &folder.join(library))?;
            let is_checked = |name: &str| required.iter().any(|(it, _)| it == name);
            let has_messages = api.structs.iter().any(|known| is_checked(known.name()));
            has_messages.then(|| required.contains(&(name.to_owned(), field.to_owned())))
        })
    }
}

/// Returns the required fields that a library's messages name. Each library is read once.
fn required_fields_of(index: usize, path: &Path) -> Option<&'static RequiredFields> {
    static REQUIRED: [OnceLock<Option<RequiredFields>>; LIBRARIES.len()] =
        [const { OnceLock::new() }; LIBRARIES.len()];
    let read = || required_fields(path).ok();
    REQUIRED.get(index)?.get_or_init(read).as_ref()
}
