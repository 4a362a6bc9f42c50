//! Elementwise functions of elements that are computed in another type, in blocks that fit in the first cache.

use super::{F16c, Precision, as_init, as_uninit};
use crate::compute::loops::map::{map1_with_cost, map2_with_cost, update};
use crate::compute::loops::operand::BroadcastOperand;
use crate::compute::machine::array;
use crate::compute::machine::cost::Cost;
use crate::compute::machine::parallel::for_each_chunk;
use crate::compute::machine::shape::Broadcast;
use crate::compute::machine::workspace::AnyBits;
use sp_plugin::F16;
use std::mem::MaybeUninit;

/// The elements of a block. Three blocks of `f32` take 21 KiB of the first cache. No two are a multiple of 4 KiB apart:
/// loads from one would wait for stores to another.
const BLOCK: usize = 1792;

/// A block of elements as they are computed.
type Block<C> = [C; BLOCK];

/// Writes `f` of each element.
///
/// # Panics
/// Panics if the lengths differ.
pub fn map_one<T: Precision, U: Precision>(
    cost: impl Cost,
    x: &[T],
    out: &mut [MaybeUninit<U>],
    f: impl Fn(T::Compute) -> U::Compute + Sync + Copy,
) {
    assert_eq!(x.len(), out.len(), "operand and result differ in length");
    if let (Some(x), Some(out)) = (T::as_compute(x), U::as_compute_uninit(out)) {
        return compute_one(cost, x, out, f);
    }
    write_blocks(cost, out, &|start, out, [block, _]| {
        let x = &x[start..start + out.len()];
        compute_one(cost, in_block(x, block), out, f);
    });
}

/// Writes `f` of two operands that `plan` broadcasts.
///
/// # Panics
/// Panics if an operand or the result has another length than the plan.
pub fn map_two<T: Precision, U: Precision>(
    cost: impl Cost,
    plan: &Broadcast<2>,
    [x, y]: [&[T]; 2],
    out: &mut [MaybeUninit<U>],
    f: impl Fn(T::Compute, T::Compute) -> U::Compute + Sync + Copy,
) {
    let operands = (
        T::as_compute(x),
        T::as_compute(y),
        U::as_compute_uninit(out),
    );
    if let (Some(x), Some(y), Some(out)) = operands {
        return compute_two(cost, plan, [x, y], out, f);
    }
    assert_eq!(
        ([x.len(), y.len()], out.len()),
        (plan.lens(), plan.len()),
        "operands or result differ in length from the plan"
    );
    let is_same_shape = plan.lens() == [plan.len(); 2];
    if is_same_shape && T::map_in_registers(cost, [x, y], out, f) {
        return;
    }
    let whole_block = Broadcast::of_equal_shapes(&[BLOCK]);
    write_blocks(cost, out, &|start, out, blocks| {
        let operands = match is_same_shape {
            true => widen_same(start, [x, y], out.len(), blocks),
            false => widen_broadcast(plan, start, [x, y], out.len(), blocks),
        };
        match out.len() {
            BLOCK => compute_two(cost, &whole_block, operands, out, f),
            len => compute_two(cost, &Broadcast::of_equal_shapes(&[len]), operands, out, f),
        }
    });
}

/// Writes `f` of two operands of the result's length, converted in registers: blocks take twice the time.
pub(super) fn map_halves<U: Precision>(
    f16c: F16c,
    cost: impl Cost,
    [x, y]: [&[F16]; 2],
    out: &mut [MaybeUninit<U>],
    f: impl Fn(f32, f32) -> U::Compute + Sync + Copy,
) {
    for_each_chunk(out, cost.grain(), |start, out| {
        let range = start..start + out.len();
        let ((x, x_rest), (y, y_rest)) = (x[range.clone()].as_chunks(), y[range].as_chunks());
        let (out, out_rest) = out.as_chunks_mut();
        f16c.vectorize(
            #[inline(always)]
            || {
                for (out, (x, y)) in out.iter_mut().zip(x.iter().zip(y)) {
                    let (x, y) = (f16c.widen(x), f16c.widen(y));
                    let results = array::from_fn(
                        #[inline(always)]
                        |lane| f(x[lane], y[lane]),
                    );
                    *out = array::map(U::narrow_lanes(f16c, &results), MaybeUninit::new);
                }
            },
        );
        map_few([x_rest, y_rest], out_rest, f);
    });
}

/// Writes the combination of elements of two or more operands of one shape, from the first operand to the last.
///
/// # Panics
/// Panics if there are less than two operands, or one is shorter than the result.
pub fn map_all<T: Precision>(
    cost: impl Cost,
    operands: &[&[T]],
    out: &mut [MaybeUninit<T>],
    f: impl Fn(T::Compute, T::Compute) -> T::Compute + Sync + Copy,
) {
    let [x, y, others @ ..] = operands else {
        panic!("expected two operands or more");
    };
    write_blocks(cost, out, &|start, out, [first, second]| {
        let range = start..start + out.len();
        let plan = Broadcast::of_equal_shapes(&[out.len()]);
        let pair = [
            in_block(&x[range.clone()], first),
            in_block(&y[range.clone()], second),
        ];
        compute_two(cost, &plan, pair, out, f);
        // SAFETY: `compute_two` has written all elements: its loop returns a value that no `Cost` has without running it.
        let out = unsafe { as_init(out) };
        for other in others {
            update(out, in_block(&other[range.clone()], first), f);
        }
    });
}

/// Writes `f` of a few elements of operands of one shape, without a plan.
///
/// # Panics
/// Panics if an operand is shorter than the result.
#[inline(always)]
pub fn map_few<T: Precision, U: Precision>(
    [x, y]: [&[T]; 2],
    out: &mut [MaybeUninit<U>],
    f: impl Fn(T::Compute, T::Compute) -> U::Compute,
) {
    let (x, y) = (&x[..out.len()], &y[..out.len()]);
    for (out, (x, y)) in out.iter_mut().zip(x.iter().zip(y)) {
        out.write(U::from_compute(f(x.to_compute(), y.to_compute())));
    }
}

/// Writes `f` of each element. It depends on the types of the computation only, so that the loops of `map` are compiled
/// once for all types that are computed in `f32`. A closure in [`map_one`] would have its types.
fn compute_one<A: Copy + Sync, U: Copy + Send>(
    cost: impl Cost,
    x: &[A],
    out: &mut [MaybeUninit<U>],
    f: impl Fn(A) -> U + Sync + Copy,
) {
    map1_with_cost(
        cost,
        x,
        out,
        #[inline(always)]
        move |x| MaybeUninit::new(f(x)),
    );
}

/// Writes `f` of two operands, as [`compute_one`].
fn compute_two<A: AnyBits + Sync, U: Copy + Send>(
    cost: impl Cost,
    plan: &Broadcast<2>,
    [x, y]: [&[A]; 2],
    out: &mut [MaybeUninit<U>],
    f: impl Fn(A, A) -> U + Sync + Copy,
) {
    map2_with_cost(
        cost,
        plan,
        x,
        y,
        out,
        #[inline(always)]
        move |x, y| MaybeUninit::new(f(x, y)),
    );
}

/// A function that writes every element of a block, of which it gets the index in the result. It may use the other blocks
/// for its operands.
type ComputeBlock<'a, A, C> = dyn Fn(usize, &mut [MaybeUninit<C>], &mut [Block<A>; 2]) + Sync + 'a;

/// Calls `compute` for each block of a result, and rounds the elements.
fn write_blocks<A: Copy + Default, U: Precision>(
    cost: impl Cost,
    out: &mut [MaybeUninit<U>],
    compute: &ComputeBlock<'_, A, U::Compute>,
) {
    for_each_chunk(out, cost.grain(), |first, out| {
        let (mut operands, mut block) =
            ([[A::default(); BLOCK]; 2], [U::Compute::default(); BLOCK]);
        for (index, out) in out.chunks_mut(BLOCK).enumerate() {
            let start = first + index * BLOCK;
            if let Some(out) = U::as_compute_uninit(out) {
                compute(start, out, &mut operands);
                continue;
            }
            let block = &mut block[..out.len()];
            // SAFETY: a function of `ComputeBlock` writes elements only.
            compute(start, unsafe { as_uninit(block) }, &mut operands);
            U::narrow(block, out);
        }
    });
}

/// Returns elements as they are computed. Those of another type are converted in the block.
fn in_block<'a, T: Precision>(x: &'a [T], block: &'a mut Block<T::Compute>) -> &'a [T::Compute] {
    if let Some(x) = T::as_compute(x) {
        return x;
    }
    let block = &mut block[..x.len()];
    T::widen(x, block);
    block
}

/// Returns the next `count` elements of two operands of the result's shape.
fn widen_same<'a, T: Precision>(
    start: usize,
    [x, y]: [&'a [T]; 2],
    count: usize,
    [first, second]: &'a mut [Block<T::Compute>; 2],
) -> [&'a [T::Compute]; 2] {
    let range = start..start + count;
    [
        in_block(&x[range.clone()], first),
        in_block(&y[range], second),
    ]
}

/// Converts the next `count` elements of two operands from the element `start` of the result on, repeated as `plan`
/// broadcasts them.
fn widen_broadcast<'a, T: Precision>(
    plan: &Broadcast<2>,
    start: usize,
    operands: [&[T]; 2],
    count: usize,
    blocks: &'a mut [Block<T::Compute>; 2],
) -> [&'a [T::Compute]; 2] {
    for (index, (x, block)) in operands.into_iter().zip(&mut *blocks).enumerate() {
        let mut operand = BroadcastOperand::new(plan, index, x);
        operand.for_each_part(start..start + count, |indices, part| {
            T::widen(part, &mut block[indices]);
        });
    }
    blocks.each_ref().map(|block| &block[..count])
}
