//! Errors between a host and a plugin, with TensorFlow's error codes.

use std::fmt;

/// The text about a plugin without devices.
pub(crate) const NO_DEVICES: &str = "the plugin reports 0 devices";

/// TensorFlow's error codes (`TF_Code`). Values that are not listed are possible.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct StatusCode(pub u32);

macro_rules! codes {
    ($($name:ident = $value:literal,)*) => {
        impl StatusCode {
            $(#[doc = concat!("`TF_", stringify!($name), "`.")] pub const $name: Self = Self($value);)*

            /// Returns the name, if the value has one.
            pub const fn name(self) -> Option<&'static str> {
                match self {
                    $(Self::$name => Some(stringify!($name)),)*
                    _ => None,
                }
            }
        }
    };
}

codes! {
    OK = 0,
    CANCELLED = 1,
    UNKNOWN = 2,
    INVALID_ARGUMENT = 3,
    DEADLINE_EXCEEDED = 4,
    NOT_FOUND = 5,
    ALREADY_EXISTS = 6,
    PERMISSION_DENIED = 7,
    RESOURCE_EXHAUSTED = 8,
    FAILED_PRECONDITION = 9,
    ABORTED = 10,
    OUT_OF_RANGE = 11,
    UNIMPLEMENTED = 12,
    INTERNAL = 13,
    UNAVAILABLE = 14,
    DATA_LOSS = 15,
    UNAUTHENTICATED = 16,
}

impl fmt::Display for StatusCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "code {}", self.0),
        }
    }
}

impl fmt::Debug for StatusCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// An error of the host or of the plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// A library cannot be loaded, or the IR lacks an item.
    Load(String),
    /// TensorFlow would reject the plugin or crash.
    Refused(String),
    /// A slot or kernel of the plugin reported an error status.
    Status {
        /// The slot or kernel.
        call: String,
        /// The code.
        code: StatusCode,
        /// The message.
        message: String,
    },
    /// The plugin reports no device, which is how a plugin declines.
    Declined(String),
    /// No registered kernel matches the op.
    NoKernel(String),
    /// The caller passed invalid arguments, such as a wrong number of inputs.
    Misuse(String),
    /// The plugin did not finish in time.
    Timeout(String),
}

/// The plugin's functions that TensorFlow calls as it loads the plugin.
const AT_LOADING: [&str; 6] = [
    "SE_InitPlugin",
    "TF_InitGraph",
    "TF_InitProfiler",
    "create_device_fns",
    "create_stream_executor",
    "create_timer_fns",
];

impl Error {
    /// Returns true if TensorFlow ends the process instead of raising an error.
    pub fn is_fatal(&self) -> bool {
        match self {
            Self::Refused(_) => true,
            Self::Status { call, .. } => AT_LOADING.contains(&call.as_str()),
            _ => false,
        }
    }

    /// Returns the plugin's error code, if the plugin reported the error.
    pub fn code(&self) -> Option<StatusCode> {
        match self {
            Self::Status { code, .. } => Some(*code),
            _ => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status {
                call,
                code,
                message,
            } => write!(f, "{call}: {code}: {message}"),
            Self::Load(text)
            | Self::Refused(text)
            | Self::Declined(text)
            | Self::NoKernel(text)
            | Self::Misuse(text)
            | Self::Timeout(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for Error {}
