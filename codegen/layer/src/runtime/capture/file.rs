//! The file of this process: records without a header, which the command joins.

use super::format::Record;
use crate::runtime::interpose;
use crate::runtime::settings::settings;
use crate::runtime::system;
use crate::runtime::tables::tables;
use std::ffi::CString;
use std::sync::{Mutex, PoisonError};

const CLOSED: i32 = -1;

struct File {
    descriptor: i32,
    records: u64,
}

static FILE: Mutex<Option<File>> = Mutex::new(None);

/// Appends a record.
pub fn write(record: &Record) {
    let mut file = FILE.lock().unwrap_or_else(PoisonError::into_inner);
    file.get_or_insert_with(File::create).append(record);
}

/// Writes the last record, if there are others.
pub fn end() {
    let mut file = FILE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(file) = file.as_mut() {
        let count = file.records;
        file.append(&Record::End(count));
        // A thread that still runs writes nothing behind it.
        system::close(std::mem::replace(&mut file.descriptor, CLOSED));
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
        };
        let (release, plugin) = (tables().release.into(), interpose::first_plugin());
        file.append(&Record::Process(process as u32, release, plugin));
        file
    }

    fn append(&mut self, record: &Record) {
        system::write_all(self.descriptor, &record.to_bytes());
        self.records += 1;
    }
}
