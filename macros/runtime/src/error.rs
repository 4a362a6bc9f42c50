//! Errors: a code and a message, as in TensorFlow's statuses.

use std::borrow::Cow;
use std::fmt;

/// The result of a plugin's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A status code, with the numbers that TensorFlow and gRPC share. Unknown numbers are preserved.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Code(pub u32);

macro_rules! codes {
    ($($name:ident = $value:literal, $doc:literal;)*) => {
        impl Code {
            $(#[doc = $doc] pub const $name: Self = Self($value);)*

            /// Returns the code's name, or `None` for an unknown number.
            pub const fn name(self) -> Option<&'static str> {
                match self.0 {
                    $($value => Some(stringify!($name)),)*
                    _ => None,
                }
            }
        }
    };
}

codes! {
    OK = 0, "Success.";
    CANCELLED = 1, "The caller cancelled the operation.";
    UNKNOWN = 2, "Unknown error.";
    INVALID_ARGUMENT = 3, "An argument is invalid, independent of the state.";
    DEADLINE_EXCEEDED = 4, "The deadline expired before the operation completed.";
    NOT_FOUND = 5, "The requested object does not exist.";
    ALREADY_EXISTS = 6, "The object to create exists already.";
    PERMISSION_DENIED = 7, "The caller has no permission for the operation.";
    RESOURCE_EXHAUSTED = 8, "Out of memory or of another resource.";
    FAILED_PRECONDITION = 9, "The state does not allow the operation.";
    ABORTED = 10, "The operation was aborted, for example by a conflict with another one.";
    OUT_OF_RANGE = 11, "The operation exceeded the valid range.";
    UNIMPLEMENTED = 12, "The operation is not supported.";
    INTERNAL = 13, "A defect of the plugin or of TensorFlow.";
    UNAVAILABLE = 14, "The operation is not possible at present; a retry may succeed.";
    DATA_LOSS = 15, "Data is lost or corrupt.";
    UNAUTHENTICATED = 16, "The caller has no valid credentials.";
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "Code({})", self.0),
        }
    }
}

/// The error of a call: a code and a message.
///
/// It has the size of a pointer, so that results with an error are short: code that passes errors on is a large part of each kernel.
#[derive(Clone, PartialEq, Eq)]
pub struct Error(Box<Content>);

#[derive(Clone, PartialEq, Eq)]
struct Content {
    code: Code,
    message: Cow<'static, str>,
}

impl Error {
    /// Creates an error with this code and message.
    pub fn new(code: Code, message: impl Into<Cow<'static, str>>) -> Self {
        Self::with_message(code, message.into())
    }

    #[cold]
    fn with_message(code: Code, message: Cow<'static, str>) -> Self {
        Self(Box::new(Content { code, message }))
    }

    /// Creates an error with the code `INVALID_ARGUMENT`.
    pub fn invalid_argument(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Code::INVALID_ARGUMENT, message)
    }

    /// Creates an error with the code `INTERNAL`: a defect of the plugin or of TensorFlow.
    pub fn internal(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Code::INTERNAL, message)
    }

    /// Creates an error with the code `UNIMPLEMENTED`.
    pub fn unimplemented(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Code::UNIMPLEMENTED, message)
    }

    /// Creates an error with the code `RESOURCE_EXHAUSTED`.
    pub fn resource_exhausted(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Code::RESOURCE_EXHAUSTED, message)
    }

    /// Creates the error for a call of an optional slot that the plugin does not implement.
    pub fn absent(slot: &'static str) -> Self {
        Self::unimplemented(format!("the plugin does not provide {slot}"))
    }

    /// Returns the code.
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// Returns the message.
    pub fn message(&self) -> &str {
        &self.0.message
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut error = f.debug_struct("Error");
        error.field("code", &self.0.code);
        error.field("message", &self.0.message).finish()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.0.code, self.0.message)
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_prints_names_of_known_codes_and_numbers_of_others() {
        assert_eq!(
            format!("{:?} {:?}", Code::NOT_FOUND, Code(99)),
            "NOT_FOUND Code(99)"
        );
    }
}
