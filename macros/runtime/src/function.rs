//! `TF_*` functions, looked up in the running process.
//!
//! A plugin that references them at link time fails to load in every release that lacks one. So each
//! is looked up on first use.

use std::ffi::{CStr, c_void};
use std::fmt;
use std::marker::PhantomData;
use std::ptr;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::availability::Availability;
use crate::error::Error;
use crate::host::Host;
use crate::release::{FIRST_SUPPORTED, Release, Releases};
use crate::symbol::find_symbol;
use crate::variable;

/// A function of the host, looked up by name. `F` is its `unsafe extern "C-unwind" fn` type.
pub struct Function<F: 'static> {
    info: FunctionInfo,
    older: &'static [OlderSignature<F>],
    found: AtomicPtr<c_void>,
    signature: PhantomData<F>,
}

/// An earlier signature of a function. The exported symbol does not show it.
pub struct OlderSignature<F> {
    /// The releases that had it.
    pub releases: Releases,
    /// Function with the newest signature that calls the older one, or `None` if the older signature
    /// cannot express the newest.
    pub adapter: Option<F>,
}

/// Static facts about a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FunctionInfo {
    name: &'static CStr,
    availability: Option<&'static Availability>,
    replacement: Option<&'static str>,
    unstable_signature: Option<KnownDeclaration>,
}

/// A function's declaration in the newest known release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct KnownDeclaration {
    newest: Release,
    header: &'static str,
    signature: &'static str,
}

impl<F: Copy> Function<F> {
    /// Creates a reference to the function `name`; the lookup happens on first use.
    ///
    /// # Safety
    /// - `F` is an `unsafe extern "C-unwind" fn` type.
    /// - Every host declares `name` with that signature, except for the signatures that the other
    ///   constructors of this type add.
    pub const unsafe fn new(name: &'static CStr) -> Self {
        assert!(
            size_of::<F>() == size_of::<*mut c_void>(),
            "F is not a function pointer"
        );
        Self {
            info: FunctionInfo {
                name,
                availability: None,
                replacement: None,
                unstable_signature: None,
            },
            older: &[],
            found: AtomicPtr::new(ptr::null_mut()),
            signature: PhantomData,
        }
    }

    /// Adds the wheels that export the function, for error messages.
    pub const fn with_availability(mut self, availability: &'static Availability) -> Self {
        self.info.availability = Some(availability);
        self
    }

    /// Adds the name of the function to use if this one is absent, for error messages.
    pub const fn with_replacement(mut self, replacement: &'static str) -> Self {
        self.info.replacement = Some(replacement);
        self
    }

    /// Marks the signature as one that later releases may change: TensorFlow calls its header
    /// experimental, or has changed it before. The exported symbol shows no such change.
    ///
    /// The function is called in releases up to `newest`. In newer ones it is called if the host's
    /// `header` declares `signature`, in the IR's canonical spelling. `SP_ASSUME_SAME=1` skips this
    /// check.
    pub const fn with_unstable_signature(
        mut self,
        newest: Release,
        header: &'static str,
        signature: &'static str,
    ) -> Self {
        self.info.unstable_signature = Some(KnownDeclaration {
            newest,
            header,
            signature,
        });
        self
    }

    /// Adds the signatures that older releases have.
    pub const fn with_older_signatures(mut self, older: &'static [OlderSignature<F>]) -> Self {
        self.older = older;
        self
    }

    /// Returns the function pointer.
    ///
    /// # Errors
    /// Returns an error if no library of this process exports the function, if its signature in the
    /// running release is not known, or if no adapter to that signature exists.
    #[inline]
    pub fn get(&self) -> Result<F, UnavailableFunction> {
        // Acquire pairs with the Release below: a thread that reads the pointer also sees the loaded library.
        let mut found = self.found.load(Ordering::Acquire);
        if found.is_null() {
            found = self.find()?;
            self.found.store(found, Ordering::Release);
        }
        // SAFETY: `new` checked that `F` has a pointer's size. Its caller guarantees that `F` is the
        // signature of `name`, and `find` returns only functions of that signature.
        Ok(unsafe { std::mem::transmute_copy(&found) })
    }

    #[cold]
    fn find(&self) -> Result<*mut c_void, UnavailableFunction> {
        let mut older = self.older.iter().map(|older| {
            // SAFETY: `new` checked that `F` has a pointer's size, and any function is a valid address.
            let address = |adapter: F| unsafe { std::mem::transmute_copy(&adapter) };
            (older.releases, older.adapter.map(address))
        });
        self.info.find(&mut older)
    }

    /// Returns true if the running host has the function.
    pub fn is_available(&self) -> bool {
        self.get().is_ok()
    }

    /// Returns the C name.
    pub fn name(&self) -> &'static CStr {
        self.info.name
    }

    /// Returns the wheels that export the function, or `None` if that is not known.
    pub fn availability(&self) -> Option<&'static Availability> {
        self.info.availability
    }
}

/// Error: the running host does not have a function, or not with a signature that the plugin can call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnavailableFunction(FunctionInfo, UnavailableReason);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum UnavailableReason {
    NotExported,
    /// The running release is one of these, whose signature has no adapter.
    OlderSignature(Releases),
    /// These releases have another signature, and the host does not state its release.
    UnstatedRelease(Releases),
    /// The host is newer than every known release, and its headers do not declare this signature.
    NewerHost,
}

impl fmt::Display for UnavailableFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(info, reason) = self;
        let name = info.name.to_string_lossy();
        match reason {
            UnavailableReason::NotExported => write!(f, "{name} is not exported by this process")?,
            UnavailableReason::OlderSignature(releases) => {
                write!(f, "{name} takes other arguments in {releases}")?
            }
            UnavailableReason::UnstatedRelease(releases) => write!(
                f,
                "{name} takes other arguments in {releases}, and this is {}",
                Host::running().name()
            )?,
            UnavailableReason::NewerHost => write!(
                f,
                "{name} may have another signature in {}, whose headers do not declare the known one or were not read (SP_ASSUME_SAME=1 calls it)",
                Host::running().name()
            )?,
        }
        if let Some(availability) = info.availability {
            write!(f, "; {availability}")?;
        }
        match info.replacement {
            Some(replacement) => write!(f, "; use {replacement} instead"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for UnavailableFunction {}

impl From<UnavailableFunction> for Error {
    fn from(error: UnavailableFunction) -> Self {
        Self::unimplemented(error.to_string())
    }
}

/// A function of the host, independent of its signature.
pub trait HostFunction: Sync {
    /// Checks that the running host has the function.
    ///
    /// # Errors
    /// Returns an error if [`Function::get`] does.
    fn check_available(&self) -> Result<(), UnavailableFunction>;
}

impl<F: Copy + Sync> HostFunction for Function<F> {
    fn check_available(&self) -> Result<(), UnavailableFunction> {
        self.get().map(|_| ())
    }
}

/// The releases with an older signature, and the address of the adapter to it.
type OlderAdapter = (Releases, Option<*mut c_void>);

impl FunctionInfo {
    /// Returns the address to call: that of the function, or of the adapter to the running release's signature.
    ///
    /// It does not depend on the function's type, so that it is compiled once.
    fn find(
        self,
        older: &mut dyn Iterator<Item = OlderAdapter>,
    ) -> Result<*mut c_void, UnavailableFunction> {
        let unavailable = |reason| UnavailableFunction(self, reason);
        let found = find_symbol(self.name).ok_or(unavailable(UnavailableReason::NotExported))?;
        if self.is_declared_by_host() {
            return Ok(found);
        }
        if !self.has_known_signature() {
            return Err(unavailable(UnavailableReason::NewerHost));
        }
        for (releases, adapter) in older {
            let reason = match (Host::running().is_in(releases), adapter) {
                (Some(false), _) => continue,
                (Some(true), Some(adapter)) => return Ok(adapter),
                (Some(true), None) => UnavailableReason::OlderSignature(releases),
                (None, _) => UnavailableReason::UnstatedRelease(releases),
            };
            return Err(unavailable(reason));
        }
        Ok(found)
    }

    /// Returns true if the release is not known, and the host's header declares the newest known signature.
    fn is_declared_by_host(&self) -> bool {
        self.unstable_signature.is_some_and(|known| {
            let name = self.name.to_string_lossy();
            Host::running().declares(known.header, &name, known.signature)
        })
    }

    /// Returns true if the signature is known without a header: it never changed, or the release is known.
    fn has_known_signature(&self) -> bool {
        static ASSUME_SAME: LazyLock<bool> =
            LazyLock::new(|| variable::is_on("SP_ASSUME_SAME", false));
        self.unstable_signature.is_none_or(|known| {
            let host = Host::running();
            let known_releases = Releases::between(FIRST_SUPPORTED, known.newest);
            host.is_in(known_releases) == Some(true) || host.is_preview() || *ASSUME_SAME
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_and_calls_exported_function() {
        // SAFETY: this is the signature that POSIX gives getpid.
        let getpid: Function<unsafe extern "C-unwind" fn() -> i32> =
            unsafe { Function::new(c"getpid") };
        let getpid = getpid.get().unwrap();
        // SAFETY: getpid takes no arguments and has no preconditions.
        let found = unsafe { getpid() };
        assert_eq!(found as u32, std::process::id());
    }

    #[test]
    fn error_names_absent_function() {
        // SAFETY: no library exports the name, so the function is never called.
        let none: Function<unsafe extern "C-unwind" fn()> =
            unsafe { Function::new(c"TF_NoSuchThing") };
        let unavailable = none.get().unwrap_err();
        assert_eq!(
            unavailable.to_string(),
            "TF_NoSuchThing is not exported by this process"
        );
    }

    #[test]
    fn unstable_function_is_unavailable_if_release_is_not_stated() {
        // SAFETY: this is the signature that POSIX gives getpid.
        let getpid: Function<unsafe extern "C-unwind" fn() -> i32> =
            unsafe { Function::new(c"getpid") };
        let getpid = getpid.with_unstable_signature(Release::new(2, 21), "unistd.h", "int32_t()");
        let unavailable = getpid.check_available().unwrap_err().to_string();
        assert!(unavailable.starts_with("getpid may have"), "{unavailable}");
        assert!(
            unavailable.contains("declare the known one"),
            "{unavailable}"
        );
    }

    #[test]
    fn error_names_exporting_wheels_and_replacement() {
        static NOWHERE: Availability = Availability(&[]);
        // SAFETY: no library exports the name, so the function is never called.
        let none: Function<unsafe extern "C-unwind" fn()> =
            unsafe { Function::new(c"TF_NoSuchThing") };
        let none = none
            .with_availability(&NOWHERE)
            .with_replacement("TF_Other");
        assert_eq!(none.availability(), Some(&NOWHERE));
        assert_eq!(
            none.get().unwrap_err().to_string(),
            "TF_NoSuchThing is not exported by this process; no known wheel exports it; use TF_Other instead"
        );
    }
}
