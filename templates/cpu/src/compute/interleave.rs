//! Short rows split to columns, and joined again. The length of a row is a constant, so that the compiler loads and stores
//! whole vectors.

/// The longest row.
pub const LONGEST: usize = 4;

/// Copies the elements of rows to columns, which have an element for each row.
///
/// # Panics
/// Panics if a column has another length than there are rows.
#[inline(always)]
pub fn split<const N: usize, T: Copy>(rows: &[T], columns: [&mut [T]; N]) {
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

/// Copies the elements of columns to rows: the inverse of [`split`].
///
/// # Panics
/// Panics if a column is shorter than there are rows.
#[inline(always)]
pub fn join<const N: usize, T: Copy>(columns: [&[T]; N], rows: &mut [T]) {
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

/// Calls a function with the length of a row as a constant: `by_len!(len, N => f::<N>(..))`.
macro_rules! by_len {
    ($len:expr, $n:ident => $call:expr) => {
        match $len {
            1 => {
                const $n: usize = 1;
                $call
            }
            2 => {
                const $n: usize = 2;
                $call
            }
            3 => {
                const $n: usize = 3;
                $call
            }
            4 => {
                const $n: usize = 4;
                $call
            }
            len => panic!("a row of {len} elements"),
        }
    };
}
pub(crate) use by_len;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_split_and_joined() {
        for len in 1..=LONGEST {
            for count in [0, 1, 7, 33, 130] {
                let rows: Vec<usize> = (0..len * count).collect();
                let mut columns = vec![vec![usize::MAX; count]; len];
                by_len!(len, N => {
                    let columns = columns.first_chunk_mut::<N>().unwrap();
                    split(&rows, columns.each_mut().map(|it| &mut it[..]));
                });
                for (j, column) in columns.iter().enumerate() {
                    let expected: Vec<_> = (0..count).map(|i| i * len + j).collect();
                    assert_eq!(*column, expected);
                }
                let mut joined = vec![usize::MAX; rows.len()];
                by_len!(len, N => {
                    let columns = columns.first_chunk::<N>().unwrap();
                    join(columns.each_ref().map(|it| &it[..]), &mut joined);
                });
                assert_eq!(joined, rows);
            }
        }
    }
}
