//! Steps of elementwise functions, which are computed in one pass over memory: in blocks that fit in the first cache.
//!
//! A block has 1024 elements, and each function or pair of functions has one loop: operands and results stay in the
//! first cache. Loops of whole expressions would save its reads and writes, and need a compiler at run time.

mod merge;
mod pair;
mod plan;
mod run;

use crate::compute::machine::simd::Isa;
use crate::compute::ops::elementwise::elementwise_ops;
use crate::compute::ops::nn::{activation as f, relu};
use crate::compute::scalar::arith::{self, Float};
use crate::compute::scalar::elementary::Elementary;

pub use plan::Steps;

/// The elements of a block. Eight blocks take 32 KiB.
const BLOCK: usize = 1024;

/// The function that an op computes.
#[derive(Clone, Copy)]
pub struct Function {
    /// The name of the op.
    pub op: &'static str,
    /// The function.
    pub body: Body,
    /// The minimal number of elements in a task that computes this function only.
    pub grain: usize,
}

/// A function of blocks. It writes all elements of the last one, which has the length of the others.
#[derive(Clone, Copy)]
pub enum Body {
    /// A function of one operand.
    One(fn(Isa, &[f32], &mut [f32])),
    /// A function of two operands that broadcast.
    Two(fn(Isa, [&[f32]; 2], &mut [f32])),
    /// A function of two operands of one shape.
    TwoOfOneShape(fn(Isa, [&[f32]; 2], &mut [f32])),
}

/// Evaluates to the functions of the rows that are steps, in order: `[Function; N]`.
#[doc(hidden)]
#[macro_export]
macro_rules! elementwise_functions {
    (@body One $cost:ident $ty:ty, $f:path) => {
        $crate::compute::steps::Body::One(|isa, x: &[$ty], out| {
            let cost = $crate::compute::cost::$cost;
            $crate::compute::Cost::vectorize(cost, isa, #[inline(always)] || {
                for (out, x) in out.iter_mut().zip(x) {
                    *out = $f(*x);
                }
            })
        })
    };
    (@body $operands:ident $cost:ident $ty:ty, $f:path) => {
        $crate::compute::steps::Body::$operands(|isa, [x, y]: [&[$ty]; 2], out| {
            let cost = $crate::compute::cost::$cost;
            $crate::compute::Cost::vectorize(cost, isa, #[inline(always)] || {
                for (out, (x, y)) in out.iter_mut().zip(x.iter().zip(y)) {
                    *out = $f(*x, *y);
                }
            })
        })
    };
    ($($operands:ident { $($op:ident $names:tt -> $result:ident: $cost:ident
        $(, step($step:ty))? $(, activation($activation:ident))?
        { $class:ident $(($($ty:ty),+))? => $f:path $(, $($others:tt)*)? }
    )* })*) => {
        [$($($($crate::compute::steps::Function {
            op: stringify!($op),
            body: $crate::elementwise_functions!(@body $operands $cost $step, $f),
            grain: <$crate::compute::cost::$cost as $crate::compute::Cost>::GRAIN,
        },)?)*)*]
    };
}

/// The functions of the table.
const FUNCTIONS: &[Function] = &elementwise_ops!([crate::elementwise_functions]);

impl Function {
    /// The names of the ops in the table that have a function.
    pub const OPS: &'static [&'static str] = &{
        let mut names = [""; FUNCTIONS.len()];
        let mut index = 0;
        while index < names.len() {
            names[index] = FUNCTIONS[index].op;
            index += 1;
        }
        names
    };

    /// Returns the function of an op of the table, or `None` if there is none.
    pub fn of_op(op: &str) -> Option<Self> {
        FUNCTIONS.iter().find(|it| it.op == op).copied()
    }
}
