//! `TF_Status` as `Result`.

use std::borrow::Cow;
use std::ffi::{CStr, CString, c_char};
use std::fmt;
use std::marker::{PhantomData, PhantomPinned};

use crate::{Function, Missing};

/// What a plugin's functions return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// TensorFlow's status object, whose inside is hidden. `TSL_Status` and `TF_Status` in C.
#[repr(C)]
pub struct RawStatus {
    opaque: [u8; 0],
    pinned: PhantomData<(*mut u8, PhantomPinned)>,
}

/// A status code, with the numbers that TensorFlow and gRPC share. Unknown numbers survive.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Code(pub u32);

macro_rules! codes {
    ($($name:ident = $value:literal, $doc:literal;)*) => {
        impl Code {
            $(#[doc = $doc] pub const $name: Self = Self($value);)*

            /// The code's name, if it has one.
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
    OK = 0, "Done.";
    CANCELLED = 1, "The caller gave up.";
    UNKNOWN = 2, "No better code fits.";
    INVALID_ARGUMENT = 3, "An argument is wrong whatever the state.";
    DEADLINE_EXCEEDED = 4, "It took too long.";
    NOT_FOUND = 5, "What was asked for is not there.";
    ALREADY_EXISTS = 6, "What was to be made is there already.";
    PERMISSION_DENIED = 7, "The caller may not.";
    RESOURCE_EXHAUSTED = 8, "Out of memory, or of another resource.";
    FAILED_PRECONDITION = 9, "The state does not allow it.";
    ABORTED = 10, "Something else got in the way.";
    OUT_OF_RANGE = 11, "Past the end.";
    UNIMPLEMENTED = 12, "Not supported here.";
    INTERNAL = 13, "A fault of the plugin or of TensorFlow.";
    UNAVAILABLE = 14, "Not now; try again.";
    DATA_LOSS = 15, "Data is lost or corrupt.";
    UNAUTHENTICATED = 16, "The caller is not known.";
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "Code({})", self.0),
        }
    }
}

/// Why a call failed: a code and a sentence for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    code: Code,
    message: Cow<'static, str>,
}

impl Error {
    /// An error with this code and message.
    pub fn new(code: Code, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }

    /// An argument is wrong.
    pub fn invalid_argument(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Code::INVALID_ARGUMENT, message)
    }

    /// A fault of the plugin or of TensorFlow.
    pub fn internal(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Code::INTERNAL, message)
    }

    /// Not supported.
    pub fn unimplemented(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Code::UNIMPLEMENTED, message)
    }

    /// Out of memory or of another resource.
    pub fn exhausted(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Code::RESOURCE_EXHAUSTED, message)
    }

    /// An optional slot that this plugin left empty was called all the same.
    pub fn absent(slot: &'static str) -> Self {
        Self::unimplemented(format!("the plugin does not provide {slot}"))
    }

    /// The code.
    pub fn code(&self) -> Code {
        self.code
    }

    /// The sentence.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.code, self.message)
    }
}

impl std::error::Error for Error {}

impl From<Missing> for Error {
    fn from(missing: Missing) -> Self {
        Self::unimplemented(missing.to_string())
    }
}

// The five functions a Result needs; sp-abi has the rest of the API, but stands above this crate.
// SAFETY: each signature is the symbol's own (tensorflow/c/tf_status.h).
static NEW: Function<unsafe extern "C" fn() -> *mut RawStatus> =
    unsafe { Function::new(c"TF_NewStatus") };
// SAFETY: as above.
static DELETE: Function<unsafe extern "C" fn(*mut RawStatus)> =
    unsafe { Function::new(c"TF_DeleteStatus") };
// SAFETY: as above.
static SET: Function<unsafe extern "C" fn(*mut RawStatus, Code, *const c_char)> =
    unsafe { Function::new(c"TF_SetStatus") };
// SAFETY: as above.
static GET_CODE: Function<unsafe extern "C" fn(*const RawStatus) -> Code> =
    unsafe { Function::new(c"TF_GetCode") };
// SAFETY: as above.
static MESSAGE: Function<unsafe extern "C" fn(*const RawStatus) -> *const c_char> =
    unsafe { Function::new(c"TF_Message") };

/// A status object of our own, to hand to functions that report through one.
pub struct Status(*mut RawStatus);

impl Status {
    /// A fresh status, OK.
    ///
    /// # Errors
    /// Where the process has no TensorFlow.
    pub fn new() -> Result<Self> {
        let make = NEW.get()?;
        // SAFETY: takes no arguments.
        Ok(Self(unsafe { make() }))
    }

    /// A status that says `error`.
    ///
    /// # Errors
    /// Where the process has no TensorFlow.
    pub fn of(error: &Error) -> Result<Self> {
        let status = Self::new()?;
        // SAFETY: just made.
        unsafe { write(status.0, error) };
        Ok(status)
    }

    /// The object, for a C call. It stays ours.
    pub fn as_ptr(&self) -> *mut RawStatus {
        self.0
    }

    /// What the last call reported.
    pub fn check(&self) -> Result<()> {
        // SAFETY: the object lives as long as `self`.
        unsafe { read(self.0) }
    }
}

impl Drop for Status {
    fn drop(&mut self) {
        if let Ok(delete) = DELETE.get() {
            // SAFETY: ours, and not used again.
            unsafe { delete(self.0) }
        }
    }
}

/// What a status says, as a `Result`.
///
/// # Safety
/// `status` is a live status object.
pub(crate) unsafe fn read(status: *const RawStatus) -> Result<()> {
    let (code_of, message_of) = (GET_CODE.get()?, MESSAGE.get()?);
    // SAFETY: the caller vouches for `status`.
    match unsafe { code_of(status) } {
        Code::OK => Ok(()),
        // SAFETY: as above; the message is a C string that lives until the status changes.
        code => Err(Error::new(code, unsafe { owned(message_of(status)) })),
    }
}

/// Records `error` in a status of TensorFlow's, or in the log if there is none.
///
/// # Safety
/// `status` is null or a live status object.
pub(crate) unsafe fn write(status: *mut RawStatus, error: &Error) {
    match SET.get() {
        Ok(set) if !status.is_null() => {
            let text = c_string(&error.message);
            // SAFETY: both pointers live across the call; TensorFlow copies the text.
            unsafe { set(status, error.code, text.as_ptr()) }
        }
        _ => crate::report!(Error, "an error could not be reported: {error}"),
    }
}

/// # Safety
/// `text` is null or a C string.
unsafe fn owned(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: the caller vouches for it.
    unsafe { CStr::from_ptr(text) }
        .to_string_lossy()
        .into_owned()
}

/// The text as C has it; a NUL inside would cut it short, so those go.
fn c_string(text: &str) -> CString {
    CString::new(text.replace('\0', "")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_print_their_names_and_unknown_ones_their_number() {
        assert_eq!(
            format!("{:?} {:?}", Code::NOT_FOUND, Code(99)),
            "NOT_FOUND Code(99)"
        );
    }

    #[test]
    fn without_tensorflow_there_is_an_error_that_names_the_function() {
        let error = Status::new().err().expect("no TensorFlow in this process");
        assert_eq!(error.code(), Code::UNIMPLEMENTED);
        assert!(error.message().contains("TF_NewStatus"), "{error}");
    }

    #[test]
    fn a_nul_in_a_message_does_not_cut_it() {
        assert_eq!(c_string("a\0b").as_bytes(), b"ab");
    }
}
