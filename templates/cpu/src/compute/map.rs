//! Elementwise loops: one or two operands, a function on scalars, all cores, the machine's widest vectors.
//!
//! The function inlines into the loop, so write it without branches where you can; pass functions of `arith`, or closures as
//! `#[inline(always)] |x| ...`. Operands that are repeated cost nothing: no copy is made.

use super::parallel::{Cost, pieces};
use super::shape::Broadcast;
use super::simd::Isa;

/// `out[i] = f(x[i])`.
///
/// # Panics
/// If the lengths differ.
pub fn map1<T: Copy + Sync, U: Send>(x: &[T], out: &mut [U], f: impl Fn(T) -> U + Sync) {
    map1_at(Cost::Cheap, x, out, f);
}

/// [`map1`] with a function of this cost.
///
/// # Panics
/// If the lengths differ.
pub fn map1_at<T: Copy + Sync, U: Send>(
    cost: Cost,
    x: &[T],
    out: &mut [U],
    f: impl Fn(T) -> U + Sync,
) {
    assert_eq!(x.len(), out.len(), "operand and result differ in length");
    let isa = Isa::current();
    pieces(out, cost.grain(), |start, out| {
        let x = &x[start..start + out.len()];
        isa.vectorize(
            #[inline(always)]
            || {
                out.iter_mut().zip(x).for_each(
                    #[inline(always)]
                    |(o, x)| *o = f(*x),
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
    U: Send,
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
    U: Send,
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
    let isa = Isa::current();
    pieces(out, cost.grain(), |start, out| {
        isa.vectorize(
            #[inline(always)]
            || piece2(plan, start, x, y, out, &f),
        );
    });
}

#[inline(always)]
fn piece2<A: Copy, B: Copy, U>(
    plan: &Broadcast<2>,
    start: usize,
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
            start,
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
            start,
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
            start,
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
