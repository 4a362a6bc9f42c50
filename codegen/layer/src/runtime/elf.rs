//! Loaded libraries: their memory, the libraries that they need, and the places where addresses of functions are stored.

use super::system::{PhdrInfo, for_each_library, set_writable};
use std::ffi::CStr;
use std::ops::Range;
use std::sync::Mutex;

const PT_LOAD: u32 = 1;
const PT_DYNAMIC: u32 = 2;
const PT_GNU_RELRO: u32 = 0x6474_e552;

const DT_NEEDED: u64 = 1;
const DT_PLTRELSZ: u64 = 2;
const DT_STRTAB: u64 = 5;
const DT_SYMTAB: u64 = 6;
const DT_RELA: u64 = 7;
const DT_RELASZ: u64 = 8;
const DT_JMPREL: u64 = 23;

/// Relocations whose place holds the address of a symbol: of data, of the global offset table, of the procedure table.
#[cfg(target_arch = "x86_64")]
const ADDRESS_RELOCATIONS: [u32; 3] = [1, 6, 7];
#[cfg(target_arch = "aarch64")]
const ADDRESS_RELOCATIONS: [u32; 3] = [257, 1025, 1026];
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const ADDRESS_RELOCATIONS: [u32; 0] = [];

#[repr(C)]
#[derive(Clone, Copy)]
struct Dynamic {
    tag: u64,
    value: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Relocation {
    offset: u64,
    info: u64,
    addend: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Symbol {
    name: u32,
    info: u8,
    other: u8,
    section: u16,
    value: u64,
    size: u64,
}

/// A loaded library.
#[derive(Debug, Clone)]
pub struct Library {
    /// Its path; empty for the program.
    pub path: String,
    bias: u64,
    memory: Vec<Range<u64>>,
    dynamic: Option<u64>,
    read_only: Option<Range<u64>>,
}

/// A place that holds the address of a symbol of another library.
#[derive(Debug)]
pub struct Place {
    /// The symbol.
    pub symbol: String,
    /// The address of the place.
    pub address: usize,
}

/// Returns all loaded libraries.
pub fn libraries() -> Vec<Library> {
    let mut found = Vec::new();
    for_each_library(&mut |info| found.push(Library::from_info(info)));
    found
}

impl Library {
    fn from_info(info: &PhdrInfo) -> Self {
        // SAFETY: the dynamic loader states the number of program headers, and the path is a C string.
        let (headers, name) = unsafe {
            let count = usize::from(info.header_count);
            (
                std::slice::from_raw_parts(info.headers, count),
                CStr::from_ptr(info.name),
            )
        };
        let range = |kind: u32| {
            let headers = headers.iter().filter(move |it| it.kind == kind);
            headers.map(|it| info.bias + it.address..info.bias + it.address + it.size)
        };
        Self {
            path: name.to_string_lossy().into_owned(),
            bias: info.bias,
            memory: range(PT_LOAD).collect(),
            dynamic: range(PT_DYNAMIC).next().map(|it| it.start),
            read_only: range(PT_GNU_RELRO).next(),
        }
    }

    /// Returns true if `address` is in the library's memory.
    pub fn contains(&self, address: usize) -> bool {
        self.memory.iter().any(|it| it.contains(&(address as u64)))
    }

    /// Returns the name of its file.
    pub fn file_name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    fn dynamic(&self) -> Vec<Dynamic> {
        let mut entries = Vec::new();
        let Some(start) = self.dynamic else {
            return entries;
        };
        for index in 0.. {
            // SAFETY: the dynamic section of a loaded library is readable, and an entry with tag 0 ends it.
            let entry = unsafe { (start as *const Dynamic).add(index).read() };
            if entry.tag == 0 {
                break;
            }
            entries.push(entry);
        }
        entries
    }

    /// Returns the address in an entry of the dynamic section. glibc has added the bias to it, other loaders have not.
    fn address(&self, entries: &[Dynamic], tag: u64) -> Option<u64> {
        let value = entries.iter().find(|it| it.tag == tag)?.value;
        Some(if value < self.bias {
            value + self.bias
        } else {
            value
        })
    }

    /// Returns the file names of the libraries that it needs.
    pub fn needed(&self) -> Vec<String> {
        let entries = self.dynamic();
        let Some(texts) = self.address(&entries, DT_STRTAB) else {
            return Vec::new();
        };
        let needed = entries.iter().filter(|it| it.tag == DT_NEEDED);
        // SAFETY: the entry is an offset into the library's string table.
        needed.map(|it| unsafe { text(texts + it.value) }).collect()
    }

    /// Returns the places that hold the addresses of symbols that `is_wanted` accepts.
    pub fn places(&self, is_wanted: impl Fn(&str) -> bool) -> Vec<Place> {
        let entries = self.dynamic();
        let (symbols, texts) = (
            self.address(&entries, DT_SYMTAB),
            self.address(&entries, DT_STRTAB),
        );
        let (Some(symbols), Some(texts)) = (symbols, texts) else {
            return Vec::new();
        };
        let mut places = Vec::new();
        for (table, size) in [(DT_RELA, DT_RELASZ), (DT_JMPREL, DT_PLTRELSZ)] {
            for relocation in self.relocations(&entries, table, size) {
                let (index, kind) = (relocation.info >> 32, relocation.info as u32);
                if index == 0 || !ADDRESS_RELOCATIONS.contains(&kind) {
                    continue;
                }
                // SAFETY: a relocation's index is one of the symbol table, and a symbol's name one of the string table.
                let symbol = unsafe {
                    let symbol = (symbols as *const Symbol).add(index as usize).read();
                    text(texts + u64::from(symbol.name))
                };
                if is_wanted(&symbol) {
                    let address = (self.bias + relocation.offset) as usize;
                    places.push(Place { symbol, address });
                }
            }
        }
        places
    }

    fn relocations(&self, entries: &[Dynamic], table: u64, size: u64) -> Vec<Relocation> {
        let size = entries
            .iter()
            .find(|it| it.tag == size)
            .map_or(0, |it| it.value);
        let count = size as usize / size_of::<Relocation>();
        match self.address(entries, table) {
            // SAFETY: the dynamic section states the table's address and size.
            Some(start) if count > 0 => unsafe {
                std::slice::from_raw_parts(start as *const Relocation, count).to_vec()
            },
            _ => Vec::new(),
        }
    }

    /// Stores `value` in `place`. Returns false if the system rejects it.
    pub fn store(&self, place: &Place, value: usize) -> bool {
        /// A thread makes no page read-only in which another one stores.
        static PROTECTION: Mutex<()> = Mutex::new(());
        let _lock = PROTECTION.lock();
        let address = place.address as u64;
        let protected = self
            .read_only
            .as_ref()
            .is_some_and(|it| it.contains(&address));
        if protected && !set_writable(place.address, size_of::<usize>(), true) {
            return false;
        }
        // SAFETY: the place is one of the library's, writable now, and holds an address. Other threads read it as a whole.
        unsafe {
            let place = std::sync::atomic::AtomicUsize::from_ptr(place.address as *mut usize);
            place.store(value, std::sync::atomic::Ordering::Release);
        }
        !protected || set_writable(place.address, size_of::<usize>(), false)
    }
}

/// # Safety
/// `address` is that of a C string.
unsafe fn text(address: u64) -> String {
    // SAFETY: as the caller states.
    let text = unsafe { CStr::from_ptr(address as *const std::ffi::c_char) };
    text.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn library_at(address: usize) -> Option<Library> {
        libraries().into_iter().find(|it| it.contains(address))
    }

    #[test]
    fn finds_the_library_of_an_address() {
        let own = library_at(finds_the_library_of_an_address as *const () as usize).unwrap();
        assert!(
            own.needed().iter().any(|it| it.starts_with("libc.so")),
            "{:?}",
            own.needed()
        );
        let local = 0;
        assert!(!own.contains((&raw const local) as usize));
    }

    #[test]
    fn finds_the_place_of_an_imported_function() {
        let own =
            library_at(finds_the_place_of_an_imported_function as *const () as usize).unwrap();
        let places = own.places(|name| name == "dl_iterate_phdr");
        assert!(!places.is_empty());
        for place in places {
            // SAFETY: the place is one of this program's, and holds an address.
            let stored = unsafe { (place.address as *const usize).read() };
            assert!(own.store(&place, stored));
        }
    }
}
