//! Captures as files: those of all processes joined in one, and its records.

use crate::runtime::capture::format::{FormatError, Record, Records, header};
use miette::Diagnostic;
use sp_system::errors;
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use thiserror::Error;

errors! {
    /// A capture cannot be read or written.
    #[derive(Debug, Error, Diagnostic)]
    pub enum CaptureError in capture {
        /// The file cannot be read.
        Unreadable { path: PathBuf, source: io::Error } = unreadable: ("cannot read {}: {source}", path.display());

        /// The file is something else.
        NoCapture(PathBuf) = no_capture: ("{} is no capture", .0.display()),
            help("`sp-gen layer --capture FILE -- python train.py` writes one");

        /// The file has another version of the format.
        Version { path: PathBuf, version: u32 }
            = version: ("{} is a capture of format {version}, and this sp-gen reads formats 1 to {}", path.display(), crate::runtime::capture::format::VERSION),
            help("read it with the sp-gen that wrote it, or capture again");

        /// The file is not complete.
        Truncated { path: PathBuf, records: u64 }
            = truncated: ("{} is truncated: it ends after {records} complete records", path.display()),
            help("copy it again, or capture again: the end is written when the program has ended");

        /// The file was changed.
        Damaged { path: PathBuf, records: u64 }
            = damaged: ("{} is damaged: the record after the first {records} is not valid", path.display()),
            help("copy it again, or capture again");

        /// The file cannot be written.
        Unwritable { path: PathBuf, source: io::Error } = unwritable: ("cannot write {}: {source}", path.display());
    }
}

impl CaptureError {
    fn new(path: &Path, error: FormatError) -> Self {
        let path = path.to_owned();
        match error {
            FormatError::Unreadable(source) => Self::Unreadable { path, source },
            FormatError::NoCapture => Self::NoCapture(path),
            FormatError::Version(version) => Self::Version { path, version },
            FormatError::Truncated(records) => Self::Truncated { path, records },
            FormatError::Damaged(records) => Self::Damaged { path, records },
        }
    }
}

/// The records of a file.
#[derive(Debug)]
pub struct CaptureReader {
    path: PathBuf,
    records: Records<BufReader<File>>,
}

impl CaptureReader {
    /// Opens a capture.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or if it does not begin as a capture.
    pub fn open(path: &Path) -> Result<Self, CaptureError> {
        let file = open(path)?;
        let records = Records::new(file).map_err(|error| CaptureError::new(path, error))?;
        let path = path.to_owned();
        Ok(Self { path, records })
    }

    /// Returns the next record and its bytes, or `None` after the last one.
    ///
    /// # Errors
    /// Returns an error if the file is not complete, or damaged.
    pub fn next_record(&mut self) -> Result<Option<(Record, Vec<u8>)>, CaptureError> {
        let next = self.records.next_record();
        next.map_err(|error| CaptureError::new(&self.path, error))
    }
}

fn open(path: &Path) -> Result<BufReader<File>, CaptureError> {
    let unreadable = |source| CaptureError::Unreadable {
        path: path.to_owned(),
        source,
    };
    let metadata = path.metadata().map_err(unreadable)?;
    // A pipe without a writer would wait for one.
    if !metadata.is_file() && !metadata.is_dir() {
        return Err(CaptureError::NoCapture(path.to_owned()));
    }
    let file = File::open(path).map_err(unreadable)?;
    Ok(BufReader::new(file))
}

/// Writes a capture.
#[derive(Debug)]
pub struct CaptureWriter {
    path: PathBuf,
    file: BufWriter<File>,
    count: u64,
}

impl CaptureWriter {
    /// Creates the file.
    ///
    /// # Errors
    /// Returns an error if it exists, or cannot be written.
    pub fn create(path: &Path) -> Result<Self, CaptureError> {
        let file = File::create_new(path);
        let file = file.map_err(|source| CaptureError::Unwritable {
            path: path.to_owned(),
            source,
        });
        Self::new(path, file?)
    }

    /// Begins a capture in an empty file, whose path is for messages.
    ///
    /// # Errors
    /// Returns an error if it cannot be written.
    pub fn new(path: &Path, file: File) -> Result<Self, CaptureError> {
        let mut writer = Self {
            path: path.to_owned(),
            file: BufWriter::new(file),
            count: 0,
        };
        let written = writer.file.write_all(&header());
        written.map_err(|source| writer.unwritable(source))?;
        Ok(writer)
    }

    /// Appends a record that was read from another capture.
    ///
    /// # Errors
    /// Returns an error if it cannot be written.
    pub fn append(&mut self, record: &[u8]) -> Result<(), CaptureError> {
        self.count += 1;
        let written = self.file.write_all(record);
        written.map_err(|source| self.unwritable(source))
    }

    /// Writes the last record.
    ///
    /// # Errors
    /// Returns an error if it cannot be written.
    pub fn end(mut self) -> Result<(), CaptureError> {
        let end = Record::End(self.count).to_bytes();
        let written = self.file.write_all(&end).and_then(|()| self.file.flush());
        written.map_err(|source| self.unwritable(source))
    }

    fn unwritable(&self, source: io::Error) -> CaptureError {
        let path = self.path.clone();
        CaptureError::Unwritable { path, source }
    }
}

/// The number of calls in a joined capture, and of processes that did not end by themselves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct JoinedCapture {
    /// Calls of kernels.
    pub calls: u64,
    /// Calls of which nothing was captured.
    pub omitted: u64,
    /// Processes whose last records may be missing.
    pub cut: u64,
    /// The limit in bytes at which the capture of a process has ended.
    pub limit: Option<u64>,
}

/// Joins the files of `folder`, one of each process, in the empty file `output`, whose path is for messages.
///
/// # Errors
/// Returns an error if a file cannot be read or written.
pub fn join(folder: &Path, path: &Path, output: File) -> Result<JoinedCapture, CaptureError> {
    let mut joined = JoinedCapture::default();
    let mut writer = CaptureWriter::new(path, output)?;
    for path in files(folder)? {
        let mut records = Records::without_header(open(&path)?);
        loop {
            match records.next_record() {
                Ok(Some((record, bytes))) => {
                    joined.count(&record);
                    writer.append(&bytes)?;
                }
                Ok(None) => break,
                // The process was killed while it wrote.
                Err(FormatError::Truncated(_) | FormatError::Damaged(_)) => {
                    joined.cut += 1;
                    break;
                }
                Err(error) => return Err(CaptureError::new(&path, error)),
            }
        }
    }
    writer.end()?;
    Ok(joined)
}

impl JoinedCapture {
    fn count(&mut self, record: &Record) {
        match record {
            Record::Computed(call) => {
                self.calls += 1;
                self.omitted += u64::from(!call.omitted.is_empty());
            }
            Record::Cut(limit) => self.limit = Some(*limit),
            _ => {}
        }
    }
}

fn files(folder: &Path) -> Result<Vec<PathBuf>, CaptureError> {
    let unreadable = |source| CaptureError::Unreadable {
        path: folder.to_owned(),
        source,
    };
    let entries = fs::read_dir(folder).map_err(unreadable)?;
    let paths = entries.map(|entry| Ok(entry?.path()));
    let mut paths: Vec<PathBuf> = paths.collect::<io::Result<_>>().map_err(unreadable)?;
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_pipes_and_devices_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        for path in [&pipe, Path::new("/dev/zero")] {
            let opened = CaptureReader::open(path);
            assert!(matches!(opened, Err(CaptureError::NoCapture(_))));
        }
    }

    #[test]
    fn joins_processes_and_reports_one_that_was_killed() {
        let folder = tempfile::tempdir().unwrap();
        let parts = folder.path().join("parts");
        fs::create_dir(&parts).unwrap();
        let process = Record::Process(1, "2.21".into(), "libx.so".into()).to_bytes();
        let whole = [&process[..], &Record::End(1).to_bytes()].concat();
        fs::write(parts.join("process.1"), whole).unwrap();
        fs::write(
            parts.join("process.2"),
            [&process[..], &process[..9]].concat(),
        )
        .unwrap();
        let output = folder.path().join("capture");
        let file = File::create(&output).unwrap();
        assert_eq!(join(&parts, &output, file).unwrap().cut, 1);
        let mut reader = CaptureReader::open(&output).unwrap();
        let mut count = 0;
        while reader.next_record().unwrap().is_some() {
            count += 1;
        }
        assert_eq!(count, 2);
    }
}
