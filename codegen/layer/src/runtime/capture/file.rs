//! The file of this process: records without a header, which the command joins.

use super::format::{Record, size_text};
use super::plugin_report;
use crate::runtime::interpose;
use crate::runtime::report;
use crate::runtime::settings::settings;
use crate::runtime::system;
use crate::runtime::tables::tables;
use std::ffi::CString;
use std::sync::{Mutex, MutexGuard, PoisonError};

const CLOSED: i32 = -1;

struct File {
    descriptor: i32,
    records: u64,
    size: u64,
    /// A record was not written. Those after it may need it.
    is_full: bool,
}

static FILE: Mutex<Option<File>> = Mutex::new(None);

/// Appends a record. One with which the file would be larger than the limit ends the capture.
pub fn write(record: &Record) {
    let bytes = record.to_bytes();
    let reached = lock().get_or_insert_with(File::create).add(&bytes);
    if let Some(limit) = reached {
        end();
        let limit = size_text(limit);
        report::line(&format!(
            "the capture has reached its limit of {limit}: later calls are not captured (--capture-limit)"
        ));
    }
}

fn lock() -> MutexGuard<'static, Option<File>> {
    FILE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns true if the capture has ended.
pub fn is_ended() -> bool {
    lock().as_ref().is_some_and(File::is_ended)
}

/// Writes the last record, if there are others.
pub fn end() {
    let is_open = |it: &File| it.descriptor != CLOSED;
    if !lock().as_ref().is_some_and(is_open) {
        return;
    }
    // Without the lock: the report needs the loader's, and a thread that has that one, since it loads a plugin, may wait for this one.
    let report = plugin_report::read();
    if let Some(file) = lock().as_mut().filter(|it| is_open(it)) {
        file.end(report);
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
            is_full: false,
        };
        let (release, plugin) = (tables().release.into(), interpose::first_plugin());
        file.append(&Record::Process(process as u32, release, plugin).to_bytes());
        file
    }

    fn is_ended(&self) -> bool {
        self.is_full || self.descriptor == CLOSED
    }

    /// Appends a record, unless the capture has ended. Returns the limit if the record reaches it, the first time.
    fn add(&mut self, bytes: &[u8]) -> Option<u64> {
        if self.is_ended() {
            return None;
        }
        let limit = settings().capture_limit;
        let reached = limit.filter(|it| self.size + bytes.len() as u64 > *it);
        self.is_full = reached.is_some();
        if !self.is_full {
            self.append(bytes);
        }
        reached
    }

    fn append(&mut self, bytes: &[u8]) {
        system::write_all(self.descriptor, bytes);
        self.records += 1;
        self.size += bytes.len() as u64;
    }

    fn end(&mut self, report: String) {
        self.append(&Record::Report(report).to_bytes());
        if let Some(limit) = settings().capture_limit.filter(|_| self.is_full) {
            self.append(&Record::Cut(limit).to_bytes());
        }
        let count = self.records;
        self.append(&Record::End(count).to_bytes());
        // A thread that still runs writes nothing behind it.
        system::close(std::mem::replace(&mut self.descriptor, CLOSED));
    }
}
