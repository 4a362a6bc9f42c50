//! Blocks, diagonals, rolled and reversed axes, and rows divided among tensors, compared with plain loops.

use super::*;
use crate::compute::movement::depth::Depth;
use crate::compute::movement::diagonal::{Diagonals, Side, band, matrix_dims};
use crate::compute::movement::partition::{copy_part, count_rows, stitch, stitched_rows};
use crate::compute::movement::rotate::{Sequences, roll};
use crate::compute::movement::space::{Blocks, Plan};
use crate::compute::movement::{View, copy};
use crate::compute::oracle::{coordinates, operand_index};

/// Compares a computation on the elements `1..=count` with those that are expected, 0 for padding.
fn assert_writes(count: usize, expected: &[usize], run: impl Fn(usize, &[u8], &mut [u8])) {
    for width in [1, 2, 4, 8, 16] {
        let element = |number: usize| (number as u128).to_le_bytes().into_iter().take(width);
        let bytes =
            |numbers: &[usize]| -> Vec<u8> { numbers.iter().flat_map(|it| element(*it)).collect() };
        let mut out = vec![0xee; expected.len() * width];
        run(width, &bytes(&(1..=count).collect::<Vec<_>>()), &mut out);
        assert_eq!(out, bytes(expected), "width {width}");
    }
}

const ZERO: [u8; 16] = [0; 16];

/// Returns the number of an element, from 1 on, or 0 if it is outside of the tensor.
fn number(dims: &[usize], at: &[Option<usize>]) -> usize {
    let inside = at
        .iter()
        .zip(dims)
        .map(|(at, dim)| at.filter(|it| it < dim));
    inside
        .collect::<Option<Vec<_>>>()
        .map_or(0, |at| operand_index(dims, &at) + 1)
}

/// Returns for each element of the result the number of the source's element at the coordinates that `of` returns.
fn numbers(
    dims: &[usize],
    result: &[usize],
    of: impl Fn(&[usize]) -> Vec<Option<usize>>,
) -> Vec<usize> {
    coordinates(result)
        .iter()
        .map(|at| number(dims, &of(at)))
        .collect()
}

/// Returns the position in each block of a batch of `batch` elements, and the element.
fn position_in_blocks(sizes: &[usize], batch: usize, at: usize) -> (Vec<usize>, usize) {
    let mut block = at / batch;
    let mut position = vec![0; sizes.len()];
    for (position, size) in position.iter_mut().zip(sizes).rev() {
        *position = block % size;
        block /= size;
    }
    (position, at % batch)
}

/// Returns the dims of a tensor, and for up to 3 axes after the batch the size of blocks, elements before and after.
fn blocks() -> impl Strategy<Value = (Vec<usize>, Vec<[usize; 3]>)> {
    let axis = (1..4_usize, 1..4_usize, 0..4_usize, 0..5_usize);
    (1..4_usize, vec(axis, 0..4), vec(1..4_usize, 0..3)).prop_map(|(batch, axes, rest)| {
        let axes = axes.into_iter().map(|(blocks, size, before, after)| {
            let padded = (blocks * size).max(before + 1);
            let after = (padded + after).next_multiple_of(size) - padded;
            let whole = (padded + after).next_multiple_of(size);
            // The rest of the axis is padding behind it.
            (
                [whole - before - after.min(whole - before - 1), 0],
                [size, before, after.min(whole - before - 1)],
            )
        });
        let (dims, blocks): (Vec<_>, Vec<_>) = axes.unzip();
        let dims = dims.iter().map(|it| it[0]);
        (
            [batch].into_iter().chain(dims).chain(rest).collect(),
            blocks,
        )
    })
}

proptest! {
    #[test]
    fn blocks_move_to_the_batch_and_back((dims, axes) in blocks()) {
        let sizes: Vec<usize> = axes.iter().map(|it| it[0]).collect();
        let signed: Vec<i64> = sizes.iter().map(|it| *it as i64).collect();
        let borders: Vec<i64> = axes.iter().flat_map(|it| [it[1] as i64, it[2] as i64]).collect();
        let blocks = Blocks { sizes: &signed, borders: &borders };
        let plan = Plan::to_batch(&dims, blocks).unwrap();
        let moved = plan.dims().to_vec();
        let expected = numbers(&dims, &moved, |at| {
            let (position, batch) = position_in_blocks(&sizes, dims[0], at[0]);
            let source = |axis: usize| match axis {
                0 => Some(batch),
                _ => match axes.get(axis - 1) {
                    None => Some(at[axis]),
                    Some([size, before, _]) => (at[axis] * size + position[axis - 1]).checked_sub(*before),
                },
            };
            (0..at.len()).map(source).collect()
        });
        assert_writes(len(&dims), &expected, |width, source, out| plan.run(width, source, &ZERO[..width], out));
        // The other direction removes what was added.
        let back = Plan::from_batch(&moved, blocks).unwrap();
        prop_assert_eq!(back.dims(), &dims[..]);
        let expected = numbers(&moved, &dims, |at| {
            let mut block = 0;
            let mut source = vec![0; at.len()];
            source[..].copy_from_slice(at);
            for (axis, [size, before, _]) in (1..).zip(&axes) {
                let padded = at[axis] + before;
                block = block * size + padded % size;
                source[axis] = padded / size;
            }
            source[0] = block * dims[0] + at[0];
            source.into_iter().map(Some).collect()
        });
        assert_writes(len(&moved), &expected, |width, source, out| back.run(width, source, &ZERO[..width], out));
    }

    #[test]
    fn blocks_move_to_the_channels_and_back(
        [batch, height, width, channels] in [0..3_usize, 1..4, 1..4, 1..4], size in 2..4_usize, is_channels_first: bool
    ) {
        let order = |it: [usize; 4]| match is_channels_first {
            true => [it[0], it[3], it[1], it[2]],
            false => it,
        };
        let image = order([batch, height * size, width * size, channels]);
        let moved = order([batch, height, width, channels * size * size]);
        let depth = Depth { size, is_channels_first };
        let (view, result) = depth.from_space(&image).unwrap();
        prop_assert_eq!(&*result, &moved);
        let (h, w, c) = if is_channels_first { (2, 3, 1) } else { (1, 2, 3) };
        let expected = numbers(&image, &moved, |at| {
            let block = at[c] / channels;
            order([at[0], at[h] * size + block / size, at[w] * size + block % size, at[c] % channels]).map(Some).to_vec()
        });
        assert_writes(len(&image), &expected, |width, source, out| copy(&view, width, source, out));
        let (view, result) = depth.to_space(&moved).unwrap();
        prop_assert_eq!(&*result, &image);
        let expected = numbers(&moved, &image, |at| {
            let block = at[h] % size * size + at[w] % size;
            order([at[0], at[h] / size, at[w] / size, block * channels + at[c]]).map(Some).to_vec()
        });
        assert_writes(len(&moved), &expected, |width, source, out| copy(&view, width, source, out));
    }

    #[test]
    fn rolled_elements_match_oracle(dims in dims(), picks in vec(0..1000_usize, 5)) {
        let shifts: Vec<usize> = dims.iter().zip(&picks).map(|(dim, pick)| pick % dim.max(&1)).collect();
        let expected = numbers(&dims, &dims, |at| {
            (0..at.len()).map(|axis| Some((at[axis] + dims[axis] - shifts[axis]) % dims[axis])).collect()
        });
        assert_writes(len(&dims), &expected, |width, source, out| roll(&dims, &shifts, width, source, out));
    }

    #[test]
    fn reversed_sequences_match_oracle(shape in [0..3_usize, 1..5, 1..3, 1..5, 1..4], picks in vec(0..1000_usize, 5), is_batch_first: bool) {
        let (batch, seq) = if is_batch_first { (1, 3) } else { (3, 1) };
        let lengths: Vec<usize> = picks.iter().take(shape[batch]).map(|pick| pick % (shape[seq] + 1)).collect();
        let expected = numbers(&shape, &shape, |at| {
            let mut source = at.to_vec();
            let length = lengths[at[batch]];
            if at[seq] < length {
                source[seq] = length - 1 - at[seq];
            }
            source.into_iter().map(Some).collect()
        });
        assert_writes(len(&shape), &expected, |width, source, out| {
            let mut shape = shape;
            shape[4] *= width;
            Sequences { shape, is_batch_first }.reverse(&lengths, source, out);
        });
    }

    #[test]
    fn diagonals_match_oracle(
        batch in 0..3_usize, [rows, columns] in [1..5_usize, 1..5], picks in [0..1000_i64, 0..1000], sides in [any::<bool>(), any::<bool>()]
    ) {
        let diagonal = |pick: i64| pick % (rows + columns - 1) as i64 - (rows as i64 - 1);
        let (low, high) = (diagonal(picks[0]).min(diagonal(picks[1])), diagonal(picks[0]).max(diagonal(picks[1])));
        let side = |is_left: bool| if is_left { Side::Left } else { Side::Right };
        let plan = Diagonals::new([low, high], [rows, columns], sides.map(side)).check().unwrap();
        let matrix = [batch, rows, columns];
        let length = |d: i64| (0..rows as i64).filter(|row| (0..columns as i64).contains(&(row + d))).count();
        let longest = (low..=high).map(length).max().unwrap();
        prop_assert_eq!((plan.count(), plan.max_len()), ((high - low) as usize + 1, longest));
        let stored = [batch, plan.count(), longest];
        let expected = numbers(&matrix, &stored, |at| {
            let d = high - at[1] as i64;
            let is_left = if d < 0 { sides[1] } else { sides[0] };
            let skipped = if is_left { 0 } else { longest - length(d) };
            let on_diagonal = at[2].checked_sub(skipped).filter(|it| *it < length(d));
            let row = on_diagonal.map(|it| it + (-d).max(0) as usize);
            let column = on_diagonal.map(|it| it + d.max(0) as usize);
            vec![Some(at[0]), row, column]
        });
        assert_writes(len(&matrix), &expected, |width, source, out| plan.read(width, source, &ZERO[..width], out));
        let expected = numbers(&stored, &matrix, |at| {
            let d = at[2] as i64 - at[1] as i64;
            let is_left = if d < 0 { sides[1] } else { sides[0] };
            let skipped = if is_left { 0 } else { longest.saturating_sub(length(d)) };
            vec![Some(at[0]), usize::try_from(high - d).ok().filter(|_| d >= low), Some(skipped + at[1].min(at[2]))]
        });
        assert_writes(len(&stored), &expected, |width, source, out| {
            out.fill(0);
            plan.write(width, source, out);
        });
    }

    #[test]
    fn band_matches_oracle(dims in [0..3_usize, 0..5, 0..5], limits in [-1..5_i64, -1..5]) {
        let expected = numbers(&dims, &dims, |at| {
            let (row, column) = (at[1] as i64, at[2] as i64);
            let is_inside = (limits[0] < 0 || row - column <= limits[0]) && (limits[1] < 0 || column - row <= limits[1]);
            at.iter().map(|it| Some(*it).filter(|_| is_inside)).collect()
        });
        assert_writes(len(&dims), &expected, |width, source, out| band(&dims, limits, width, source, &ZERO[..width], out));
    }

    #[test]
    fn rows_of_parts_are_joined_again(parts in vec(0..3_i32, 0..20), row in 0..4_usize) {
        let rows = count_rows(&parts, 3).unwrap();
        let positions = |part: i32| (0..parts.len() as i32).filter(|row| parts[*row as usize] == part).collect::<Vec<_>>();
        assert_eq!(rows, [0, 1, 2].map(|part| positions(part).len()));
        let lists = [0, 1, 2].map(positions);
        prop_assert_eq!(stitched_rows(lists.iter().map(|it| &it[..])).unwrap(), parts.len());
        let all: Vec<usize> = (1..=parts.len() * row).collect();
        assert_writes(all.len(), &all, |width, source, out| {
            for (part, list) in lists.iter().enumerate() {
                let mut rows = vec![0; list.len() * row * width];
                copy_part(&parts, part, row * width, source, &mut rows);
                stitch(list, row * width, &rows, out);
            }
        });
    }
}

#[test]
fn rejects_blocks_that_do_not_fit() {
    let to_batch = |dims: &[usize], sizes: &[i64], borders: &[i64]| {
        Plan::to_batch(dims, Blocks { sizes, borders }).map(|it| it.dims().to_vec())
    };
    assert!(to_batch(&[1, 3], &[2], &[0, 0]).is_err());
    assert_eq!(to_batch(&[1, 3], &[2], &[0, 1]), Ok(vec![2, 2]));
    assert!(to_batch(&[1, 3], &[0], &[0, 0]).is_err());
    assert!(to_batch(&[1, 3], &[1], &[-1, 1]).is_err());
    assert!(to_batch(&[4], &[1], &[0, 0]).is_err());
    let many = ([1; 6], [1, 2, 1, 1, 1]);
    assert!(to_batch(&[1, 1, 2, 1, 1, 1], &many.1, &[0; 10]).is_ok());
    assert!(to_batch(&[1, 2, 2, 2, 2, 2], &[2; 5], &[0; 10]).is_err());
    assert!(to_batch(&many.0, &[i64::MAX; 5], &[0; 10]).is_err());
    let from_batch = |dims: &[usize], sizes: &[i64], borders: &[i64]| {
        Plan::from_batch(dims, Blocks { sizes, borders }).map(|it| it.dims().to_vec())
    };
    assert_eq!(from_batch(&[4, 1], &[2], &[0, 1]), Ok(vec![2, 1]));
    assert!(from_batch(&[3, 1], &[2], &[0, 1]).is_err());
    assert!(from_batch(&[4, 1], &[2], &[2, 1]).is_err());
    let depth = Depth {
        size: 2,
        is_channels_first: false,
    };
    assert!(depth.from_space(&[1, 3, 2, 1]).is_err());
    assert!(depth.to_space(&[1, 2, 2, 6]).is_err());
    assert!(depth.to_space(&[1, 2, 4]).is_err());
}

#[test]
fn matrix_of_diagonals_has_the_least_dims() {
    assert_eq!(matrix_dims([0, 0], 3, [-1, -1]), Ok([3, 3]));
    assert_eq!(matrix_dims([1, 1], 3, [-1, -1]), Ok([4, 4]));
    assert_eq!(matrix_dims([1, 1], 3, [3, -1]), Ok([3, 4]));
    assert_eq!(matrix_dims([-1, 0], 3, [-1, 5]), Ok([3, 5]));
    assert!(matrix_dims([0, 0], 3, [2, -1]).is_err());
    assert!(matrix_dims([0, 0], 3, [4, 5]).is_err());
    let diagonals = |range, matrix| Diagonals::new(range, matrix, [Side::Left; 2]);
    assert!(diagonals([0, 3], [3, 3]).check().is_err());
    assert!(diagonals([-3, 0], [3, 3]).check().is_err());
    // Diagonal 1 is outside of the matrix.
    let mut out = [0];
    diagonals([0, 1], [1, 1]).write(1, &[7, 8], &mut out);
    assert_eq!(out, [8]);
    let empty = diagonals([0, 0], [0, 3]).check().unwrap();
    assert_eq!(empty.dims(), [0]);
}

#[test]
fn rejects_rows_without_a_part_or_a_place() {
    assert!(count_rows(&[0, 2], 2).is_err());
    assert!(count_rows(&[-1], 2).is_err());
    assert!(stitched_rows([&[0, -1][..]].into_iter()).is_err());
    assert!(View::reversed(&[2], [1].into_iter()).is_err());
}
