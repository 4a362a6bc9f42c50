//! Gather and scatter, compared with the oracle over random shapes.

use super::*;
use crate::compute::rows::{Indices, Selection, Updates};
use crate::compute::{Error, arith, oracle};

/// Returns batch dims, the number of rows, dims of a row, dims of the selection, and random numbers.
fn case() -> impl Strategy<Value = ([Vec<usize>; 3], usize, Vec<u32>)> {
    let small = || vec(1..4_usize, 0..3);
    let dims = [small(), small(), small()];
    (dims, 1..6_usize, vec(any::<u32>(), 2000))
}

proptest! {
    #[test]
    fn gathered_rows_match_oracle(([batch, selected, row], rows, random) in case()) {
        let dims = [&batch[..], &[rows], &row].concat();
        let index_dims = [&batch[..], &selected].concat();
        let table: Vec<i64> = (0..len(&dims) as i64).collect();
        let indices: Vec<i32> = random[..len(&index_dims)].iter().map(|it| (it % rows as u32) as i32).collect();
        let selection = Selection::new(&dims, &index_dims, batch.len()).unwrap();
        let mut out = vec![-1; len(selection.dims())];
        selection.gather(&table, Indices::Int32(&indices), &mut out).unwrap();
        let expected = oracle::gather(&table, (&batch, rows, &row), &indices);
        prop_assert_eq!(selection.dims(), &[&index_dims[..], &row].concat()[..]);
        prop_assert_eq!(out, expected);
    }

    #[test]
    fn scattered_rows_match_oracle(([_, selected, row], rows, random) in case()) {
        let dims = [&[rows], &row[..]].concat();
        let before: Vec<i64> = (0..len(&dims) as i64).collect();
        let indices: Vec<i64> = random[..len(&selected)].iter().map(|it| i64::from(it % rows as u32)).collect();
        let selection = Selection::new(&dims, &selected, 0).unwrap();
        let updates: Vec<i64> = random[..len(selection.dims())].iter().map(|it| i64::from(*it)).collect();
        for updates in [Updates::Rows(&updates[..]), Updates::One(7)] {
            let new = |at: usize| match updates { Updates::Rows(rows) => rows[at], Updates::One(one) => one };
            // A difference shows the order of repeated indices.
            let f = |old: i64, new: i64| new.wrapping_sub(old);
            let mut table = before.clone();
            selection.scatter(&mut table, Indices::Int64(&indices), updates, f).unwrap();
            prop_assert_eq!(&table, &oracle::scatter(&before, len(&row), &indices, new, f));
        }
    }
}

#[test]
fn rejects_index_out_of_range_and_changes_nothing() {
    let selection = Selection::new(&[3, 2], &[2, 2], 0).unwrap();
    let mut table = [1, 2, 3, 4, 5, 6];
    for index in [3, -1, i64::MAX, i64::MIN] {
        let indices = [0, 1, index, 0];
        let indices = Indices::Int64(&indices);
        let error = selection.scatter(&mut table, indices, Updates::One(9), arith::add);
        let expected = Error::IndexOutOfRange {
            at: [1, 0].to_vec(),
            index,
            rows: 3,
        };
        assert_eq!(error.unwrap_err(), expected);
    }
    assert_eq!(table, [1, 2, 3, 4, 5, 6]);
}

#[test]
fn empty_selections_have_no_elements() {
    let selection = Selection::new(&[0, 4], &[0], 0).unwrap();
    assert_eq!(selection.dims(), [0, 4]);
    selection
        .gather::<f32>(&[], Indices::Int32(&[]), &mut [])
        .unwrap();
    let selection = Selection::new(&[3, 0], &[2], 0).unwrap();
    selection
        .gather::<f32>(&[], Indices::Int32(&[0, 2]), &mut [])
        .unwrap();
    let indices = Indices::Int32(&[0, 3]);
    assert!(selection.gather::<f32>(&[], indices, &mut []).is_err());
}

#[test]
fn rejects_scalar_table_and_unequal_batches() {
    assert!(matches!(
        Selection::new(&[], &[2], 0),
        Err(Error::TooFewDims { .. })
    ));
    assert!(matches!(
        Selection::new(&[2, 3], &[3], 1),
        Err(Error::Incompatible(..))
    ));
    assert!(matches!(
        Selection::new(&[2], &[2], 1),
        Err(Error::TooFewDims { .. })
    ));
}
