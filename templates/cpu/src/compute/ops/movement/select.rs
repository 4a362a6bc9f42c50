//! Elements of one of two tensors, by a condition.

use super::{by_width, elements, elements_mut};
use crate::compute::loops::operand::{BroadcastOperand, parts};
use crate::compute::machine::array;
use crate::compute::machine::cost::{self, Cost};
use crate::compute::machine::parallel::for_each_chunk;
use crate::compute::machine::shape::Broadcast;
use crate::compute::machine::simd::Isa;
use crate::compute::machine::workspace::AnyBits;
use std::mem::MaybeUninit;

/// Writes `then` where the condition is true, `otherwise` elsewhere; the three broadcast.
///
/// # Panics
/// Panics if an operand or the result has another length than the plan.
pub fn select<C: AnyBits + Sync>(
    plan: &Broadcast<3>,
    width: usize,
    is_true: impl Fn(C) -> bool + Sync,
    condition: &[C],
    [then, otherwise]: [&[u8]; 2],
    out: &mut [MaybeUninit<u8>],
) {
    by_width!(width, N => {
        let operands = [then, otherwise].map(elements::<u8, N>);
        select_elements(plan, is_true, condition, operands, elements_mut(out));
    });
}

fn select_elements<C: AnyBits + Sync, const N: usize>(
    plan: &Broadcast<3>,
    is_true: impl Fn(C) -> bool + Sync,
    condition: &[C],
    [then, otherwise]: [&[[u8; N]]; 2],
    out: &mut [[MaybeUninit<u8>; N]],
) {
    let lens = [condition.len(), then.len(), otherwise.len()];
    assert_eq!(lens, plan.lens(), "operands differ in length from the plan");
    assert_eq!(
        out.len(),
        plan.len(),
        "the result differs in length from the plan"
    );
    if out.is_empty() {
        return;
    }
    let isa = Isa::current();
    for_each_chunk(out, cost::Cheap.grain(), |start, out| {
        let mut condition = BroadcastOperand::new(plan, 0, condition);
        let mut operands = [(1, then), (2, otherwise)]
            .map(|(index, data)| BroadcastOperand::new(plan, index, data));
        for part in parts(plan, start..start + out.len()) {
            let out = &mut out[part.start - start..part.end - start];
            let [then, otherwise] = operands.each_mut().map(|it| it.read(part.clone()));
            let condition = condition.read(part);
            cost::Cheap.vectorize(
                isa,
                #[inline(always)]
                || {
                    let operands = condition.iter().zip(then.iter().zip(otherwise));
                    // Both are read, so that the loop has no branches.
                    for (out, (condition, (&then, &otherwise))) in out.iter_mut().zip(operands) {
                        let element = if is_true(*condition) { then } else { otherwise };
                        *out = array::map(element, MaybeUninit::new);
                    }
                },
            );
        }
    });
}
