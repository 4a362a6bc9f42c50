//! The format of a capture: what the layer writes and `sp-gen replay` reads.
//!
//! All numbers are little-endian. A file is a header and records:
//!
//! | part | bytes |
//! |---|---|
//! | magic | the 8 bytes `SPGENCAP` |
//! | version | `u32`, [`VERSION`]; version 1 has no [`Record::Report`] and no [`Record::Cut`] |
//! | record | kind `u32`, length of the payload `u64`, payload, checksum `u64` (FNV-1a of kind, length and payload) |
//!
//! The last record is [`Record::End`] with the number of records before it, and nothing follows. In a payload a text and
//! a list are a `u32` with the length and the elements, bytes a `u64` and the bytes, an optional value a `u8` 0 or 1 and
//! the value. The fields of a record are in the order of its Rust type.
//!
//! Kinds of records are 0 end, 1 process, 2 registered, 3 created, 4 computed, 5 deleted, 6 report, 7 cut. The content of a tensor
//! is a `u8`, 0 unread, 1 bytes, 2 strings, 3 a resource, and then these.

use super::payload::{Payload, Source};
pub use super::records::{Computed, Content, Created, Registered, Tensor, VariableUse};
use std::io::{self, Read};

/// The first bytes of a file.
pub const MAGIC: &[u8; 8] = b"SPGENCAP";
/// The version of the format.
pub const VERSION: u32 = 2;

/// Size of a record's kind and length.
const HEAD: usize = 12;
const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0100_0000_01b3;

/// A record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Record {
    /// The end, with the number of records before it.
    End(u64),
    /// A process begins: its number, the release of TensorFlow, the plugin.
    Process(u32, String, String),
    /// A kernel was registered.
    Registered(Registered),
    /// A kernel was created.
    Created(Created),
    /// A kernel has computed.
    Computed(Computed),
    /// A kernel was deleted.
    Deleted(u64),
    /// The plugin's own report of its called kernels, a line for each, when the capture of the process ends; empty if it has none.
    Report(String),
    /// The capture of the process ends at this limit in bytes, before the process.
    Cut(u64),
}

/// Returns a number of bytes as text, in the largest unit of which it is a multiple: `4 GiB`.
pub fn size_text(bytes: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB"), (0, "bytes")];
    let mut units = units.into_iter();
    let unit = units.find(|(shift, _)| bytes > 0 && bytes.trailing_zeros() >= *shift);
    let (shift, name) = unit.unwrap_or((0, "bytes"));
    format!("{} {name}", bytes >> shift)
}

/// Returns the bytes before the first record.
pub fn header() -> Vec<u8> {
    [&MAGIC[..], &VERSION.to_le_bytes()].concat()
}

impl Record {
    fn kind(&self) -> u32 {
        match self {
            Self::End(_) => 0,
            Self::Process(..) => 1,
            Self::Registered(_) => 2,
            Self::Created(_) => 3,
            Self::Computed(_) => 4,
            Self::Deleted(_) => 5,
            Self::Report(_) => 6,
            Self::Cut(_) => 7,
        }
    }

    /// Returns the record's bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut payload = Payload::default();
        match self {
            Self::End(number) | Self::Deleted(number) | Self::Cut(number) => {
                payload.number(*number);
            }
            Self::Report(text) => payload.text(text),
            Self::Process(process, release, plugin) => {
                payload.small(*process);
                payload.text(release);
                payload.text(plugin);
            }
            Self::Registered(it) => payload.registered(it),
            Self::Created(it) => payload.created(it),
            Self::Computed(it) => payload.computed(it),
        }
        frame(self.kind(), &payload.bytes)
    }

    /// Returns the record of a kind with this payload, or `None` if the payload is not one.
    fn parse(kind: u32, payload: &[u8]) -> Option<Self> {
        let mut source = Source(payload);
        let record = match kind {
            0 => Self::End(source.number()?),
            1 => Self::Process(source.small()?, source.text()?, source.text()?),
            2 => Self::Registered(source.registered()?),
            3 => Self::Created(source.created()?),
            4 => Self::Computed(source.computed()?),
            5 => Self::Deleted(source.number()?),
            6 => Self::Report(source.text()?),
            7 => Self::Cut(source.number()?),
            _ => return None,
        };
        source.0.is_empty().then_some(record)
    }
}

/// Returns a record of this payload, with its kind, length and checksum.
pub fn frame(kind: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEAD + payload.len() + 8);
    bytes.extend(kind.to_le_bytes());
    bytes.extend((payload.len() as u64).to_le_bytes());
    bytes.extend(payload);
    let checksum = checksum(&bytes);
    bytes.extend(checksum.to_le_bytes());
    bytes
}

fn checksum(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(FNV_PRIME);
    bytes.iter().fold(FNV_OFFSET, step)
}

/// The reason why a file is no capture.
#[derive(Debug)]
pub enum FormatError {
    /// It cannot be read.
    Unreadable(io::Error),
    /// It does not begin as a capture.
    NoCapture,
    /// Its version is another one.
    Version(u32),
    /// It ends before its last record, after this many complete ones.
    Truncated(u64),
    /// A record after this many is damaged.
    Damaged(u64),
}

/// Reads the records of a file.
#[derive(Debug)]
pub struct Records<R> {
    file: R,
    count: u64,
    is_at_end: bool,
}

impl<R: Read> Records<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// Returns an error if the file is no capture, or one of another version.
    pub fn new(mut file: R) -> Result<Self, FormatError> {
        let start = read_up_to(&mut file, MAGIC.len() + 4)?;
        let (magic, version) = start.split_at(MAGIC.len().min(start.len()));
        let version: Result<[u8; 4], _> = version.try_into();
        match version.map(u32::from_le_bytes) {
            _ if magic != MAGIC => Err(FormatError::NoCapture),
            Ok(1..=VERSION) => Ok(Self {
                file,
                count: 0,
                is_at_end: false,
            }),
            Ok(version) => Err(FormatError::Version(version)),
            Err(_) => Err(FormatError::Truncated(0)),
        }
    }

    /// Reads records without a header, as a process of the layer writes them.
    pub fn without_header(file: R) -> Self {
        let (count, is_at_end) = (0, false);
        Self {
            file,
            count,
            is_at_end,
        }
    }

    /// Returns the next record and its bytes, or `None` after the last one.
    ///
    /// # Errors
    /// Returns an error if the file ends within a record, or if one is damaged.
    pub fn next_record(&mut self) -> Result<Option<(Record, Vec<u8>)>, FormatError> {
        if self.is_at_end {
            return match read_up_to(&mut self.file, 1)?.is_empty() {
                true => Ok(None),
                false => Err(FormatError::Damaged(self.count)),
            };
        }
        let (kind, bytes) = self.read_frame()?;
        let payload = &bytes[HEAD..bytes.len() - 8];
        let record = Record::parse(kind, payload).ok_or(FormatError::Damaged(self.count))?;
        if let Record::End(count) = record {
            if count != self.count {
                return Err(FormatError::Damaged(self.count));
            }
            self.is_at_end = true;
            return self.next_record();
        }
        self.count += 1;
        Ok(Some((record, bytes)))
    }

    fn read_frame(&mut self) -> Result<(u32, Vec<u8>), FormatError> {
        let truncated = || FormatError::Truncated(self.count);
        let mut bytes = read_up_to(&mut self.file, HEAD)?;
        let head: [u8; HEAD] = bytes[..].try_into().map_err(|_| truncated())?;
        let kind = u32::from_le_bytes([head[0], head[1], head[2], head[3]]);
        let length = head[4..].iter().rev();
        let length = length.fold(0_u64, |value, byte| value << 8 | u64::from(*byte));
        let rest = length
            .checked_add(8)
            .and_then(|it| usize::try_from(it).ok());
        let rest = rest.ok_or(FormatError::Damaged(self.count))?;
        bytes.extend(read_up_to(&mut self.file, rest)?);
        if bytes.len() - HEAD != rest {
            return Err(truncated());
        }
        let (record, sum) = bytes.split_at(bytes.len() - 8);
        match checksum(record).to_le_bytes() == sum {
            true => Ok((kind, bytes)),
            false => Err(FormatError::Damaged(self.count)),
        }
    }
}

/// Reads `count` bytes, or fewer at the end of the file. No more memory is used than the file has bytes.
fn read_up_to(file: &mut impl Read, count: usize) -> Result<Vec<u8>, FormatError> {
    let mut bytes = Vec::new();
    let mut limited = file.take(count as u64);
    limited
        .read_to_end(&mut bytes)
        .map_err(FormatError::Unreadable)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(content: Content) -> Tensor {
        Tensor {
            dtype: 1,
            dims: vec![2, -1],
            is_on_device: true,
            content,
        }
    }

    fn records() -> Vec<Record> {
        let call = Computed {
            number: 3,
            kernel: 7,
            thread: 9,
            op: "AddV2".into(),
            node: "sum".into(),
            duration: 5,
            inputs: vec![
                tensor(Content::Bytes(vec![1, 2, 3])),
                tensor(Content::Strings(vec![b"a".to_vec(), vec![]])),
                tensor(Content::Resource(b"handle".to_vec())),
            ],
            output_types: vec![1],
            outputs: vec![None, Some(tensor(Content::Unread))],
            variables: vec![VariableUse {
                input: 2,
                before: None,
                after: Some(tensor(Content::Bytes(vec![]))),
            }],
            failure: Some((3, "shapes".into())),
            omitted: String::new(),
        };
        let registered = Registered {
            op: "AddV2".into(),
            device: "TEST".into(),
            constraints: vec![("T".into(), 1)],
            host_memory: vec!["axis".into()],
        };
        let created = Created {
            kernel: 7,
            op: "AddV2".into(),
            node: "sum".into(),
            node_def: vec![10, 3],
        };
        vec![
            Record::Process(12, "2.21".into(), "/lib/libx.so".into()),
            Record::Registered(registered),
            Record::Created(created),
            Record::Computed(call),
            Record::Deleted(7),
            Record::Report("AddV2 T=TF_FLOAT calls=1".into()),
            Record::Cut(4096),
        ]
    }

    fn file() -> Vec<u8> {
        let records = records();
        let end = Record::End(records.len() as u64);
        let bytes = records.iter().chain([&end]).map(Record::to_bytes);
        [header()].into_iter().chain(bytes).flatten().collect()
    }

    fn read(bytes: &[u8]) -> Result<Vec<Record>, FormatError> {
        let mut records = Records::new(bytes)?;
        let mut found = Vec::new();
        while let Some((record, _)) = records.next_record()? {
            found.push(record);
        }
        Ok(found)
    }

    #[test]
    fn records_are_read_as_they_were_written() {
        assert_eq!(read(&file()).unwrap(), records());
    }

    #[test]
    fn size_has_the_largest_unit_that_divides_it() {
        let sizes = [0, 1, 1000, 1 << 12, 3 << 29, 4 << 30].map(size_text);
        let expected = [
            "0 bytes",
            "1 bytes",
            "1000 bytes",
            "4 KiB",
            "1536 MiB",
            "4 GiB",
        ];
        assert_eq!(sizes, expected);
    }

    #[test]
    fn rejects_file_that_ends_anywhere() {
        let file = file();
        for length in 0..file.len() {
            assert!(read(&file[..length]).is_err(), "{length}");
        }
        let end = read(&file[..file.len() - 30]);
        assert!(matches!(end, Err(FormatError::Truncated(6))), "{end:?}");
    }

    #[test]
    fn rejects_any_changed_byte_and_bytes_after_the_end() {
        let file = file();
        for index in 0..file.len() {
            let mut changed = file.clone();
            changed[index] ^= 0x41;
            assert!(read(&changed).is_err(), "{index}");
        }
        let longer = [&file[..], &[0]].concat();
        assert!(matches!(read(&longer), Err(FormatError::Damaged(7))));
        for (version, is_read) in [(0, false), (1, true), (2, true), (9, false)] {
            let mut other = file.clone();
            other[8] = version;
            assert_eq!(read(&other).is_ok(), is_read, "{version}");
        }
    }
}
