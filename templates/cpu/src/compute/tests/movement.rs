//! Movement of elements of every width, by coordinates.

use super::*;
use crate::compute::Broadcast;
use crate::compute::movement::concat::{columns, concat};
use crate::compute::movement::gather::Gather;
use crate::compute::movement::gather_nd::GatherNd;
use crate::compute::movement::one_hot::one_hot;
use crate::compute::movement::pad::{Mode, Padding};
use crate::compute::movement::reshape::{expand, reshape, squeeze};
use crate::compute::movement::select::select;
use crate::compute::movement::slice::slice;
use crate::compute::movement::strided_slice::{Masks, StridedSlice};
use crate::compute::movement::{View, copy};
use crate::compute::movement::{copy_elements, scatter};
use crate::compute::oracle::{coordinates, operand_index};

const WIDTHS: [usize; 5] = [1, 2, 4, 8, 16];

/// Returns the bytes of elements that have these numbers.
fn bytes(numbers: impl IntoIterator<Item = usize>, width: usize) -> Vec<u8> {
    let element = |number: usize| (number as u128).to_le_bytes().into_iter().take(width);
    numbers.into_iter().flat_map(element).collect()
}

/// Compares a computation on the elements `0..count` with the numbers of the elements that are expected.
fn assert_moves(count: usize, expected: &[usize], run: impl Fn(usize, &[u8], &mut [u8])) {
    for width in WIDTHS {
        let mut out = vec![0xee; expected.len() * width];
        run(width, &bytes(0..count, width), &mut out);
        assert_eq!(out, bytes(expected.iter().copied(), width), "width {width}");
    }
}

fn assert_view(dims: &[usize], view: &View, expected: &[usize]) {
    assert_moves(len(dims), expected, |width, source, out| {
        copy(view, width, source, out);
    });
}

/// Returns the number of the source's element for each element of the result.
fn numbers(dims: &[usize], result: &[usize], of: impl Fn(&[usize]) -> Vec<usize>) -> Vec<usize> {
    let number = |it: &Vec<usize>| operand_index(dims, &of(it));
    coordinates(result).iter().map(number).collect()
}

/// Returns dims and as many numbers below 1000.
fn dims_and_picks() -> impl Strategy<Value = (Vec<usize>, Vec<usize>)> {
    (dims(), vec(0..1000_usize, 15))
}

proptest! {
    #[test]
    fn transposed_view_matches_oracle((dims, picks) in dims_and_picks()) {
        let mut axes: Vec<usize> = (0..dims.len()).collect();
        axes.sort_by_key(|axis| picks[*axis]);
        // A negative axis counts from the end.
        let from_end = |axis: usize| if picks[axis] % 2 == 0 { 0 } else { dims.len() as i64 };
        let permutation = axes.iter().map(|axis| *axis as i64 - from_end(*axis));
        let (view, result) = View::transposed(&dims, permutation.collect::<Vec<_>>().into_iter()).unwrap();
        let expected = numbers(&dims, &result, |it| {
            let mut source = vec![0; it.len()];
            axes.iter().zip(it).for_each(|(axis, at)| source[*axis] = *at);
            source
        });
        assert_view(&dims, &view, &expected);
    }

    #[test]
    fn tiled_view_matches_oracle((dims, picks) in dims_and_picks()) {
        let multiples: Vec<usize> = dims.iter().zip(&picks).map(|(_, pick)| pick % 3).collect();
        let (view, result) = View::tiled(&dims, &multiples).unwrap();
        let modulo = |it: &[usize]| it.iter().zip(&dims).map(|(at, dim)| at % dim).collect();
        assert_view(&dims, &view, &numbers(&dims, &result, modulo));
    }

    #[test]
    fn broadcast_view_matches_oracle((dims, _) in broadcast_dims(), other in dims()) {
        let Ok(plan) = Broadcast::new([&dims, &other]) else { return Ok(()) };
        let expected = coordinates(plan.dims()).iter().map(|it| operand_index(&dims, it)).collect::<Vec<_>>();
        assert_view(&dims, &View::broadcast(&dims, plan.dims()).unwrap(), &expected);
    }

    #[test]
    fn reversed_view_matches_oracle((dims, picks) in dims_and_picks()) {
        let is_reversed = |axis: &usize| picks[*axis] % 2 == 1;
        let axes = (0..dims.len()).filter(is_reversed).map(|axis| axis as i64 - dims.len() as i64);
        let view = View::reversed(&dims, axes).unwrap();
        let expected = numbers(&dims, &dims, |it| {
            let source = |axis: usize| if is_reversed(&axis) { dims[axis] - 1 - it[axis] } else { it[axis] };
            (0..it.len()).map(source).collect()
        });
        assert_view(&dims, &view, &expected);
    }

    #[test]
    fn slice_matches_oracle((dims, picks) in dims_and_picks()) {
        let begin: Vec<usize> = dims.iter().zip(&picks).map(|(dim, pick)| pick % (dim + 1)).collect();
        let sizes = dims.iter().zip(&begin).zip(&picks[5..]);
        let size = |((dim, begin), pick): ((&usize, &usize), &usize)| (pick % (dim - begin + 2)) as i64 - 1;
        let sizes: Vec<i64> = sizes.map(size).collect();
        let signed: Vec<i64> = begin.iter().map(|it| *it as i64).collect();
        let (view, result) = slice(&dims, &signed, &sizes).unwrap();
        for (axis, size) in sizes.iter().enumerate() {
            let expected = if *size == -1 { dims[axis] - begin[axis] } else { *size as usize };
            prop_assert_eq!(result[axis], expected);
        }
        let shifted = |it: &[usize]| it.iter().zip(&begin).map(|(at, begin)| at + begin).collect();
        assert_view(&dims, &view, &numbers(&dims, &result, shifted));
    }

    #[test]
    fn strided_slice_matches_ranges((dims, picks) in dims_and_picks()) {
        let of = |from: usize, shift: i64| -> Vec<i64> {
            picks[from..from + dims.len()].iter().map(|it| (it % 17) as i64 - shift).collect()
        };
        let (begin, end) = (of(0, 8), of(5, 8));
        let strides: Vec<i64> = of(10, 8).iter().map(|it| if *it == 0 { 1 } else { it % 4 }).map(|it| if it == 0 { -3 } else { it }).collect();
        let masks = Masks { begin: picks[0] as i64 % 32, end: picks[1] as i64 % 32, ..Masks::default() };
        let slice = StridedSlice::new(&dims, &begin, &end, &strides, masks).unwrap();
        let ranges: Vec<Vec<usize>> = (0..dims.len()).map(|axis| {
            let has = |mask: i64| mask >> axis & 1 == 1;
            let begin = (!has(masks.begin)).then_some(begin[axis]);
            let end = (!has(masks.end)).then_some(end[axis]);
            python_range(dims[axis], begin, end, strides[axis])
        }).collect();
        prop_assert_eq!(&*slice.dims, &*ranges.iter().map(Vec::len).collect::<Vec<_>>());
        let expected = numbers(&dims, &slice.dims, |it| it.iter().zip(&ranges).map(|(at, range)| range[*at]).collect());
        assert_view(&dims, &slice.view, &expected);
        assert_scatters(&dims, &slice.view, &expected);
    }

    #[test]
    fn assigned_slice_has_the_broadcast_value((dims, picks) in dims_and_picks(), leading in 0..3_usize) {
        let begin: Vec<i64> = dims.iter().zip(&picks).map(|(dim, pick)| (pick % (dim + 1)) as i64).collect();
        let ends = vec![i64::MAX; dims.len()];
        let strides: Vec<i64> = picks[..dims.len()].iter().map(|it| (it % 3) as i64 + 1).collect();
        let slice = StridedSlice::new(&dims, &begin, &ends, &strides, Masks::default()).unwrap();
        let value_dims: Vec<usize> = slice.dims.iter().zip(&picks[5..]).map(|(dim, pick)| if pick % 3 == 0 { 1 } else { *dim }).collect();
        let value: Vec<u32> = (1..=value_dims.iter().product::<usize>() as u32).collect();
        let mut tensor = vec![0; dims.iter().product()];
        let with_leading = [vec![1; leading], value_dims.clone()].concat();
        slice.assign(&with_leading, &value, &mut tensor).unwrap();
        let mut found = vec![0; slice.dims.iter().product()];
        copy_elements(&slice.view, &tensor, &mut found);
        let expected: Vec<u32> = coordinates(&slice.dims).iter().map(|it| value[operand_index(&value_dims, it)]).collect();
        prop_assert_eq!(&found, &expected);
        prop_assert_eq!(tensor.iter().filter(|it| **it != 0).count(), expected.len());
    }

    #[test]
    fn concat_matches_parts_of_columns(rows in 0..6_usize, lens in vec(0..5_usize, 0..5)) {
        let row_len: usize = lens.iter().sum();
        let mut start = 0;
        let parts: Vec<Vec<u8>> = lens.iter().map(|part_len| {
            let mut part = vec![0; rows * part_len];
            let source: Vec<u8> = (0..rows * row_len).map(|it| it as u8).collect();
            copy(&columns(rows, row_len, start, *part_len), 1, &source, &mut part);
            for (index, element) in part.iter().enumerate() {
                let (row, column) = (index / part_len, index % part_len);
                assert_eq!(usize::from(*element), row * row_len + start + column);
            }
            start += part_len;
            part
        }).collect();
        let pairs: Vec<(&[u8], usize)> = parts.iter().map(|it| &it[..]).zip(lens.iter().copied()).collect();
        let mut joined = vec![0xee; rows * row_len];
        concat(rows, &pairs, &mut joined);
        prop_assert_eq!(joined, (0..rows * row_len).map(|it| it as u8).collect::<Vec<_>>());
    }

    #[test]
    fn padding_matches_oracle((dims, picks) in dims_and_picks(), mode in 0..3_usize) {
        let mode = [Mode::Constant, Mode::Reflect, Mode::Symmetric][mode];
        let limit = |axis: usize| match mode {
            Mode::Constant => 4,
            Mode::Reflect => dims[axis].max(1),
            Mode::Symmetric => dims[axis] + 1,
        };
        let paddings: Vec<i64> = (0..2 * dims.len()).map(|it| (picks[it] % limit(it / 2).min(4)) as i64).collect();
        if mode == Mode::Reflect && dims.contains(&0) {
            prop_assert!(Padding::new(&dims, &paddings, mode).is_err());
            return Ok(());
        }
        let plan = Padding::new(&dims, &paddings, mode).unwrap();
        // The constant has the number after the last element's.
        let constant = len(&dims);
        let expected: Vec<usize> = coordinates(plan.dims()).iter().map(|it| {
            let source = (0..dims.len()).map(|axis| padded_source(it[axis], paddings[2 * axis] as usize, dims[axis], mode));
            source.collect::<Option<Vec<usize>>>().map_or(constant, |it| operand_index(&dims, &it))
        }).collect();
        assert_moves(len(&dims), &expected, |width, source, out| {
            plan.pad(width, source, &bytes([constant], width), out);
        });
        if mode != Mode::Constant {
            let mut counts = vec![0_i32; len(&dims)];
            expected.iter().for_each(|it| counts[*it] += 1);
            let mut sums = vec![7; counts.len()];
            plan.fold(&vec![1; expected.len()], &mut sums);
            prop_assert_eq!(sums, counts);
        }
    }

    #[test]
    fn gather_matches_oracle(batch in 1..3_usize, outer in 1..4_usize, axis in 1..5_usize, inner in 0..4_usize, picks in vec(0..1000_usize, 0..10)) {
        let count = picks.len() / batch;
        let indices: Vec<i32> = picks[..count * batch].iter().map(|it| (it % axis) as i32).collect();
        let dims = [batch, outer, axis, inner];
        let expected = numbers(&dims, &[batch, outer, count, inner], |it| {
            let mut source = it.to_vec();
            source[2] = indices[it[0] * count + it[2]] as usize;
            source
        });
        assert_moves(len(&dims), &expected, |width, source, out| {
            let plan = Gather { batch, outer, axis, inner: inner * width, indices: count };
            plan.gather(source, &indices, out).unwrap();
        });
    }

    #[test]
    fn gather_nd_matches_oracle(dims in vec(1..5_usize, 1..4), depth in 0..4_usize, picks in vec(0..1000_usize, 0..12)) {
        let depth = depth.min(dims.len());
        let rows = picks.len().checked_div(depth).unwrap_or(3);
        let indices: Vec<i64> = picks[..rows * depth * usize::from(depth > 0)].iter().enumerate().map(|(i, it)| (it % dims[i % depth]) as i64).collect();
        let slice_len = len(&dims[depth..]);
        let plan = GatherNd::new(&dims, &[rows, depth]).unwrap();
        let expected: Vec<usize> = (0..rows).flat_map(|row| {
            let index: Vec<usize> = indices[row * depth..][..depth].iter().map(|it| *it as usize).collect();
            let first = operand_index(&dims[..depth], &index) * slice_len;
            first..first + slice_len
        }).collect();
        assert_moves(len(&dims), &expected, |width, source, out| {
            plan.clone().with_width(width).gather(source, &indices, 0, out).unwrap();
        });
    }

    #[test]
    fn one_hot_matches_oracle(indices in vec(-1..5_i64, 0..12), depth in 0..5_usize, suffix in 1..4_usize) {
        let prefix = indices.len() / suffix;
        let indices = &indices[..prefix * suffix];
        let expected: Vec<usize> = coordinates(&[prefix, depth, suffix]).iter().map(|it| {
            usize::from(indices[it[0] * suffix + it[2]] == it[1] as i64)
        }).collect();
        assert_moves(2, &expected, |width, source, out| {
            let values = [&source[width..], &source[..width]];
            one_hot([depth, suffix, width], indices, values, out);
        });
    }

    #[test]
    fn select_matches_oracle((x, y) in broadcast_dims(), picks in vec(any::<bool>(), 8000), swap in 0..3_usize) {
        let operands = match swap { 0 => [&x, &y, &x], 1 => [&y, &x, &x], _ => [&x, &x, &y] };
        let plan = Broadcast::new(operands.map(|it| &it[..])).unwrap();
        let condition: Vec<Bool> = picks[..len(operands[0])].iter().map(|it| Bool::from(*it)).collect();
        let condition = &condition[..];
        let then_count = len(operands[1]);
        let expected: Vec<usize> = coordinates(plan.dims()).iter().map(|it| {
            match picks[operand_index(operands[0], it)] {
                true => operand_index(operands[1], it),
                false => then_count + operand_index(operands[2], it),
            }
        }).collect();
        assert_moves(then_count + len(operands[2]), &expected, |width, source, out| {
            let (then, otherwise) = source.split_at(then_count * width);
            let selected = written_over(0xee, out.len(), |out| {
                select(&plan, width, |it| it.get(), condition, [then, otherwise], out);
            });
            out.copy_from_slice(&selected);
        });
    }
}

/// Returns the indices that Python's `range(dim)[begin:end:stride]` has.
fn python_range(dim: usize, begin: Option<i64>, end: Option<i64>, stride: i64) -> Vec<usize> {
    let dim = dim as i64;
    let wrap = |it: i64| if it < 0 { it + dim } else { it };
    let (low, high) = if stride > 0 { (0, dim) } else { (-1, dim - 1) };
    let (first, last) = if stride > 0 { (low, high) } else { (high, low) };
    let mut at = begin.map_or(first, |it| wrap(it).clamp(low, high));
    let end = end.map_or(last, |it| wrap(it).clamp(low, high));
    let mut range = Vec::new();
    while if stride > 0 { at < end } else { at > end } {
        range.push(at as usize);
        at += stride;
    }
    range
}

/// Checks that `scatter` writes element `i` to the element that `copy` reads for `i`.
fn assert_scatters(dims: &[usize], view: &View, numbers: &[usize]) {
    let mut out = vec![0_u8; len(dims) * 2];
    scatter(
        view,
        2,
        &bytes((0..numbers.len()).map(|it| it + 1), 2),
        &mut out,
    );
    let mut expected = vec![0; len(dims)];
    numbers
        .iter()
        .enumerate()
        .for_each(|(index, number)| expected[*number] = index + 1);
    assert_eq!(out, bytes(expected, 2));
}

/// Returns the element of the tensor for an element of the padded axis; `None` for the constant.
fn padded_source(index: usize, before: usize, dim: usize, mode: Mode) -> Option<usize> {
    let (at, dim) = (index as i64 - before as i64, dim as i64);
    let mirrored = match mode {
        _ if (0..dim).contains(&at) => at,
        Mode::Constant => return None,
        Mode::Reflect if at < 0 => -at,
        Mode::Reflect => 2 * (dim - 1) - at,
        Mode::Symmetric if at < 0 => -at - 1,
        Mode::Symmetric => 2 * dim - 1 - at,
    };
    Some(mirrored as usize)
}

#[test]
fn assigned_value_broadcasts_to_the_slice_only() {
    let mut tensor = [0; 6];
    let mut assign = |begin: &[i64], dims: &[usize], value: &[i32]| {
        let ends = vec![i64::MAX; begin.len()];
        let slice = StridedSlice::new(
            &[2, 3],
            begin,
            &ends,
            &vec![1; begin.len()],
            Masks::default(),
        );
        slice.unwrap().assign(dims, value, &mut tensor)
    };
    for dims in [&[2][..], &[3, 1, 3], &[2, 2], &[0]] {
        let value = vec![1; dims.iter().product()];
        let error = assign(&[], dims, &value).unwrap_err().to_string();
        assert!(error.starts_with("a value of shape"), "{error}");
    }
    assign(&[2], &[7, 9], &[1; 63]).unwrap();
    assign(&[0, 3], &[0], &[]).unwrap();
    assert_eq!(tensor, [0; 6]);
}

#[test]
fn large_tensors_are_moved_by_all_threads() {
    let orders = [[2, 1, 0], [1, 2, 0], [0, 2, 1], [1, 0, 2]];
    let shapes = [
        [300, 7, 411],
        [300, 3, 411],
        [300, 411, 3],
        [1, 3, 70_000],
        [1, 70_000, 3],
        [2, 70_000, 3],
    ];
    for (dims, axes) in shapes
        .iter()
        .flat_map(|dims| orders.map(|axes| (dims, axes)))
    {
        let (view, result) = View::transposed(dims, axes.into_iter()).unwrap();
        let expected = numbers(dims, &result, |it| {
            let mut source = vec![0; 3];
            axes.iter()
                .zip(it)
                .for_each(|(axis, at)| source[*axis as usize] = *at);
            source
        });
        let mut out = vec![0_u8; expected.len() * 4];
        copy(&view, 4, &bytes(0..len(dims), 4), &mut out);
        assert!(out == bytes(expected, 4), "{dims:?} {axes:?}");
    }
}

#[test]
fn many_slices_are_gathered_by_all_threads() {
    let (batch, outer, axis, count) = (2, 3, 50, 12_001);
    let indices: Vec<i64> = (0..batch * count)
        .map(|at| at * 7 % axis)
        .map(|it| it as i64)
        .collect();
    for inner in [1, 3, 20] {
        let dims = [batch, outer, axis, inner];
        let expected = numbers(&dims, &[batch, outer, count, inner], |it| {
            vec![it[0], it[1], indices[it[0] * count + it[2]] as usize, it[3]]
        });
        let plan = Gather {
            batch,
            outer,
            axis,
            inner: inner * 2,
            indices: count,
        };
        let mut out = vec![0_u8; expected.len() * 2];
        plan.gather(&bytes(0..len(&dims), 2), &indices, &mut out)
            .unwrap();
        assert!(out == bytes(expected, 2), "{inner}");
    }
}

#[test]
fn outer_axes_are_repeated_by_all_threads() {
    for (dims, multiples) in [
        ([30, 40], [500, 2]),
        ([2, 3], [80_000, 3]),
        ([300, 400], [2, 2]),
    ] {
        let (view, result) = View::tiled(&dims, &multiples).unwrap();
        let expected = numbers(&dims, &result, |it| {
            it.iter().zip(dims).map(|(at, dim)| at % dim).collect()
        });
        let mut out = vec![0_u8; expected.len() * 4];
        copy(&view, 4, &bytes(0..len(&dims), 4), &mut out);
        assert!(out == bytes(expected, 4), "{dims:?} {multiples:?}");
    }
}

#[test]
fn strided_slice_rejects_what_tensorflow_rejects() {
    let rejected = |dims: &[usize], items: [&[i64]; 3], masks: Masks| {
        let [begin, end, strides] = items;
        StridedSlice::new(dims, begin, end, strides, masks)
            .unwrap_err()
            .to_string()
    };
    let plain = Masks::default();
    let index = Masks {
        shrink_axis: 1,
        ..plain
    };
    assert!(rejected(&[3], [&[0], &[1], &[0]], plain).contains("strides[0] must be non-zero"));
    assert!(
        rejected(&[3], [&[3], &[4], &[1]], index)
            .contains("slice index 3 of dimension 0 out of bounds")
    );
    assert!(rejected(&[3], [&[i64::MIN], &[0], &[1]], index).contains("out of bounds"));
    assert!(rejected(&[3], [&[1], &[2], &[-1]], index).contains("stride 1"));
    assert!(rejected(&[], [&[0], &[1], &[1]], plain).contains("a scalar has no slices"));
    assert!(rejected(&[3], [&[0, 0], &[1, 1], &[1, 1]], plain).contains("the 1 dimensions"));
    assert!(rejected(&[3], [&[0, 0], &[1], &[1]], plain).contains("one length"));
    let two = Masks {
        ellipsis: 3,
        ..plain
    };
    assert!(rejected(&[3, 3], [&[0; 2], &[0; 2], &[1; 2]], two).contains("several ellipses"));
}

#[test]
fn strided_slice_places_new_axes_and_indices_around_an_ellipsis() {
    let masks = Masks {
        ellipsis: 2,
        new_axis: 5,
        shrink_axis: 8,
        ..Masks::default()
    };
    let slice = StridedSlice::new(&[2, 3, 4], &[0, 0, 0, 1], &[0; 4], &[1; 4], masks).unwrap();
    assert_eq!(*slice.dims, [1, 2, 3, 1]);
    assert_view(&[2, 3, 4], &slice.view, &[1, 5, 9, 13, 17, 21]);
}

#[test]
fn extreme_strides_do_not_overflow() {
    for stride in [i64::MIN, i64::MIN + 1, i64::MAX] {
        let masks = Masks {
            begin: 1,
            end: 1,
            ..Masks::default()
        };
        let slice = StridedSlice::new(&[5], &[0], &[0], &[stride], masks).unwrap();
        assert_eq!(*slice.dims, [1]);
        assert_view(&[5], &slice.view, &[if stride > 0 { 0 } else { 4 }]);
    }
    let slice = StridedSlice::new(&[5], &[i64::MIN], &[i64::MAX], &[1], Masks::default()).unwrap();
    assert_eq!(*slice.dims, [5]);
}

#[test]
fn shapes_of_empty_tensors_may_have_large_dims() {
    let huge = 1_usize << 40;
    let (view, result) = View::tiled(&[0, huge, huge], &[2, 1, 1]).unwrap();
    assert_eq!(*result, [0, huge, huge]);
    assert!(view.is_empty());
    copy(&view, 8, &[0_u8; 0], &mut []);
    assert!(View::tiled(&[huge, huge], &[1, 1]).is_err());
    assert!(View::tiled(&[3], &[usize::MAX]).is_err());
    assert!(View::broadcast(&[1], &[huge, huge]).is_err());
    assert!(Padding::new(&[3], &[i64::MAX, i64::MAX], Mode::Constant).is_err());
    assert!(reshape(&[4], [i64::MAX, i64::MAX].into_iter()).is_err());
}

#[test]
fn reshape_computes_the_missing_size() {
    let shape =
        |dims: &[usize], shape: &[i64]| reshape(dims, shape.iter().copied()).map(|it| it.to_vec());
    assert_eq!(shape(&[2, 6], &[3, -1]).unwrap(), [3, 4]);
    assert_eq!(shape(&[0, 3], &[-1]).unwrap(), [0]);
    assert_eq!(shape(&[0, 3], &[0, -1]).unwrap(), [0, 3]);
    assert_eq!(shape(&[1], &[]).unwrap(), [0_usize; 0]);
    for wrong in [&[-1, -1][..], &[5, -1], &[-2, 6], &[5]] {
        assert!(shape(&[2, 6], wrong).is_err(), "{wrong:?}");
    }
}

#[test]
fn squeeze_and_expand_count_axes_from_either_end() {
    assert_eq!(*squeeze(&[1, 3, 1], &[]).unwrap(), [3]);
    assert_eq!(*squeeze(&[1, 3, 1], &[-1]).unwrap(), [1, 3]);
    assert!(squeeze(&[1, 3], &[1]).is_err());
    assert!(squeeze(&[1, 3], &[2]).is_err());
    assert_eq!(*expand(&[2, 3], -1).unwrap(), [2, 3, 1]);
    assert_eq!(*expand(&[2, 3], 0).unwrap(), [1, 2, 3]);
    assert!(expand(&[2, 3], 3).is_err());
    assert!(expand(&[], i64::MIN).is_err());
}

#[test]
fn indices_out_of_range_are_rejected_unless_the_result_is_empty() {
    let plan = Gather {
        batch: 1,
        outer: 1,
        axis: 3,
        inner: 1,
        indices: 1,
    };
    for index in [-1, 3, i64::MIN, i64::MAX] {
        assert!(plan.gather(&[1_u8; 3], &[index], &mut [0]).is_err());
        let plan = GatherNd::new(&[3], &[1, 1]).unwrap();
        assert!(plan.gather(&[1_u8; 3], &[index], 0, &mut [0]).is_err());
        let mut out = [1];
        let ignoring = plan.with_policy("IGNORE").unwrap();
        ignoring.gather(&[1_u8; 3], &[index], 0, &mut out).unwrap();
        assert_eq!(out, [0]);
    }
    let empty = Gather { inner: 0, ..plan };
    assert!(empty.gather(&[0_u8; 0], &[-1], &mut []).is_ok());
}
