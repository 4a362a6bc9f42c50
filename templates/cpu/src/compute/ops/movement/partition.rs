//! Rows of tensors divided among several tensors, and joined from several.

use crate::compute::machine::error::{Error, Result};
use sp_plugin::allocation;

/// Returns the number of rows of each part.
///
/// # Errors
/// Returns an error if a row belongs to no part.
pub fn count_rows(parts: &[i32], count: usize) -> Result<Vec<usize>> {
    let mut rows = allocation::filled(0, count);
    for (row, part) in parts.iter().enumerate() {
        let counted = usize::try_from(*part).ok().and_then(|it| rows.get_mut(it));
        *counted.ok_or_else(|| {
            Error::Invalid(format!("partitions[{row}] = {part} is not in [0, {count})"))
        })? += 1;
    }
    Ok(rows)
}

/// Copies the rows of `width` bytes that belong to a part, in order.
///
/// # Panics
/// Panics if a slice has another length than its rows.
pub fn copy_part<B: Copy>(parts: &[i32], part: usize, width: usize, source: &[B], out: &mut [B]) {
    let is_in_part = |it: &i32| usize::try_from(*it) == Ok(part);
    let rows = (0..parts.len()).filter(|row| is_in_part(&parts[*row]));
    if out.is_empty() {
        return;
    }
    for (row, out) in rows.zip(out.chunks_exact_mut(width)) {
        out.copy_from_slice(&source[row * width..][..width]);
    }
}

/// Returns the number of rows of the tensor whose rows these indices name.
///
/// # Errors
/// Returns an error if an index is negative.
pub fn stitched_rows<'a>(lists: impl Iterator<Item = &'a [i32]>) -> Result<usize> {
    let mut rows = 0;
    for index in lists.flatten() {
        let Ok(index) = usize::try_from(*index) else {
            return Err(Error::Invalid(format!("indices {index} is out of range")));
        };
        rows = rows.max(index + 1);
    }
    Ok(rows)
}

/// Copies each row of `width` bytes to the row of `out` that its index names.
///
/// # Panics
/// Panics if `out` has no such row, or the source has not a row for each index.
pub fn stitch<B: Copy>(indices: &[i32], width: usize, source: &[B], out: &mut [B]) {
    if source.is_empty() {
        return;
    }
    for (index, row) in indices.iter().zip(source.chunks_exact(width)) {
        out[*index as usize * width..][..width].copy_from_slice(row);
    }
}
