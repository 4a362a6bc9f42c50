//! Wheels as the source of an import, local or remote. Of a remote wheel only the parts that are read are transferred.
//!
//! A wheel that has a member outside of its root is rejected.

mod library;

use super::directory::{self, LimitedReader};
use super::download::{self, Download};
use super::error::FetchError;
use super::http::{Client, RemoteFile};
use super::link::WheelLink;
use super::range::{RangeReader, Transport};
use super::url::Url;
use sp_parse::source::SourceError;
use sp_parse::source::{
    Identity, MAX_HEADER_BYTES, MAX_TOTAL_HEADER_BYTES, Source, Traffic, is_safe_relative_path,
    parse_identity,
};
use sp_system::input::open_regular_file;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::path::Path;
use std::sync::Arc;
use zip::ZipArchive;
use zip::result::{ZipError, ZipResult};

pub use library::WheelLibrary;

/// An open wheel.
pub struct Wheel<R> {
    origin: String,
    archive: ZipArchive<LimitedReader<R>>,
    names: BTreeSet<String>,
    members: BTreeMap<String, usize>,
    /// The member of each header, at the top or below `NAME.data/purelib/`.
    headers: BTreeMap<String, usize>,
    remote: Option<RangeReader>,
    /// Bytes and requests of a wheel that was downloaded whole.
    downloaded: Option<Traffic>,
    /// Bytes of headers that may still be read.
    remaining: u64,
    /// Bytes of libraries that may still be decompressed.
    library_bytes: u64,
}

impl Wheel<BufReader<File>> {
    /// Opens a wheel file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or is not a wheel of TensorFlow.
    pub fn open(path: &Path) -> Result<Self, FetchError> {
        let origin = path.display().to_string();
        let file = open_regular_file(path).map_err(|error| read_error(&origin, &error))?;
        Self::read_directory(origin, BufReader::new(file), None)
    }

    /// Opens a wheel file that an index links to. If a sha256 is `stated`, compares it with that of a private copy, which
    /// is read: another program can change the file at any time.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or its sha256 differs.
    pub fn open_verified(path: &Path, stated: Option<&str>) -> Result<Self, FetchError> {
        let Some(stated) = stated else {
            return Self::open(path);
        };
        let origin = path.display().to_string();
        let copied = open_regular_file(path).and_then(download::copy_file);
        let (copy, found) = copied.map_err(|error| read_error(&origin, &error))?;
        match found == stated {
            true => Self::read_directory(origin, BufReader::new(copy), None),
            false => Err(FetchError::WheelHashMismatch {
                wheel: origin,
                stated: stated.to_owned(),
                found,
            }),
        }
    }
}

impl Wheel<File> {
    /// Opens a wheel that was downloaded whole.
    ///
    /// # Errors
    /// Returns an error if it is not a wheel of TensorFlow.
    pub fn from_download(link: &WheelLink, download: Download) -> Result<Self, FetchError> {
        let origin = link.url.rsplit('/').next().unwrap_or(&link.url);
        let mut wheel = Self::read_directory(origin.to_owned(), download.file, None)?;
        wheel.downloaded = Some(Traffic {
            bytes: download.length,
            requests: 1,
        });
        Ok(wheel)
    }
}

impl Wheel<RangeReader> {
    /// Opens a wheel on a server. Transfers its central directory.
    ///
    /// # Errors
    /// Returns an error if the server cannot be reached or the file is not a wheel of TensorFlow.
    pub fn open_remote(url: &str, client: Arc<Client>) -> Result<Self, FetchError> {
        let origin = url.rsplit('/').next().unwrap_or(url).to_owned();
        let Some(url) = Url::parse(url) else {
            let detail = "the index links to it with an invalid URL";
            return Err(FetchError::unreadable(origin, detail));
        };
        Self::from_transport(origin, RemoteFile::new(client, url))
    }

    /// Opens a wheel through `transport`; `origin` is for messages.
    ///
    /// # Errors
    /// Returns an error if the transport fails or the file is not a wheel of TensorFlow.
    pub fn from_transport(
        origin: String,
        transport: impl Transport + 'static,
    ) -> Result<Self, FetchError> {
        let opened = RangeReader::open(transport);
        let reader = opened.map_err(|error| FetchError::from_server(&origin, error))?;
        Self::read_directory(origin, reader.clone(), Some(reader))
    }
}

impl<R: Read + Seek> Wheel<R> {
    /// Opens a wheel in `reader`; `origin` is for messages.
    ///
    /// # Errors
    /// Returns an error if it is not a wheel of TensorFlow.
    pub fn from_reader(origin: &str, reader: R) -> Result<Self, FetchError> {
        Self::read_directory(origin.to_owned(), reader, None)
    }

    fn read_directory(
        origin: String,
        reader: R,
        remote: Option<RangeReader>,
    ) -> Result<Self, FetchError> {
        let archive = directory::open(reader).map_err(|error| unreadable(&origin, error))?;
        directory::check_overlap(&archive).map_err(|error| unreadable(&origin, error))?;
        let members = index_members(&origin, &archive)?;
        let headers = index_headers(&members);
        let names: BTreeSet<String> = headers.keys().cloned().collect();
        if !names.iter().any(|name| name.starts_with("tensorflow/c/")) {
            return Err(FetchError::from(SourceError::HeadersMissing(origin)));
        }
        Ok(Self {
            origin,
            archive,
            names,
            members,
            headers,
            remote,
            downloaded: None,
            remaining: MAX_TOTAL_HEADER_BYTES,
            library_bytes: library::MAX_DECOMPRESSED_BYTES,
        })
    }

    fn read_member(&mut self, index: usize) -> Result<Vec<u8>, FetchError> {
        let origin = &self.origin;
        let member = self.archive.by_index(index);
        let member = member.map_err(|error| unreadable(origin, error))?;
        let name = member.name().map(|name| name.escape_default().to_string());
        let limit = MAX_HEADER_BYTES.min(self.remaining);
        let mut bytes = Vec::new();
        let read = member.take(limit + 1).read_to_end(&mut bytes);
        read.map_err(|error| unreadable(origin, ZipError::Io(error)))?;
        if bytes.len() as u64 > limit {
            return Err(FetchError::from(SourceError::MemberTooLarge {
                origin: origin.clone(),
                member: name.unwrap_or_default(),
                limit,
            }));
        }
        self.remaining -= bytes.len() as u64;
        Ok(bytes)
    }

    fn read_dist_info(&mut self, file: &str) -> Result<String, FetchError> {
        let is_wanted = |name: &str| {
            name.split_once('/')
                .is_some_and(|(folder, rest)| folder.ends_with(".dist-info") && rest == file)
        };
        let found = self.members.iter().find(|(name, _)| is_wanted(name));
        let found = found.map(|(_, &index)| index);
        let bytes = found.map(|index| self.read_member(index)).transpose()?;
        Ok(String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned())
    }
}

impl<R: Read + Seek> Source for Wheel<R> {
    type Error = FetchError;

    fn origin(&self) -> String {
        self.origin.clone()
    }

    fn identity(&mut self) -> Result<Identity, FetchError> {
        let metadata = self.read_dist_info("METADATA")?;
        let wheel = self.read_dist_info("WHEEL")?;
        Ok(parse_identity(&metadata, &wheel))
    }

    fn names(&self) -> &BTreeSet<String> {
        &self.names
    }

    fn read(&mut self, name: &str) -> Result<Vec<u8>, FetchError> {
        let member = self.headers.get(name).copied();
        let index = member.ok_or_else(|| unreadable(&self.origin, ZipError::FileNotFound))?;
        self.read_member(index)
    }

    fn prefetch(&mut self, names: &[&str]) -> Result<(), FetchError> {
        let Some(remote) = &self.remote else {
            return Ok(());
        };
        let indices = names.iter().filter_map(|name| self.headers.get(*name));
        let ranges = indices.map(|&index| {
            self.archive.by_index_data(index).map(|member| {
                // The local file header before the data repeats the name and may have extra fields.
                let packed = member.compressed_size().saturating_add(1024);
                member.header_start()..member.header_start().saturating_add(packed)
            })
        });
        let ranges = ranges
            .collect::<ZipResult<Vec<_>>>()
            .map_err(|error| unreadable(&self.origin, error))?;
        remote
            .prefetch(ranges)
            .map_err(|error| FetchError::from_server(&self.origin, error))
    }

    fn traffic(&self) -> Traffic {
        let remote = self.remote.as_ref().map(RangeReader::transferred);
        remote.or(self.downloaded).unwrap_or_default()
    }
}

/// Returns the index of each member by name.
///
/// # Errors
/// Returns an error if a member's path is outside of the wheel's root.
fn index_members<R: Read + Seek>(
    origin: &str,
    archive: &ZipArchive<R>,
) -> Result<BTreeMap<String, usize>, FetchError> {
    let mut members = BTreeMap::new();
    for (index, name) in archive.file_names().enumerate() {
        let name = name.map_err(|error| unreadable(origin, error))?;
        if !is_safe_relative_path(name.strip_suffix('/').unwrap_or(&name)) {
            return Err(FetchError::MemberOutsideRoot {
                origin: origin.to_owned(),
                member: name.escape_default().to_string(),
            });
        }
        members.insert(name.into_owned(), index);
    }
    Ok(members)
}

/// Returns the index of each header's member. One at the top has precedence over one below `NAME.data/purelib/`.
fn index_headers(members: &BTreeMap<String, usize>) -> BTreeMap<String, usize> {
    let mut headers = BTreeMap::new();
    let is_at_top = |member: &str| member.starts_with(INCLUDE);
    for (member, &index) in members {
        if let Some(name) = header_name(member) {
            let entry = headers.entry(name.to_owned());
            let entry = entry.or_insert(index);
            if is_at_top(member) {
                *entry = index;
            }
        }
    }
    headers
}

/// The folder of the headers in a wheel.
const INCLUDE: &str = "tensorflow/include/";

/// Returns the header's name of a member: `tensorflow/c/ops.h` for
/// `[NAME.data/purelib/]tensorflow/include/tensorflow/c/ops.h`. Returns `None` for other members.
fn header_name(member: &str) -> Option<&str> {
    let data = member.split_once(".data/").map(|(_, rest)| rest);
    let unpacked = data.and_then(|rest| {
        rest.strip_prefix("purelib/")
            .or_else(|| rest.strip_prefix("platlib/"))
    });
    unpacked
        .unwrap_or(member)
        .strip_prefix(INCLUDE)
        .filter(|name| !name.is_empty() && !name.ends_with('/'))
}

fn unreadable(origin: &str, error: ZipError) -> FetchError {
    match error {
        ZipError::Io(error) => read_error(origin, &error),
        error => FetchError::unreadable(origin, error),
    }
}

fn read_error(origin: &str, error: &io::Error) -> FetchError {
    let server_error = error.get_ref().and_then(|inner| inner.downcast_ref());
    match server_error.cloned() {
        Some(error) => FetchError::from_server(origin, error),
        None => FetchError::unreadable(origin, error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::range::tests::serve;
    use sp_system::hash::sha256;
    use std::io::Cursor;
    use zip::write::SimpleFileOptions;

    fn zipped(members: &[(&str, &[u8])]) -> Vec<u8> {
        crate::malicious_wheels::zipped(members, false)
    }

    fn open(bytes: Vec<u8>) -> Result<Wheel<Cursor<Vec<u8>>>, FetchError> {
        Wheel::read_directory("x.whl".into(), Cursor::new(bytes), None)
    }

    #[test]
    fn rejects_wheel_member_outside_root() {
        let ops: (&str, &[u8]) = ("tensorflow/include/tensorflow/c/ops.h", b"x");
        for malicious in [
            "../x.h",
            "tensorflow/include/../../x.h",
            "/etc/x.h",
            "a\\..\\x.h",
        ] {
            let opened = open(zipped(&[ops, (malicious, b"x")]));
            assert!(
                matches!(opened, Err(FetchError::MemberOutsideRoot { .. })),
                "{malicious}"
            );
        }
        assert!(open(zipped(&[ops])).is_ok());
    }

    #[test]
    fn finds_headers_at_top_and_below_data_folder() {
        for prefix in ["", "tensorflow_cpu-2.5.3.data/purelib/"] {
            let member = format!("{prefix}tensorflow/include/tensorflow/c/ops.h");
            let mut wheel = open(zipped(&[(&member, b"text")])).unwrap();
            assert_eq!(wheel.read("tensorflow/c/ops.h").unwrap(), b"text");
        }
    }

    #[test]
    fn headers_below_data_folder_are_found_in_linear_time() {
        let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
        let name = |index: usize| format!("tensorflow/c/x{index}.h");
        for index in 0..40_000 {
            let member = format!("t.data/purelib/tensorflow/include/{}", name(index));
            let stored = SimpleFileOptions::default();
            let stored = stored.compression_method(zip::CompressionMethod::Stored);
            writer.start_file(member, stored).unwrap();
        }
        let mut wheel = open(writer.finish().unwrap().into_inner()).unwrap();
        let start = std::time::Instant::now();
        for index in 0..40_000 {
            assert_eq!(wheel.read(&name(index)).unwrap(), b"");
        }
        assert!(start.elapsed().as_secs() < 40, "{:?}", start.elapsed());
    }

    #[test]
    fn header_at_top_has_precedence_over_data_folder() {
        let data = "t.data/purelib/tensorflow/include/tensorflow/c/ops.h";
        let top = "tensorflow/include/tensorflow/c/ops.h";
        let last = "z.data/purelib/tensorflow/include/tensorflow/c/ops.h";
        let bytes = zipped(&[(data, b"data"), (top, b"top"), (last, b"last")]);
        assert_eq!(
            open(bytes).unwrap().read("tensorflow/c/ops.h").unwrap(),
            b"top"
        );
    }

    #[test]
    fn rejects_header_over_size_limit() {
        let large = vec![b'x'; MAX_HEADER_BYTES as usize + 1];
        let bytes = zipped(&[("tensorflow/include/tensorflow/c/ops.h", &large)]);
        let read = open(bytes).unwrap().read("tensorflow/c/ops.h");
        assert!(matches!(
            read,
            Err(FetchError::Source(SourceError::MemberTooLarge { .. }))
        ));
    }

    #[test]
    fn rejects_headers_over_total_size_limit() {
        let bytes = zipped(&[("tensorflow/include/tensorflow/c/ops.h", b"12345")]);
        let mut wheel = open(bytes).unwrap();
        wheel.remaining = 12;
        let mut read = || wheel.read("tensorflow/c/ops.h");
        assert!(read().is_ok() && read().is_ok());
        assert!(matches!(
            read(),
            Err(FetchError::Source(SourceError::MemberTooLarge { .. }))
        ));
    }

    #[test]
    fn compares_file_with_stated_hash() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("x.whl");
        let bytes = zipped(&[("tensorflow/include/tensorflow/c/ops.h", b"x")]);
        std::fs::write(&path, &bytes).unwrap();
        let digest = sha256(&bytes);
        let opened = |stated| Wheel::open_verified(&path, stated).map(drop);
        assert!(opened(None).is_ok() && opened(Some(&digest)).is_ok());
        let differs = opened(Some(&"00".repeat(32)));
        assert!(matches!(differs, Err(FetchError::WheelHashMismatch { .. })));
    }

    #[test]
    fn reads_bytes_whose_hash_was_compared() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("x.whl");
        let wheel = |text: &[u8]| zipped(&[("tensorflow/include/tensorflow/c/ops.h", text)]);
        std::fs::write(&path, wheel(b"good")).unwrap();
        let digest = sha256(wheel(b"good"));
        let mut opened = Wheel::open_verified(&path, Some(&digest)).unwrap();
        std::fs::write(&path, wheel(b"evil")).unwrap();
        assert_eq!(opened.read("tensorflow/c/ops.h").unwrap(), b"good");
    }

    #[test]
    fn rejects_path_that_is_not_a_file() {
        let opened = Wheel::open(Path::new("/dev/zero"));
        assert!(matches!(
            opened,
            Err(FetchError::Source(SourceError::Unreadable { .. }))
        ));
    }

    #[test]
    fn rejects_files_that_are_not_wheels_of_tensorflow() {
        assert!(matches!(
            open(b"not a zip".to_vec()),
            Err(FetchError::Source(SourceError::Unreadable { .. }))
        ));
        let other = zipped(&[("numpy/core.h", b"x")]);
        assert!(matches!(
            open(other),
            Err(FetchError::Source(SourceError::HeadersMissing(..)))
        ));
    }

    #[test]
    fn transfers_only_a_part_of_remote_wheel() {
        // Noise of a xorshift generator, which does not compress.
        let mut state = 88_172_645_463_325_252_u64;
        let mut noise = vec![0_u8; 3_000_000];
        for byte in &mut noise {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            *byte = state as u8;
        }
        let bytes = zipped(&[
            ("tensorflow/libtensorflow_cc.so.2", &noise),
            ("tensorflow/include/tensorflow/c/ops.h", b"text"),
            (
                "tensorflow_cpu-2.21.0.dist-info/METADATA",
                b"Name: tensorflow_cpu\nVersion: 2.21.0\n",
            ),
        ]);
        let length = bytes.len() as u64;
        let mut wheel = Wheel::from_transport("x.whl".into(), serve(bytes, true)).unwrap();
        wheel.prefetch(&["tensorflow/c/ops.h"]).unwrap();
        assert_eq!(wheel.read("tensorflow/c/ops.h").unwrap(), b"text");
        assert_eq!(wheel.identity().unwrap().version.as_deref(), Some("2.21.0"));
        assert!(
            wheel.traffic().bytes < length / 4,
            "{:?} of {length}",
            wheel.traffic()
        );
    }
}
