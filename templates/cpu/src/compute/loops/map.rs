//! Elementwise loops over one or two operands, on all cores and with the machine's widest vectors.
//!
//! The function on scalars is inlined into the loop, so write it without branches if possible. Pass functions of
//! `arith`, or closures as `#[inline(always)] |x| ...`. Broadcast operands are copied in parts, if at all.

use crate::compute::loops::operand::{BroadcastOperand, parts};
use crate::compute::machine::cost::{self, Cost};
use crate::compute::machine::parallel::for_each_chunk;
use crate::compute::machine::shape::Broadcast;
use crate::compute::machine::simd::{Isa, stream};
use crate::compute::machine::workspace::AnyBits;
use sp_plugin::allocation;

/// Number of elements up to which a loop takes less time than the selection of threads and vectors.
pub const TINY: usize = 8;

/// Computes `out[i] = f(x[i])`.
///
/// # Panics
/// Panics if the lengths differ.
pub fn map1<T: Copy + Sync, U: Copy + Send>(
    x: &[T],
    out: &mut [U],
    f: impl Fn(T) -> U + Sync + Copy,
) {
    map1_with_cost(cost::Cheap, x, out, f);
}

/// Computes [`map1`] with a function of this cost.
///
/// # Panics
/// Panics if the lengths differ.
pub fn map1_with_cost<T: Copy + Sync, U: Copy + Send>(
    cost: impl Cost,
    x: &[T],
    out: &mut [U],
    f: impl Fn(T) -> U + Sync + Copy,
) {
    assert_eq!(x.len(), out.len(), "operand and result differ in length");
    if out.len() <= TINY {
        return out.iter_mut().zip(x).for_each(|(o, x)| *o = f(*x));
    }
    fill(
        cost,
        out,
        |start| start,
        #[inline(always)]
        |start, out| {
            let x = &x[*start..*start + out.len()];
            *start += out.len();
            match cost.reads_tables() {
                true => write_blocks(x, out, f),
                false => write_each(x, out, f),
            }
        },
    );
}

/// Writes `f` of each element. `f` is a copy: what it has captured would be read again for each element if it were a
/// reference, since `out` might overlap it.
#[inline(always)]
fn write_each<T: Copy, U>(x: &[T], out: &mut [U], f: impl Fn(T) -> U) {
    // No `for_each`: the compiler may leave it a function for the baseline if `f` is long.
    for (o, x) in out.iter_mut().zip(x) {
        *o = f(*x);
    }
}

/// Writes `f` of each element, in blocks that overlap no table of `f`.
#[inline(always)]
fn write_blocks<T: Copy, U: Copy>(x: &[T], out: &mut [U], f: impl Fn(T) -> U + Copy) {
    const BLOCK: usize = 128;
    for (x, out) in x.chunks(BLOCK).zip(out.chunks_mut(BLOCK)) {
        let mut block = [out[0]; BLOCK];
        let block = &mut block[..x.len()];
        write_each(x, block, f);
        out.copy_from_slice(block);
    }
}

/// Computes `out[i] = f(out[i], x[i])`.
///
/// # Panics
/// Panics if the lengths differ.
pub fn update<T: Copy + Send, U: Copy + Sync>(
    out: &mut [T],
    x: &[U],
    f: impl Fn(T, U) -> T + Sync,
) {
    assert_eq!(x.len(), out.len(), "operand and result differ in length");
    let isa = Isa::current();
    for_each_chunk(out, cost::Cheap.grain(), |start, out| {
        let x = &x[start..start + out.len()];
        isa.vectorize_narrow(
            #[inline(always)]
            || {
                out.iter_mut().zip(x).for_each(
                    #[inline(always)]
                    |(o, x)| *o = f(*o, *x),
                )
            },
        );
    });
}

/// Computes `out[i] = f(out[i])`.
pub fn update_each<T: Copy + Send>(out: &mut [T], f: impl Fn(T) -> T + Sync) {
    let isa = Isa::current();
    for_each_chunk(out, cost::Cheap.grain(), |_, out| {
        isa.vectorize_narrow(
            #[inline(always)]
            || {
                out.iter_mut().for_each(
                    #[inline(always)]
                    |it| *it = f(*it),
                )
            },
        );
    });
}

/// Computes `f(x, y)` for each element of the broadcast operands; `out` has `plan.len()` elements.
///
/// # Panics
/// Panics if an operand or the result has another length than the plan.
pub fn map2<A, B, U>(
    plan: &Broadcast<2>,
    x: &[A],
    y: &[B],
    out: &mut [U],
    f: impl Fn(A, B) -> U + Sync + Copy,
) where
    A: AnyBits + Sync,
    B: AnyBits + Sync,
    U: Copy + Send,
{
    map2_with_cost(cost::Cheap, plan, x, y, out, f);
}

/// Computes [`map2`] with a function of this cost.
///
/// # Panics
/// Panics if an operand or the result has another length than the plan.
pub fn map2_with_cost<A, B, U>(
    cost: impl Cost,
    plan: &Broadcast<2>,
    x: &[A],
    y: &[B],
    out: &mut [U],
    f: impl Fn(A, B) -> U + Sync + Copy,
) where
    A: AnyBits + Sync,
    B: AnyBits + Sync,
    U: Copy + Send,
{
    assert_eq!(
        [x.len(), y.len()],
        plan.lens(),
        "operands differ in length from the plan"
    );
    assert_eq!(
        out.len(),
        plan.len(),
        "the result differs in length from the plan"
    );
    if out.is_empty() {
        return;
    }
    fill(
        cost,
        out,
        |start| {
            let operands = (
                BroadcastOperand::new(plan, 0, x),
                BroadcastOperand::new(plan, 1, y),
            );
            (start, operands)
        },
        #[inline(always)]
        |(start, operands), out| {
            let (x, y) = operands;
            let first = *start;
            *start += out.len();
            for part in parts(plan, first..*start) {
                let out = &mut out[part.start - first..part.end - first];
                let operands = x.read(part.clone()).iter().zip(y.read(part));
                for (out, (x, y)) in out.iter_mut().zip(operands) {
                    *out = f(*x, *y);
                }
            }
        },
    );
}

/// Results of at least this size bypass the caches. Smaller ones may be in the last cache, where such stores take twice
/// the time; results of 64 MiB are written in 0.9 of the time.
const STREAMED_BYTES: usize = 32 << 20;
/// The bytes that are computed into a buffer and then written past the caches.
const BLOCK_BYTES: usize = 16 << 10;

/// Fills `out` on all cores, with the machine's instruction set.
///
/// Splits `out` into chunks. For each chunk calls `begin` with its first index, then `each` with the result of `begin`,
/// once for each part of the chunk in order.
fn fill<U: Copy + Send, P>(
    cost: impl Cost,
    out: &mut [U],
    begin: impl Fn(usize) -> P + Sync,
    each: impl Fn(&mut P, &mut [U]) + Sync,
) {
    let isa = Isa::current();
    let streamed = size_of_val(out) >= STREAMED_BYTES && cost.is_bound_by_memory();
    for_each_chunk(out, cost.grain(), |start, out| {
        stream::with_streams(isa, |streams| {
            let mut position = begin(start);
            fill_parts(out, streamed, &mut |part, target| {
                cost.vectorize(
                    isa,
                    #[inline(always)]
                    || {
                        each(&mut position, part);
                        if let Some(target) = target {
                            streams.copy(part, target);
                        }
                    },
                );
            });
        });
    });
}

/// Computes a part of a result. The second slice is the part that the first, a buffer, is to be copied to.
type ComputePart<'a, 't, U> = dyn FnMut(&mut [U], Option<&'t mut [U]>) + 'a;

/// Calls `compute` for each part of `out` in order. The parts of a streamed result are computed into a buffer.
///
/// This function does not depend on the type of `compute` and is not inlined, so that each loop is compiled once for
/// each instruction set. The loops are most of what the compiler spends on this crate.
#[inline(never)]
fn fill_parts<'t, U: Copy>(out: &'t mut [U], streamed: bool, compute: &mut ComputePart<'_, 't, U>) {
    let Some(first) = out.first() else { return };
    if !streamed {
        return compute(out, None);
    }
    let block = (BLOCK_BYTES / size_of::<U>()).max(1);
    let mut buffer = allocation::filled(*first, block);
    // The elements before the first whole cache line are a part of their own.
    let head = out.as_ptr().align_offset(64).min(out.len());
    let (head, body) = out.split_at_mut(head);
    if !head.is_empty() {
        compute(head, None);
    }
    for part in body.chunks_mut(block) {
        compute(&mut buffer[..part.len()], Some(part));
    }
}
