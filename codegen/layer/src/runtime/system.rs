//! The functions of the C library that the layer calls. The layer has no dependencies.

use std::ffi::{CStr, c_char, c_int, c_long, c_void};
use std::sync::atomic::{AtomicBool, Ordering};

/// An argument of [`dlsym`] and `dlvsym`: the libraries after this one.
pub const RTLD_NEXT: *mut c_void = -1_isize as *mut c_void;
/// Modes of `dlopen`.
pub const RTLD_LAZY: c_int = 1;
/// Finds a library only if it is loaded.
pub const RTLD_NOLOAD: c_int = 4;
/// Protection of memory.
pub const PROT_READ: c_int = 1;
/// Protection of memory.
pub const PROT_WRITE: c_int = 2;

/// The result of [`dladdr`].
#[repr(C)]
pub struct DlInfo {
    /// Path of the library.
    pub file_name: *const c_char,
    /// Its load address.
    pub base: *mut c_void,
    symbol_name: *const c_char,
    symbol_address: *mut c_void,
}

/// A program header of a 64-bit ELF file.
#[repr(C)]
pub struct ProgramHeader {
    /// `PT_LOAD` and others.
    pub kind: u32,
    flags: u32,
    offset: u64,
    /// Address in the file's own address space.
    pub address: u64,
    physical: u64,
    file_size: u64,
    /// Size in memory.
    pub size: u64,
    alignment: u64,
}

/// A loaded library, as `dl_iterate_phdr` passes it.
#[repr(C)]
pub struct PhdrInfo {
    /// Difference of its addresses in memory from those in its file.
    pub bias: u64,
    /// Its path; empty for the program.
    pub name: *const c_char,
    /// Its program headers.
    pub headers: *const ProgramHeader,
    /// Their number.
    pub header_count: u16,
}

#[repr(C)]
struct TimeSpec {
    seconds: i64,
    nanoseconds: c_long,
}

type PhdrVisitor = unsafe extern "C" fn(*const PhdrInfo, usize, *mut c_void) -> c_int;

unsafe extern "C" {
    fn dlvsym(handle: *mut c_void, name: *const c_char, version: *const c_char) -> *mut c_void;
    fn dladdr(address: *const c_void, info: *mut DlInfo) -> c_int;
    fn dlopen(path: *const c_char, mode: c_int) -> *mut c_void;
    fn dl_iterate_phdr(visitor: PhdrVisitor, data: *mut c_void) -> c_int;
    fn mprotect(address: *mut c_void, length: usize, protection: c_int) -> c_int;
    fn mmap(
        address: *mut c_void,
        length: usize,
        protection: c_int,
        flags: c_int,
        file: c_int,
        offset: i64,
    ) -> *mut c_void;
    fn munmap(address: *mut c_void, length: usize) -> c_int;
    fn sysconf(name: c_int) -> c_long;
    fn clock_gettime(clock: c_int, time: *mut TimeSpec) -> c_int;
    fn syscall(number: c_long, ...) -> c_long;
    fn getpid() -> c_int;
    fn write(file: c_int, bytes: *const c_void, count: usize) -> isize;
    fn open(path: *const c_char, flags: c_int, mode: c_int) -> c_int;
    #[link_name = "close"]
    fn close_file(file: c_int) -> c_int;
    fn atexit(function: extern "C" fn()) -> c_int;
    fn pthread_atfork(
        prepare: Option<extern "C" fn()>,
        parent: Option<extern "C" fn()>,
        child: Option<extern "C" fn()>,
    ) -> c_int;
}

/// Returns the dynamic loader's own `dlsym`, or 0.
pub fn real_dlsym() -> usize {
    let versions = [c"GLIBC_2.34", c"GLIBC_2.2.5", c"GLIBC_2.17"];
    let find = |version: &CStr| {
        // SAFETY: both names are C strings, and RTLD_NEXT is a handle that dlvsym accepts.
        unsafe { dlvsym(RTLD_NEXT, c"dlsym".as_ptr(), version.as_ptr()) as usize }
    };
    let mut found = versions.into_iter().map(find);
    found.find(|address| *address != 0).unwrap_or(0)
}

/// Returns the path and the load address of the library that contains `address`.
pub fn library_at(address: usize) -> Option<(String, usize)> {
    let mut info = DlInfo {
        file_name: std::ptr::null(),
        base: std::ptr::null_mut(),
        symbol_name: std::ptr::null(),
        symbol_address: std::ptr::null_mut(),
    };
    // SAFETY: dladdr accepts any address, and `info` is writable.
    let found = unsafe { dladdr(address as *const c_void, &raw mut info) };
    if found == 0 || info.file_name.is_null() {
        return None;
    }
    // SAFETY: dladdr has stored a C string that lives as long as the library is loaded.
    let name = unsafe { CStr::from_ptr(info.file_name) };
    Some((name.to_string_lossy().into_owned(), info.base as usize))
}

/// Returns a handle of the loaded library `path`, or null.
pub fn loaded_library(path: &CStr) -> *mut c_void {
    // SAFETY: `path` is a C string; RTLD_NOLOAD loads nothing, so no initializer runs.
    unsafe { dlopen(path.as_ptr(), RTLD_LAZY | RTLD_NOLOAD) }
}

/// Calls `visit` for each loaded library.
pub fn for_each_library(visit: &mut dyn FnMut(&PhdrInfo)) {
    unsafe extern "C" fn visitor(info: *const PhdrInfo, _: usize, data: *mut c_void) -> c_int {
        // SAFETY: `data` is the address of the reference below, which lives during the iteration.
        let visit = unsafe { &mut *data.cast::<&mut dyn FnMut(&PhdrInfo)>() };
        // SAFETY: the dynamic loader passes a valid structure for the time of this call.
        visit(unsafe { &*info });
        0
    }
    let mut visit = visit;
    // SAFETY: the visitor has the signature that the function requires, and `visit` outlives the call.
    unsafe { dl_iterate_phdr(visitor, (&raw mut visit).cast()) };
}

/// Returns the size of a page.
fn page_size() -> usize {
    const PAGE_SIZE_NAME: c_int = 30;
    // SAFETY: sysconf only reads its argument.
    unsafe { sysconf(PAGE_SIZE_NAME) }.max(4096) as usize
}

/// Accessible pages between two inaccessible ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pages {
    /// Address of the first accessible byte.
    pub start: usize,
    /// Number of accessible bytes.
    pub length: usize,
}

impl Pages {
    /// Returns true if `address` is in one of the inaccessible pages.
    pub fn is_beside(&self, address: usize) -> bool {
        let (page, end) = (page_size(), self.start + self.length);
        (self.start - page..self.start).contains(&address) || (end..end + page).contains(&address)
    }
}

/// Maps pages of at least `length` bytes, or returns `None` if the system has no memory.
pub fn map_guarded(length: usize) -> Option<Pages> {
    const PRIVATE_ANONYMOUS: c_int = 0x22;
    let page = page_size();
    let length = length.checked_next_multiple_of(page)?;
    let (all, none) = (length.checked_add(2 * page)?, std::ptr::null_mut());
    // SAFETY: a new mapping at an address that the system selects changes no memory.
    let map = unsafe { mmap(none, all, 0, PRIVATE_ANONYMOUS, -1, 0) };
    if map as isize == -1 {
        return None;
    }
    let start = map as usize + page;
    // SAFETY: the pages are those of the new mapping.
    let is_accessible =
        unsafe { mprotect(start as *mut c_void, length, PROT_READ | PROT_WRITE) } == 0;
    is_accessible.then_some(Pages { start, length })
}

/// Unmaps pages of [`map_guarded`].
///
/// # Safety
/// - Nothing uses the pages.
pub unsafe fn unmap_guarded(pages: Pages) {
    let page = page_size();
    // SAFETY: the mapping was made with these bounds, and the caller guarantees that nothing uses it.
    unsafe { munmap((pages.start - page) as *mut c_void, pages.length + 2 * page) };
}

/// Makes the pages of `length` bytes at `address` writable, or read-only again. Returns false if the system rejects it.
pub fn set_writable(address: usize, length: usize, writable: bool) -> bool {
    let page = page_size();
    let start = address & !(page - 1);
    let end = (address + length + page - 1) & !(page - 1);
    let protection = PROT_READ | if writable { PROT_WRITE } else { 0 };
    // SAFETY: the caller names memory of a loaded library; a change of its protection to readable moves nothing.
    unsafe { mprotect(start as *mut c_void, end - start, protection) == 0 }
}

/// Returns the time of the monotonic clock in nanoseconds, which is the same in all processes.
#[inline]
pub fn now() -> u64 {
    const MONOTONIC: c_int = 1;
    let mut time = TimeSpec {
        seconds: 0,
        nanoseconds: 0,
    };
    // SAFETY: `time` is a writable timespec.
    unsafe { clock_gettime(MONOTONIC, &raw mut time) };
    time.seconds as u64 * 1_000_000_000 + time.nanoseconds as u64
}

/// Returns the number of this thread.
pub fn thread_id() -> i32 {
    // glibc has a function for it from 2.30 on only.
    const GETTID: c_long = if cfg!(target_arch = "x86_64") {
        186
    } else {
        178
    };
    // SAFETY: the call has no arguments and no obligations.
    unsafe { syscall(GETTID) as i32 }
}

static IS_CHILD: AtomicBool = AtomicBool::new(false);

/// Returns true in a forked child, which has the parent's objects and none of its threads: they may have held locks.
pub fn is_child() -> bool {
    IS_CHILD.load(Ordering::Acquire)
}

/// Notes that this process is a forked child.
pub fn set_child() {
    IS_CHILD.store(true, Ordering::Release);
}

/// Returns the number of this process.
pub fn process_id() -> i32 {
    // SAFETY: getpid has no obligations.
    unsafe { getpid() }
}

/// Writes all `bytes` to the descriptor `file`; failures are ignored. It may be called in a signal handler.
pub fn write_all(file: c_int, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        // SAFETY: the bytes are readable for their length.
        let written = unsafe { write(file, bytes.as_ptr().cast(), bytes.len()) };
        match usize::try_from(written) {
            Ok(count) if count > 0 => bytes = &bytes[count.min(bytes.len())..],
            _ => return,
        }
    }
}

/// Opens `path` for appending; -1 if that fails. A program that is run later does not inherit the descriptor.
pub fn open_append(path: &CStr) -> c_int {
    const WRITE_CREATE_APPEND_CLOEXEC: c_int = 0o1 | 0o100 | 0o2000 | 0o2000000;
    // SAFETY: `path` is a C string.
    unsafe { open(path.as_ptr(), WRITE_CREATE_APPEND_CLOEXEC, 0o600) }
}

/// Closes the descriptor `file`.
pub fn close(file: c_int) {
    // SAFETY: the descriptor is the caller's.
    unsafe { close_file(file) };
}

/// Registers functions for the end of the process and for the child of a fork.
pub fn register(at_exit: extern "C" fn(), in_child: extern "C" fn()) {
    // SAFETY: both functions are in this library, which the loader never unloads since it is preloaded.
    unsafe {
        atexit(at_exit);
        pthread_atfork(None, None, Some(in_child));
    }
}
