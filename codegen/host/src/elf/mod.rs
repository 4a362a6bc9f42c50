//! Writes a shared object: one exported trampoline for each function, and one writable table of addresses. The
//! loader needs program headers only, so there are no sections.
//!
//! Invariant: symbol `i` jumps through `TABLE[i]`; the stubs of unimplemented functions jump
//! through `TABLE[n]` with the export's number and the status argument, if any, as arguments.

mod code;
mod dynamic;
mod hash;
mod version;

pub(crate) use code::Machine;

/// The exported name of the writable table.
pub(crate) const TABLE: &str = "sp_host_table";

const HEADER: usize = 64;
const PROGRAM_HEADER: usize = 56;
const WORD: usize = 8;

/// One function that the object exports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Export {
    /// Its symbol.
    pub symbol: String,
    /// The integer argument register of its `TF_Status*`, if it has one.
    pub status: Option<u8>,
}

/// A symbol version. If `in_base` is true, the exports have the base version all the same.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Version {
    pub name: &'static str,
    pub in_base: bool,
}

/// The description of a shared object.
#[derive(Debug)]
pub(crate) struct SharedObject<'a> {
    pub machine: Machine,
    pub soname: &'a str,
    pub needed: &'a [&'a str],
    /// The version that the library defines, if it has versions.
    pub version: Option<Version>,
    pub exports: &'a [Export],
    /// The number of its first export, among those of all objects.
    pub first: u32,
}

/// The bytes of the object, and the offsets of its stubs.
#[derive(Debug)]
pub(crate) struct Image {
    pub bytes: Vec<u8>,
    /// For each export, the stub's address minus the table's.
    pub stubs: Vec<i64>,
}

/// Offsets of the three loadable segments. File offset and address are the same number.
struct SegmentOffsets {
    text: usize,
    data: usize,
    table: usize,
    end: usize,
}

impl SharedObject<'_> {
    /// Returns the encoded object.
    pub fn image(&self) -> Image {
        let page = self.machine.page();
        let tables = dynamic::DynamicTables::new(self);
        let text = (HEADER + 5 * PROGRAM_HEADER + tables.len()).next_multiple_of(page);
        let text_len = self.exports.len() * (self.machine.jump_len() + self.machine.stub_len());
        let data = (text + text_len).next_multiple_of(page);
        let table = data + self.dynamic_len();
        let end = table + (self.exports.len() + 1) * WORD;
        self.write(
            &SegmentOffsets {
                text,
                data,
                table,
                end,
            },
            tables,
        )
    }

    /// The dynamic section: one entry per needed library, three for versions, six others, one terminator.
    fn dynamic_len(&self) -> usize {
        let versions = if self.version.is_some() { 3 } else { 0 };
        (self.needed.len() + versions + 7) * 2 * WORD
    }

    fn stub_at(&self, plan: &SegmentOffsets, index: usize) -> usize {
        plan.text + self.exports.len() * self.machine.jump_len() + index * self.machine.stub_len()
    }

    fn write(&self, plan: &SegmentOffsets, tables: dynamic::DynamicTables) -> Image {
        let mut bytes = vec![0; plan.end];
        let start = HEADER + 5 * PROGRAM_HEADER;
        put(&mut bytes, 0, &self.header());
        put(&mut bytes, HEADER, &self.program_headers(plan));
        let placed = tables.place(start, plan, self);
        put(&mut bytes, start, &placed.bytes);
        put(&mut bytes, plan.data, &placed.dynamic);
        self.write_code(&mut bytes, plan);
        let stubs = (0..self.exports.len())
            .map(|index| self.stub_at(plan, index) as i64 - plan.table as i64)
            .collect();
        Image { bytes, stubs }
    }

    fn write_code(&self, bytes: &mut [u8], plan: &SegmentOffsets) {
        let missing = plan.table + self.exports.len() * WORD;
        for (index, export) in self.exports.iter().enumerate() {
            let at = plan.text + index * self.machine.jump_len();
            put(bytes, at, &self.machine.jump(at, plan.table + index * WORD));
            let at = self.stub_at(plan, index);
            put(
                bytes,
                at,
                &self
                    .machine
                    .stub(at, missing, self.first + index as u32, export.status),
            );
        }
    }

    fn header(&self) -> Vec<u8> {
        let mut out = vec![0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        for half in [3, self.machine.number()] {
            out.extend(half.to_le_bytes());
        }
        out.extend(1u32.to_le_bytes());
        for word in [0, HEADER as u64, 0] {
            out.extend(word.to_le_bytes());
        }
        out.extend(0u32.to_le_bytes());
        for half in [HEADER as u16, PROGRAM_HEADER as u16, 5, 64, 0, 0] {
            out.extend(half.to_le_bytes());
        }
        out
    }

    fn program_headers(&self, plan: &SegmentOffsets) -> Vec<u8> {
        const LOAD: u32 = 1;
        const DYNAMIC: u32 = 2;
        const GNU_STACK: u32 = 0x6474_e551;
        let page = self.machine.page();
        let dynamic = plan.data + self.dynamic_len();
        let mut out = Vec::new();
        for (kind, flags, from, to, align) in [
            (LOAD, 4, 0, plan.text, page),
            (LOAD, 5, plan.text, plan.data, page),
            (LOAD, 6, plan.data, plan.end, page),
            (DYNAMIC, 6, plan.data, dynamic, WORD),
            (GNU_STACK, 6, 0, 0, 16),
        ] {
            out.extend(kind.to_le_bytes());
            out.extend(u32::to_le_bytes(flags));
            let size = to - from;
            for word in [from, from, from, size, size, align] {
                out.extend((word as u64).to_le_bytes());
            }
        }
        out
    }
}

fn put(bytes: &mut [u8], at: usize, part: &[u8]) {
    bytes[at..at + part.len()].copy_from_slice(part);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(machine: Machine) -> Image {
        let exports =
            [("one", None), ("two", Some(1)), ("three", Some(5))].map(|(symbol, status)| Export {
                symbol: symbol.into(),
                status,
            });
        SharedObject {
            machine,
            soname: "libdemo.so.1",
            needed: &["libother.so.2"],
            version: Some(Version {
                name: "DEMO_1.0",
                in_base: false,
            }),
            exports: &exports,
            first: 0,
        }
        .image()
    }

    #[test]
    fn header_has_type_and_machine() {
        for (machine, number) in [(Machine::X86_64, 62), (Machine::Aarch64, 183)] {
            let bytes = image(machine).bytes;
            assert_eq!(&bytes[..4], b"\x7fELF");
            assert_eq!(bytes[16], 3);
            assert_eq!(bytes[18], number);
        }
    }

    #[test]
    fn loadable_segments_are_page_aligned_and_disjoint() {
        for machine in [Machine::X86_64, Machine::Aarch64] {
            let bytes = image(machine).bytes;
            let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
            let mut end = 0;
            for part in 0..3 {
                let at = HEADER + part * PROGRAM_HEADER;
                let (offset, size) = (word(at + 8), word(at + 32));
                assert_eq!(offset as usize % machine.page(), 0);
                assert!(offset >= end);
                end = offset + size;
            }
            assert_eq!(end as usize, bytes.len());
        }
    }

    #[test]
    fn string_table_contains_names() {
        let bytes = image(Machine::X86_64).bytes;
        for name in [
            "one",
            "two",
            "three",
            TABLE,
            "libdemo.so.1",
            "libother.so.2",
            "DEMO_1.0",
        ] {
            let wanted = [name.as_bytes(), b"\0"].concat();
            assert!(
                bytes.windows(wanted.len()).any(|found| found == wanted),
                "{name}"
            );
        }
    }
}
