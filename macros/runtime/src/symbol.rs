//! `TF_*` functions, looked up in the running process.
//!
//! A plugin that names them at link time fails to load in every release that lacks one. So each is
//! looked up on first use, in the libraries that TensorFlow has loaded already; none is loaded for
//! it.

use std::ffi::{CStr, c_void};
use std::fmt;
use std::marker::PhantomData;
use std::ptr;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::availability::Availability;
use crate::host::{FIRST, Host, Release, Releases};

/// The libraries of TensorFlow that export C functions, the likeliest first.
#[cfg(not(target_os = "macos"))]
const LIBRARIES: [&CStr; 3] = [
    c"libtensorflow_framework.so.2",
    c"libtensorflow_cc.so.2",
    c"_pywrap_tensorflow_internal.so",
];
/// The libraries of TensorFlow that export C functions, the likeliest first.
#[cfg(target_os = "macos")]
const LIBRARIES: [&CStr; 3] = [
    c"libtensorflow_framework.2.dylib",
    c"libtensorflow_cc.2.dylib",
    c"_pywrap_tensorflow_internal.so",
];

/// A function of the host, by name. `F` is its `unsafe extern "C" fn` type.
pub struct Function<F: 'static> {
    about: About,
    older: &'static [Older<F>],
    found: AtomicPtr<c_void>,
    signature: PhantomData<F>,
}

/// A signature that a function had before, which no symbol tells.
pub struct Older<F> {
    /// The releases that had it.
    pub releases: Releases,
    /// The function with the newest signature, which calls the older one; nothing where the newest
    /// says what the older cannot be told.
    pub adapter: Option<F>,
}

/// What is known of a function beforehand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct About {
    name: &'static CStr,
    availability: Option<&'static Availability>,
    instead: Option<&'static str>,
    unstable: Option<Declared>,
}

/// A function's declaration in the newest known release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Declared {
    newest: Release,
    header: &'static str,
    signature: &'static str,
}

impl<F: Copy> Function<F> {
    /// The function called `name`; nothing is looked up yet.
    ///
    /// # Safety
    /// `F` is an `unsafe extern "C" fn` type with the signature that every host gives this name.
    pub const unsafe fn new(name: &'static CStr) -> Self {
        assert!(
            size_of::<F>() == size_of::<*mut c_void>(),
            "F is not a function pointer"
        );
        Self {
            about: About {
                name,
                availability: None,
                instead: None,
                unstable: None,
            },
            older: &[],
            found: AtomicPtr::new(ptr::null_mut()),
            signature: PhantomData,
        }
    }

    /// The same, of which it is known who exports it.
    pub const fn exported(mut self, by: &'static Availability) -> Self {
        self.about.availability = Some(by);
        self
    }

    /// The same, of which it is known what does its work where it is missing.
    pub const fn instead(mut self, other: &'static str) -> Self {
        self.about.instead = Some(other);
        self
    }

    /// The same, for a function whose signature changes between releases, which no symbol shows:
    /// TensorFlow calls its header experimental, or has changed it before. It is called in releases up
    /// to `newest`, and in newer ones if the host's `header` declares `signature`, which is in the IR's
    /// canonical spelling. `SP_ASSUME_SAME=1` calls it all the same.
    pub const fn unstable(
        mut self,
        newest: Release,
        header: &'static str,
        signature: &'static str,
    ) -> Self {
        self.about.unstable = Some(Declared {
            newest,
            header,
            signature,
        });
        self
    }

    /// The same, of which older releases had these signatures.
    pub const fn before(mut self, older: &'static [Older<F>]) -> Self {
        self.older = older;
        self
    }

    /// The function, to call.
    ///
    /// # Errors
    /// [`Missing`] where no library of this process exports it, or with a signature that cannot be
    /// told or served.
    pub fn get(&self) -> Result<F, Missing> {
        // Acquire pairs with the Release below: whoever sees the pointer sees the library loaded.
        let mut found = self.found.load(Ordering::Acquire);
        if found.is_null() {
            found = self.find()?;
            self.found.store(found, Ordering::Release);
        }
        // SAFETY: `new` checked that the sizes agree, and its caller vouched for the signature.
        Ok(unsafe { std::mem::transmute_copy(&found) })
    }

    #[cold]
    fn find(&self) -> Result<*mut c_void, Missing> {
        let missing = |why| Missing(self.about, why);
        let found = look_up(self.about.name).ok_or(missing(Why::NotExported))?;
        if !self.about.is_settled() {
            return Err(missing(Why::Newer));
        }
        for older in self.older {
            match (Host::running().is(older.releases), older.adapter) {
                (Some(false), _) => {}
                (Some(true), Some(adapter)) => {
                    // SAFETY: `new` checked that a function is as large as an address.
                    return Ok(unsafe { std::mem::transmute_copy(&adapter) });
                }
                (Some(true), None) => return Err(missing(Why::Older(older.releases))),
                (None, _) => return Err(missing(Why::Untold(older.releases))),
            }
        }
        Ok(found)
    }

    /// Whether the running host has it.
    pub fn is_available(&self) -> bool {
        self.get().is_ok()
    }

    /// The C name.
    pub fn name(&self) -> &'static CStr {
        self.about.name
    }

    /// Which wheels export it, where that is known.
    pub fn availability(&self) -> Option<&'static Availability> {
        self.about.availability
    }
}

/// A function that the running host does not have, or not as it is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Missing(About, Why);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Why {
    NotExported,
    /// Its signature in these releases, of which this is one, cannot serve the call.
    Older(Releases),
    /// In these releases it has another signature, and whether this is one of them is not known.
    Untold(Releases),
    /// The host is newer than every known release, and its headers do not declare this signature.
    Newer,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(about, why) = self;
        let name = about.name.to_string_lossy();
        match why {
            Why::NotExported => write!(f, "{name} is not exported by this process")?,
            Why::Older(releases) => write!(f, "{name} takes other arguments in {releases}")?,
            Why::Untold(releases) => write!(
                f,
                "{name} takes other arguments in {releases}, and this is {}",
                Host::running().name()
            )?,
            Why::Newer => write!(
                f,
                "{name} may have another signature in {}, whose headers do not declare the known one or were not read (SP_ASSUME_SAME=1 calls it)",
                Host::running().name()
            )?,
        }
        if let Some(availability) = about.availability {
            write!(f, "; {availability}")?;
        }
        match about.instead {
            Some(other) => write!(f, "; use {other} instead"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Missing {}

/// A function of the host, whatever its signature.
pub trait Means: Sync {
    /// Whether it can be called here.
    ///
    /// # Errors
    /// [`Missing`], as [`Function::get`] has it.
    fn is_there(&self) -> Result<(), Missing>;
}

impl<F: Copy + Sync> Means for Function<F> {
    fn is_there(&self) -> Result<(), Missing> {
        self.get().map(|_| ())
    }
}

impl About {
    /// Returns true if the signature is known: it never changed, the release is known, or the host's
    /// header declares it.
    fn is_settled(&self) -> bool {
        static ASSUME_SAME: LazyLock<bool> =
            LazyLock::new(|| std::env::var_os("SP_ASSUME_SAME").is_some_and(|value| value == "1"));
        let Some(known) = self.unstable else {
            return true;
        };
        let (host, name) = (Host::running(), self.name.to_string_lossy());
        let is_old = host.is(Releases::between(FIRST, known.newest)) == Some(true);
        let is_declared = || host.declares(known.header, &name, known.signature);
        is_old || host.is_preview() || *ASSUME_SAME || is_declared()
    }
}

/// Whether TensorFlow, or anything else in this process, exports `name`.
pub(crate) fn is_exported(name: &CStr) -> bool {
    look_up(name).is_some()
}

/// Returns the address of `name` in the libraries of this process.
pub(crate) fn look_up(name: &CStr) -> Option<*mut c_void> {
    LIBRARIES
        .iter()
        .filter_map(|library| loaded(library))
        .chain([libc::RTLD_DEFAULT])
        .map(|library| symbol(library, name))
        .find(|found| !found.is_null())
}

/// The library's handle if this process has it already. The handle is kept: TensorFlow never
/// unloads itself.
fn loaded(library: &CStr) -> Option<*mut c_void> {
    // SAFETY: a C string and flags that load nothing.
    let handle = unsafe { libc::dlopen(library.as_ptr(), libc::RTLD_NOLOAD | libc::RTLD_NOW) };
    (!handle.is_null()).then_some(handle)
}

fn symbol(library: *mut c_void, name: &CStr) -> *mut c_void {
    // SAFETY: a handle from dlopen, or RTLD_DEFAULT, and a C string.
    unsafe { libc::dlsym(library, name.as_ptr()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_the_process_has() {
        // SAFETY: the C library's own signature.
        let getpid: Function<unsafe extern "C" fn() -> i32> = unsafe { Function::new(c"getpid") };
        let getpid = getpid.get().unwrap();
        // SAFETY: takes no arguments.
        let found = unsafe { getpid() };
        assert_eq!(found as u32, std::process::id());
    }

    #[test]
    fn names_what_it_lacks() {
        // SAFETY: never called.
        let none: Function<unsafe extern "C" fn()> = unsafe { Function::new(c"TF_NoSuchThing") };
        let missing = none.get().unwrap_err();
        assert_eq!(
            missing.to_string(),
            "TF_NoSuchThing is not exported by this process"
        );
    }

    #[test]
    fn what_is_experimental_is_not_called_where_nothing_tells_the_release() {
        // SAFETY: the C library's own signature.
        let getpid: Function<unsafe extern "C" fn() -> i32> = unsafe { Function::new(c"getpid") };
        let getpid = getpid.unstable(Release::new(2, 21), "unistd.h", "int32_t()");
        let missing = getpid.is_there().unwrap_err().to_string();
        assert!(missing.starts_with("getpid may have"), "{missing}");
        assert!(missing.contains("declare the known one"), "{missing}");
    }

    #[test]
    fn says_who_has_it_and_what_does_its_work() {
        static NOWHERE: Availability = Availability(&[]);
        // SAFETY: never called.
        let none: Function<unsafe extern "C" fn()> = unsafe { Function::new(c"TF_NoSuchThing") };
        let none = none.exported(&NOWHERE).instead("TF_Other");
        assert_eq!(none.availability(), Some(&NOWHERE));
        assert_eq!(
            none.get().unwrap_err().to_string(),
            "TF_NoSuchThing is not exported by this process; no wheel that was read exports it; use TF_Other instead"
        );
    }
}
