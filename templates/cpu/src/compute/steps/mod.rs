//! Steps of elementwise functions, which are computed in one pass over memory: in blocks that fit in the first cache.
//!
//! A block has 1024 elements, and each function or pair of functions has one loop: operands and results stay in the
//! first cache. Loops of whole expressions would save its reads and writes, and need a compiler at run time.

mod merge;
mod pair;
mod plan;
mod run;

use super::cost::{self, Cost};
use super::elementary::Elementary;
use super::nn::{activation, relu};
use super::simd::Isa;
use super::{arith, arith::Float};

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

/// Functions by their ops: one operand, two that broadcast, two of one shape, each with its cost.
macro_rules! functions {
    (
        One { $($one:ident, $one_cost:ident => $f:path;)* }
        $($variant:ident { $($two:ident, $two_cost:ident => $g:path;)* })*
    ) => {
        impl Function {
            /// Returns the function that an op computes, or `None` if there is none.
            pub fn of_op(op: &str) -> Option<Self> {
                let (op, grain, body) = match op {
                    $(stringify!($one) => (stringify!($one), cost::$one_cost.grain(), Body::One(|isa, x, out| cost::$one_cost.vectorize(isa, #[inline(always)] || {
                        for (out, x) in out.iter_mut().zip(x) {
                            *out = $f(*x);
                        }
                    }))),)*
                    $($(stringify!($two) => (stringify!($two), cost::$two_cost.grain(), Body::$variant(|isa, [x, y], out| cost::$two_cost.vectorize(isa, #[inline(always)] || {
                        for (out, (x, y)) in out.iter_mut().zip(x.iter().zip(y)) {
                            *out = $g(*x, *y);
                        }
                    }))),)*)*
                    _ => return None,
                };
                Some(Self { op, body, grain })
            }

            /// The names of the ops that have a function.
            pub const OPS: &'static [&'static str] = &[$(stringify!($one),)* $($(stringify!($two),)*)*];
        }
    };
}

functions! {
    One {
        Abs, Cheap => activation::abs;
        Erf, Moderate => Elementary::error_function;
        Exp, Moderate => Float::exp;
        Expm1, Moderate => Elementary::exp_minus_one;
        Log, Moderate => Elementary::natural_log;
        Log1p, Moderate => Elementary::ln_plus_one;
        Neg, Cheap => arith::neg;
        Reciprocal, Cheap => activation::reciprocal;
        Relu, Cheap => relu::relu;
        Rsqrt, Cheap => activation::rsqrt;
        Sigmoid, Moderate => Elementary::logistic;
        Sign, Cheap => activation::sign;
        Softplus, Moderate => activation::softplus;
        Sqrt, Cheap => arith::sqrt;
        Square, Cheap => arith::square;
        Tanh, Moderate => Elementary::hyperbolic_tangent;
    }
    Two {
        AddV2, Cheap => arith::add;
        DivNoNan, Cheap => arith::div_no_nan;
        Maximum, Cheap => activation::maximum;
        Minimum, Cheap => activation::minimum;
        Mul, Cheap => arith::mul;
        Pow, Expensive => arith::pow;
        RealDiv, Cheap => arith::real_div;
        SquaredDifference, Cheap => activation::squared_difference;
        Sub, Cheap => arith::sub;
    }
    TwoOfOneShape {
        AddN, Cheap => arith::add;
        ReluGrad, Cheap => relu::relu_grad;
        RsqrtGrad, Cheap => activation::rsqrt_grad;
        SigmoidGrad, Cheap => activation::sigmoid_grad;
        SqrtGrad, Cheap => activation::sqrt_grad;
        TanhGrad, Cheap => activation::tanh_grad;
    }
}
