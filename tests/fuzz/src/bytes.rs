//! Edits of a sample of a binary format: most inputs are valid but for a few bytes.

/// Bytes of an edit.
const EDIT: usize = 5;

/// Returns `sample` after `edits`, five bytes each: a position in two bytes, an action, a byte and a count.
pub fn edited(sample: &[u8], edits: &[u8]) -> Vec<u8> {
    let mut bytes = sample.to_vec();
    for edit in edits.as_chunks::<EDIT>().0 {
        let [low, high, action, byte, count] = *edit;
        let start = usize::from(u16::from_le_bytes([low, high])) % (bytes.len() + 1);
        let end = (start + usize::from(count)).min(bytes.len());
        match action % 4 {
            0 => bytes[start..end]
                .iter_mut()
                .take(1)
                .for_each(|it| *it = byte),
            1 => drop(bytes.splice(start..start, vec![byte; usize::from(count)])),
            2 => drop(bytes.drain(start..end)),
            _ => bytes.extend_from_within(start..end),
        }
    }
    bytes
}
