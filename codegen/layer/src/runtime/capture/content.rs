//! The elements of a tensor, from the memory of the host or of a device.

use super::device;
use super::format::{Content, Tensor};
use crate::runtime::core::View;

/// Numbers of `TF_DataType`.
const STRING: u32 = 7;
const RESOURCE: u32 = 20;
const VARIANT: u32 = 21;
/// Size of a `TF_TString`.
const STRING_SIZE: usize = 24;

/// The device of a running kernel, and a status for its slots.
#[derive(Debug, Clone, Copy)]
pub struct Reader {
    /// The `SP_Device`, or 0.
    pub device: u64,
    /// A live `TF_Status`.
    pub status: u64,
}

impl Reader {
    /// Returns the tensor with its elements.
    ///
    /// # Safety
    /// - The memory of `view` is readable, and no work on the device changes it.
    pub unsafe fn tensor(&self, view: &View) -> Tensor {
        let is_on_device = device::has(view.address, view.size);
        // SAFETY: as the caller guarantees.
        let content = unsafe { self.content(view, is_on_device) };
        Tensor {
            dtype: view.dtype,
            dims: view.dims.clone(),
            is_on_device,
            content: content.unwrap_or(Content::Unread),
        }
    }

    /// # Safety
    /// - As of [`Reader::tensor`].
    unsafe fn content(&self, view: &View, is_on_device: bool) -> Option<Content> {
        let View { address, size, .. } = *view;
        // SAFETY: as the caller guarantees; the kind of the memory was found by its address.
        unsafe {
            match view.dtype {
                RESOURCE => Some(Content::Resource(Vec::new())),
                VARIANT => None,
                STRING if is_on_device => None,
                _ if size == 0 => Some(Content::Bytes(Vec::new())),
                STRING => strings(address, size as usize).map(Content::Strings),
                _ if is_on_device => {
                    device::read(self.device, address, size, self.status).map(Content::Bytes)
                }
                _ if address == 0 => None,
                _ => {
                    let bytes = std::slice::from_raw_parts(address as *const u8, size as usize);
                    Some(Content::Bytes(bytes.to_vec()))
                }
            }
        }
    }
}

/// Returns the strings in `size` bytes at `address`.
///
/// # Safety
/// - The memory is readable and has whole `TF_TString` objects, whose texts are readable.
unsafe fn strings(address: u64, size: usize) -> Option<Vec<Vec<u8>>> {
    let count = size / STRING_SIZE;
    (0..count)
        // SAFETY: the object is within the memory.
        .map(|index| unsafe { string((address as *const u8).add(index * STRING_SIZE)) })
        .collect()
}

/// Returns the text of a `TF_TString`.
///
/// # Safety
/// - The object is readable, and so is its text.
unsafe fn string(object: *const u8) -> Option<Vec<u8>> {
    // SAFETY: the object has 24 bytes.
    let bytes = unsafe { object.cast::<[u8; STRING_SIZE]>().read() };
    let word = |index: usize| {
        bytes
            .as_chunks::<8>()
            .0
            .get(index)
            .map(|it| u64::from_le_bytes(*it))
    };
    let length = (word(0)? >> 2) as usize;
    let (start, length) = match bytes[0] & 3 {
        0 => (object.wrapping_add(1), usize::from(bytes[0] >> 2)),
        1 => (word(2)? as *const u8, length),
        2 => {
            let head = word(0)?;
            let offset = (head >> 32) as usize;
            (object.wrapping_add(offset), (head as u32 >> 2) as usize)
        }
        _ => (word(1)? as *const u8, length),
    };
    if length == 0 {
        return Some(Vec::new());
    }
    // SAFETY: as the caller guarantees, `length` bytes are readable there.
    Some(unsafe { std::slice::from_raw_parts(start, length) }.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_small_large_and_viewed_strings() {
        let long = b"a text that is too long for a small string";
        let address = long.as_ptr() as u64;
        let length = long.len() as u64;
        let mut small = [0_u8; STRING_SIZE];
        small[..4].copy_from_slice(&[3 << 2, b'a', b'b', b'c']);
        let words = |words: [u64; 3]| words.map(u64::to_le_bytes).concat();
        let memory = [
            small.to_vec(),
            words([length << 2 | 1, length, address]),
            words([length << 2 | 3, address, 0]),
        ]
        .concat();
        // SAFETY: the memory has three strings, and their texts are above.
        let found = unsafe { strings(memory.as_ptr() as u64, memory.len()) };
        assert_eq!(
            found.unwrap(),
            [b"abc".to_vec(), long.to_vec(), long.to_vec()]
        );
    }
}
