//! Elementwise loops: one or two operands, a function on scalars, all cores, the machine's widest vectors.
//!
//! The function inlines into the loop, so write it without branches where you can; pass functions of `arith`, or closures as
//! `#[inline(always)] |x| ...`. Operands that are repeated cost nothing: no copy is made.

use super::parallel::{Cost, pieces};
use super::shape::{Broadcast, Position};
use super::simd::{Isa, stream};

/// `out[i] = f(x[i])`.
///
/// # Panics
/// If the lengths differ.
pub fn map1<T: Copy + Sync, U: Copy + Send>(x: &[T], out: &mut [U], f: impl Fn(T) -> U + Sync) {
    map1_at(Cost::Cheap, x, out, f);
}

/// [`map1`] with a function of this cost.
///
/// # Panics
/// If the lengths differ.
pub fn map1_at<T: Copy + Sync, U: Copy + Send>(
    cost: Cost,
    x: &[T],
    out: &mut [U],
    f: impl Fn(T) -> U + Sync,
) {
    assert_eq!(x.len(), out.len(), "operand and result differ in length");
    fill(
        cost,
        out,
        |start| start,
        #[inline(always)]
        |start, out| {
            let x = &x[*start..*start + out.len()];
            *start += out.len();
            out.iter_mut().zip(x).for_each(
                #[inline(always)]
                |(o, x)| *o = f(*x),
            );
        },
    );
}

/// `out = f(out, x)`, element by element.
///
/// # Panics
/// If the lengths differ.
pub fn change<T: Copy + Send, U: Copy + Sync>(
    out: &mut [T],
    x: &[U],
    f: impl Fn(T, U) -> T + Sync,
) {
    assert_eq!(x.len(), out.len(), "operand and result differ in length");
    let isa = Isa::current();
    pieces(out, Cost::Cheap.grain(), |start, out| {
        let x = &x[start..start + out.len()];
        isa.vectorize(
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

/// `out = f(x, y)`, broadcast as planned; `out` has `plan.len()` elements.
///
/// # Panics
/// If an operand or the result is not as long as planned.
pub fn map2<A, B, U>(
    plan: &Broadcast<2>,
    x: &[A],
    y: &[B],
    out: &mut [U],
    f: impl Fn(A, B) -> U + Sync,
) where
    A: Copy + Sync,
    B: Copy + Sync,
    U: Copy + Send,
{
    map2_at(Cost::Cheap, plan, x, y, out, f);
}

/// [`map2`] with a function of this cost.
///
/// # Panics
/// If an operand or the result is not as long as planned.
pub fn map2_at<A, B, U>(
    cost: Cost,
    plan: &Broadcast<2>,
    x: &[A],
    y: &[B],
    out: &mut [U],
    f: impl Fn(A, B) -> U + Sync,
) where
    A: Copy + Sync,
    B: Copy + Sync,
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
    fill(
        cost,
        out,
        |start| plan.position(start),
        #[inline(always)]
        |position, out| piece2(plan, position, x, y, out, &f),
    );
}

/// Results of this size are written past the caches: measured, twice as fast from here on.
const STREAMED_BYTES: usize = 2 << 20;
/// Elements that are computed before they are written so.
const BLOCK: usize = 128;

/// Fills `out`, on all cores, compiled for this machine: cuts it into pieces, calls `begin` with the index at which a piece begins, and with what that
/// gives, `each` for the piece's parts in order.
fn fill<U: Copy + Send, P>(
    cost: Cost,
    out: &mut [U],
    begin: impl Fn(usize) -> P + Sync,
    each: impl Fn(&mut P, &mut [U]) + Sync,
) {
    let isa = Isa::current();
    let streamed = size_of_val(out) >= STREAMED_BYTES && cost == Cost::Cheap;
    pieces(out, cost.grain(), |start, out| {
        let Some(first) = out.first() else { return };
        let mut buffer = vec![*first; if streamed { BLOCK } else { 0 }];
        let size = if streamed { BLOCK } else { out.len() };
        // What lies before the first cache line is a part of its own.
        let head = if streamed {
            out.as_ptr().align_offset(64).min(out.len())
        } else {
            0
        };
        let (head, body) = out.split_at_mut(head);
        isa.vectorize(
            #[inline(always)]
            || {
                let mut position = begin(start);
                let parts = std::iter::once(head).chain(body.chunks_mut(size));
                for part in parts.filter(|part| !part.is_empty()) {
                    let target = if streamed {
                        &mut buffer[..part.len()]
                    } else {
                        &mut *part
                    };
                    each(&mut position, target);
                    if streamed {
                        stream::copy(isa, &buffer[..part.len()], part);
                    }
                }
            },
        );
        if streamed {
            stream::fence();
        }
    });
}

#[inline(always)]
fn piece2<A: Copy, B: Copy, U>(
    plan: &Broadcast<2>,
    position: &mut Position<2>,
    x: &[A],
    y: &[B],
    out: &mut [U],
    f: &impl Fn(A, B) -> U,
) {
    let Some(inner) = plan.loops().last() else {
        return;
    };
    let count = out.len();
    match inner.steps {
        [1, 1] => plan.runs(
            position,
            count,
            #[inline(always)]
            |done, [i, j], n| {
                let (x, y) = (&x[i..i + n], &y[j..j + n]);
                let operands = x.iter().zip(y);
                out[done..done + n].iter_mut().zip(operands).for_each(
                    #[inline(always)]
                    |(o, (x, y))| *o = f(*x, *y),
                );
            },
        ),
        [1, _] => plan.runs(
            position,
            count,
            #[inline(always)]
            |done, [i, j], n| {
                let (x, y) = (&x[i..i + n], y[j]);
                out[done..done + n].iter_mut().zip(x).for_each(
                    #[inline(always)]
                    |(o, x)| *o = f(*x, y),
                );
            },
        ),
        _ => plan.runs(
            position,
            count,
            #[inline(always)]
            |done, [i, j], n| {
                let (x, y) = (x[i], &y[j..j + n]);
                out[done..done + n].iter_mut().zip(y).for_each(
                    #[inline(always)]
                    |(o, y)| *o = f(x, *y),
                );
            },
        ),
    }
}
