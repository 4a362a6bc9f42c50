//! Tests of malicious wheels: each is rejected or read as far as it is valid, without a panic and without allocating
//! memory for stated sizes.

use super::error::FetchError;
use super::symbols;
use super::wheel::Wheel;
use sp_parse::source::Source;
use sp_parse::source::SourceError;
use std::io::{Cursor, Write};
use zip::write::SimpleFileOptions;

const OPS: &str = "tensorflow/include/tensorflow/c/ops.h";
const CC: &str = "tensorflow/libtensorflow_cc.so.2";

pub fn zipped(members: &[(&str, &[u8])], large: bool) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in members {
        let options = SimpleFileOptions::default().large_file(large);
        writer.start_file(*name, options).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn open(bytes: Vec<u8>) -> Result<Wheel<Cursor<Vec<u8>>>, FetchError> {
    Wheel::from_reader("x.whl", Cursor::new(bytes))
}

/// Reads everything that an import reads.
fn read_all(bytes: Vec<u8>) -> Result<(), FetchError> {
    let mut wheel = open(bytes)?;
    wheel.identity()?;
    for name in wheel.names().clone() {
        wheel.read(&name)?;
    }
    for member in wheel.libraries()? {
        symbols::exports(&mut wheel.library(&member)?)?;
    }
    Ok(())
}

/// Returns the offset of the last member's entry in the central directory.
fn last_entry_offset(bytes: &[u8]) -> usize {
    let heads = bytes.windows(4).enumerate();
    let entries = heads.filter(|(_, head)| *head == b"PK\x01\x02");
    entries.map(|(offset, _)| offset).max().unwrap()
}

fn valid_wheel() -> Vec<u8> {
    zipped(&[(OPS, b"int x;"), (CC, &[0x7f; 300])], false)
}

#[test]
fn reads_duplicate_member_once() {
    let mut bytes = zipped(
        &[(OPS, b"one"), (&OPS.replace("ops", "spo"), b"two")],
        false,
    );
    let duplicate = OPS.replace("ops", "spo").into_bytes();
    while let Some(at) = bytes
        .windows(duplicate.len())
        .position(|part| part == duplicate)
    {
        bytes[at..at + duplicate.len()].copy_from_slice(OPS.as_bytes());
    }
    let Ok(mut wheel) = open(bytes) else { return };
    assert_eq!(wheel.names().len(), 1);
    let text = wheel.read("tensorflow/c/ops.h").unwrap();
    assert!(text == b"one" || text == b"two");
}

#[test]
fn rejects_members_that_share_their_data() {
    let name = |index: usize| format!("tensorflow/libtensorflow_{index}.so");
    let (first, second) = (name(1), name(2));
    let members: [(&str, &[u8]); 3] = [(OPS, b"x"), (&first, b"data"), (&second, b"data")];
    let mut bytes = zipped(&members, false);
    assert!(open(bytes.clone()).is_ok());
    let last = last_entry_offset(&bytes);
    let before = last_entry_offset(&bytes[..last]);
    let offset = 42..46;
    bytes.copy_within(
        before + offset.start..before + offset.end,
        last + offset.start,
    );
    let error = open(bytes).err().unwrap().to_string();
    assert!(error.contains("two of its members overlap"), "{error}");
}

#[test]
fn allocates_no_memory_for_stated_sizes() {
    for (at, stated) in [(24, u32::MAX - 1), (20, u32::MAX - 1)] {
        let mut bytes = valid_wheel();
        let start = last_entry_offset(&bytes) + at;
        bytes[start..start + 4].copy_from_slice(&stated.to_le_bytes());
        assert!(read_all(bytes).is_err(), "{at}");
    }
}

#[test]
fn rejects_library_over_size_limit() {
    let mut bytes = valid_wheel();
    let size = last_entry_offset(&bytes) + 24;
    bytes[size..size + 4].copy_from_slice(&(u32::MAX - 1).to_le_bytes());
    let read = read_all(bytes);
    assert!(
        matches!(
            read,
            Err(FetchError::Source(SourceError::MemberTooLarge { .. }))
        ),
        "{read:?}"
    );
}

/// An archive whose zip64 directory states `members` at `offset`.
fn zip64(members: u64, offset: u64) -> Vec<u8> {
    let mut bytes = valid_wheel();
    bytes.truncate(bytes.len() - 22);
    let end = bytes.len() as u64;
    bytes.extend(b"PK\x06\x06");
    for number in [44_u64, 0x2d_002d, members, members, members * 46, offset] {
        bytes.extend(number.to_le_bytes());
        if number == 0x2d_002d {
            bytes.truncate(bytes.len() - 4);
            bytes.extend([0; 8]);
        }
    }
    bytes.extend(b"PK\x06\x07\0\0\0\0");
    bytes.extend(end.to_le_bytes());
    bytes.extend([1, 0, 0, 0]);
    bytes.extend(b"PK\x05\x06\0\0\0\0");
    bytes.extend([0xff; 12]);
    bytes.extend([0; 2]);
    bytes
}

#[test]
fn rejects_zip64_directories_that_state_millions_of_members() {
    let start = |bytes: &[u8]| bytes.windows(4).position(|head| head == b"PK\x01\x02");
    let offset = start(&valid_wheel()).unwrap() as u64;
    assert!(read_all(zip64(2, offset)).is_err_and(|error| !error.to_string().contains("members")));
    for members in [1 << 20, 1 << 26, u64::MAX / 46] {
        let read = read_all(zip64(members, 1 << 40)).unwrap_err().to_string();
        assert!(read.contains("states too many members"), "{read}");
    }
}

#[test]
fn rejects_zip64_directory_away_from_its_locator() {
    let mut bytes = zip64(2, 0);
    let locator = bytes.len() - 22 - 20;
    bytes[locator + 8] -= 1;
    let read = read_all(bytes).unwrap_err().to_string();
    assert!(read.contains("not at its end"), "{read}");
}

#[test]
fn rejects_truncated_wheels() {
    let bytes = valid_wheel();
    let start = bytes.windows(4).position(|head| head == b"PK\x01\x02");
    let start = start.unwrap();
    for length in 0..bytes.len() {
        let cut = read_all(bytes[..length].to_vec());
        assert!(cut.is_err(), "{length} of {}", bytes.len());
    }
    let mut truncated = bytes[..start].to_vec();
    truncated.extend(&bytes[bytes.len() - 22..]);
    assert!(read_all(truncated).is_err());
}

#[test]
fn reads_zip64_like_zip() {
    let bytes = zipped(&[(OPS, b"int x;")], true);
    let mut wheel = open(bytes.clone()).unwrap();
    assert_eq!(wheel.read("tensorflow/c/ops.h").unwrap(), b"int x;");
    for length in 0..bytes.len() {
        assert!(read_all(bytes[..length].to_vec()).is_err(), "{length}");
    }
}

#[test]
fn does_not_panic_on_changed_bytes() {
    for large in [false, true] {
        let library = sp_library::sample::elf_library(&["TF_A", "TF_B"], true, 16);
        let bytes = zipped(&[(OPS, b"int x;"), (CC, &library)], large);
        for at in 0..bytes.len() {
            for value in [0, 0x7f, 0xff] {
                let mut changed = bytes.clone();
                changed[at] = value;
                // The result does not matter; it must neither panic nor hang.
                let _ = read_all(changed);
            }
        }
    }
}
