//! The file of this process: records without a header, which the command joins.

use super::format::{Record, size_text};
use super::plugin_report;
use crate::runtime::interpose;
use crate::runtime::report;
use crate::runtime::settings::settings;
use crate::runtime::system;
use crate::runtime::tables::tables;
use std::ffi::CString;
use std::sync::{Mutex, PoisonError};

const CLOSED: i32 = -1;

struct File {
    descriptor: i32,
    records: u64,
    size: u64,
}

static FILE: Mutex<Option<File>> = Mutex::new(None);

/// Appends a record. One with which the file would be larger than the limit ends the capture.
pub fn write(record: &Record) {
    let mut file = FILE.lock().unwrap_or_else(PoisonError::into_inner);
    let file = file.get_or_insert_with(File::create);
    if file.descriptor == CLOSED {
        return;
    }
    let bytes = record.to_bytes();
    let limit = settings().capture_limit;
    match limit.filter(|it| file.size + bytes.len() as u64 > *it) {
        None => file.append(&bytes),
        Some(limit) => {
            file.end(Some(limit));
            let limit = size_text(limit);
            report::line(&format!(
                "the capture has reached its limit of {limit}: later calls are not captured (--capture-limit)"
            ));
        }
    }
}

/// Returns true if the capture has ended.
pub fn is_ended() -> bool {
    let file = FILE.lock().unwrap_or_else(PoisonError::into_inner);
    file.as_ref().is_some_and(|it| it.descriptor == CLOSED)
}

/// Writes the last record, if there are others.
pub fn end() {
    let mut file = FILE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(file) = file.as_mut().filter(|it| it.descriptor != CLOSED) {
        file.end(None);
    }
}

impl File {
    fn create() -> Self {
        let process = system::process_id();
        let path = settings().capture.as_deref().unwrap_or_default();
        let path = CString::new(format!("{path}.{process}")).unwrap_or_default();
        let mut file = Self {
            descriptor: system::open_append(&path),
            records: 0,
            size: 0,
        };
        let (release, plugin) = (tables().release.into(), interpose::first_plugin());
        file.append(&Record::Process(process as u32, release, plugin).to_bytes());
        file
    }

    fn append(&mut self, bytes: &[u8]) {
        system::write_all(self.descriptor, bytes);
        self.records += 1;
        self.size += bytes.len() as u64;
    }

    fn end(&mut self, limit: Option<u64>) {
        self.append(&Record::Report(plugin_report::read()).to_bytes());
        if let Some(limit) = limit {
            self.append(&Record::Cut(limit).to_bytes());
        }
        let count = self.records;
        self.append(&Record::End(count).to_bytes());
        // A thread that still runs writes nothing behind it.
        system::close(std::mem::replace(&mut self.descriptor, CLOSED));
    }
}
