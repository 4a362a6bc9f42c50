//! Columns from short rows, and rows from columns. The length of a row is a constant, so that the compiler loads and stores
//! whole vectors.
//!
//! A loop over a row of up to 4 elements has more overhead than work; a whole vector is shuffled instead.

/// The longest row.
pub const MAX_ROW_LEN: usize = 4;

/// Calls a function with the length of a row as a constant: `by_row_len!(len, N => f::<N>(..))`.
///
/// # Panics
/// Panics if a row is longer than [`MAX_ROW_LEN`], or has no elements.
macro_rules! by_row_len {
    ($len:expr, $n:ident => $call:expr) => {
        $crate::compute::machine::constant::by_constant!($len, $n in 1 2 3 4 => $call)
    };
}
pub(crate) use by_row_len;

/// Copies the elements of rows to columns, which have an element for each row.
///
/// # Panics
/// Panics if `rows` ends with a part of a row, or a column has fewer elements than there are rows.
#[inline(always)]
pub fn deinterleave<const N: usize, T: Copy>(rows: &[T], columns: [&mut [T]; N]) {
    let (rows, rest) = rows.as_chunks::<N>();
    assert!(rest.is_empty(), "part of a row of {N} elements");
    // Slices of one length, so that no access is checked in the loop.
    let columns = columns.map(
        #[inline(always)]
        |it| &mut it[..rows.len()],
    );
    for (i, row) in rows.iter().enumerate() {
        for j in 0..N {
            columns[j][i] = row[j];
        }
    }
}

/// Copies the elements of columns to rows: the inverse of [`deinterleave`].
///
/// # Panics
/// Panics if `rows` ends with a part of a row, or a column has fewer elements than there are rows.
#[inline(always)]
pub fn interleave<const N: usize, T: Copy>(columns: [&[T]; N], rows: &mut [T]) {
    let (rows, rest) = rows.as_chunks_mut::<N>();
    assert!(rest.is_empty(), "part of a row of {N} elements");
    let columns = columns.map(
        #[inline(always)]
        |it| &it[..rows.len()],
    );
    for (i, row) in rows.iter_mut().enumerate() {
        for j in 0..N {
            row[j] = columns[j][i];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_the_elements_of_rows() {
        for len in 1..=MAX_ROW_LEN {
            for count in [0, 1, 7, 33, 130] {
                let rows: Vec<usize> = (0..len * count).collect();
                let mut columns = vec![vec![usize::MAX; count]; len];
                by_row_len!(len, N => {
                    let columns = columns.first_chunk_mut::<N>().unwrap();
                    deinterleave(&rows, columns.each_mut().map(|it| &mut it[..]));
                });
                for (j, column) in columns.iter().enumerate() {
                    let expected: Vec<_> = (0..count).map(|i| i * len + j).collect();
                    assert_eq!(*column, expected);
                }
                let mut joined = vec![usize::MAX; rows.len()];
                by_row_len!(len, N => {
                    let columns = columns.first_chunk::<N>().unwrap();
                    interleave(columns.each_ref().map(|it| &it[..]), &mut joined);
                });
                assert_eq!(joined, rows);
            }
        }
    }
}
