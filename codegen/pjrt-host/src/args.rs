//! A struct of arguments, whose fields are found by their names.
//!
//! Invariant: the memory has [`MARGIN`] bytes after the struct, which no plugin may write to.

use sp_ir::Api;

use crate::layout::{self, Place};
use sp_host::child_checks::Stop;

/// Bytes after a struct that must not change.
const MARGIN: usize = 64;

/// The byte with which they are filled.
const FILL: u8 = 0xa5;

/// A struct that the host passes to the plugin.
#[derive(Debug, Clone)]
pub(crate) struct Args<'a> {
    api: &'a Api,
    name: String,
    words: Vec<u64>,
    size: usize,
    inputs: Vec<(String, u64)>,
}

impl<'a> Args<'a> {
    /// Returns the struct `name` with zeroes and its `struct_size`.
    ///
    /// # Errors
    /// Returns a skip if the host's header has no such struct.
    pub fn new(api: &'a Api, name: &str) -> Result<Self, Stop> {
        let unknown = || Stop::Skip(format!("this host's header has no {name}"));
        let (size, padded) = layout::sizes(api, name).ok_or_else(unknown)?;
        let mut args = Self {
            api,
            name: name.to_owned(),
            words: vec![0; (padded + MARGIN).div_ceil(8)],
            size: padded,
            inputs: vec![],
        };
        args.fill_from(padded);
        if layout::place(api, name, "struct_size").is_some() {
            args.store("struct_size", size as u64)?;
        }
        Ok(args)
    }

    /// Returns a copy with another `struct_size`. Neither a byte after it nor one after the fields that the host knows may be written.
    pub fn with_size(mut self, size: usize) -> Result<Self, Stop> {
        let len = self.size.max(size);
        self.words.resize((len + MARGIN).div_ceil(8), 0);
        self.store("struct_size", size as u64)?;
        self.size = self.size.min(size);
        self.fill_from(self.size);
        Ok(self)
    }

    /// Sets an input, which the plugin may not change.
    pub fn set(mut self, path: &str, value: u64) -> Result<Self, Stop> {
        self.store(path, value)?;
        self.inputs.push((path.to_owned(), value));
        Ok(self)
    }

    /// Sets a field that the plugin may change.
    pub fn set_inout(mut self, path: &str, value: u64) -> Result<Self, Stop> {
        self.store(path, value)?;
        Ok(self)
    }

    /// Returns the value of a field, without a sign. A field that ends after the struct is 0.
    ///
    /// # Errors
    /// Returns a skip if the host's header has no such field.
    pub fn get(&self, path: &str) -> Result<u64, Stop> {
        let place = self.place(path)?;
        Ok(self.load(place))
    }

    /// Returns the value of a field of 32 bits.
    pub fn int(&self, path: &str) -> Result<i32, Stop> {
        Ok(self.get(path)? as u32 as i32)
    }

    /// Returns true unless the field is 0.
    pub fn flag(&self, path: &str) -> Result<bool, Stop> {
        match self.get(path)? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(Stop::Fail(format!(
                "{}.{path} is a bool with the value {other}",
                self.name
            ))),
        }
    }

    /// Returns a pointer that must not be null.
    pub fn pointer(&self, path: &str) -> Result<u64, Stop> {
        match self.get(path)? {
            0 => Err(Stop::Fail(format!("{}.{path} is null", self.name))),
            address => Ok(address),
        }
    }

    /// Returns the address of the struct.
    pub fn address(&mut self) -> u64 {
        self.words.as_mut_ptr() as u64
    }

    /// Checks that a call has changed neither an input nor the bytes after the struct.
    pub fn check_bounds(&self) -> Result<(), Stop> {
        let bytes = self.bytes();
        if let Some(at) = (self.size..bytes.len()).find(|at| bytes[*at] != FILL) {
            let name = &self.name;
            return Err(Stop::Fail(format!(
                "byte {at} of {name} was written, whose struct_size is {}",
                self.stored_size()
            )));
        }
        for (path, value) in &self.inputs {
            let place = self.place(path)?;
            let now = self.load(place);
            if now != mask(*value, place.size) {
                let name = &self.name;
                return Err(Stop::Fail(format!(
                    "the input {name}.{path} was changed from {value:#x} to {now:#x}"
                )));
            }
        }
        Ok(())
    }

    fn stored_size(&self) -> u64 {
        self.words.first().copied().unwrap_or(0)
    }

    fn place(&self, path: &str) -> Result<Place, Stop> {
        let name = &self.name;
        let unknown = || Stop::Skip(format!("this host's header has no {name}.{path}"));
        layout::place(self.api, name, path).ok_or_else(unknown)
    }

    fn store(&mut self, path: &str, value: u64) -> Result<(), Stop> {
        let place = self.place(path)?;
        for (at, byte) in value.to_le_bytes().into_iter().enumerate().take(place.size) {
            self.set_byte(place.offset + at, byte);
        }
        Ok(())
    }

    fn load(&self, place: Place) -> u64 {
        let bytes = self.bytes();
        let mut value = [0; 8];
        if place.offset + place.size <= self.size {
            let found = &bytes[place.offset..place.offset + place.size.min(8)];
            value[..found.len()].copy_from_slice(found);
        }
        u64::from_le_bytes(value)
    }

    fn fill_from(&mut self, start: usize) {
        for at in start..self.words.len() * 8 {
            self.set_byte(at, FILL);
        }
    }

    fn set_byte(&mut self, at: usize, byte: u8) {
        let mut word = self.words[at / 8].to_le_bytes();
        word[at % 8] = byte;
        self.words[at / 8] = u64::from_le_bytes(word);
    }

    fn bytes(&self) -> Vec<u8> {
        let words = self.words.iter();
        words.flat_map(|word| word.to_le_bytes()).collect()
    }
}

fn mask(value: u64, size: usize) -> u64 {
    match size {
        8.. => value,
        _ => value & ((1 << (8 * size)) - 1),
    }
}
