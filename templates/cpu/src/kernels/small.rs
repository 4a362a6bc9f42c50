//! Kernels of integers below 64 bits, and functions that are rare for integers. Operators and comparisons of 8 bits have
//! loops of their own, in which a vector has eight times the elements. Other functions are computed in `i64` and called by a
//! pointer, so that all have one loop.
//!
//! The loops of 8 bits take no more time to compile than those of `i64`, in which a vector has an eighth of the
//! elements.

use super::activation::check_same;
use super::elementwise::{is_result_empty, map_one, map_two, map_two_unconverted};
use super::prelude::*;
use super::relation::write_unless_incompatible;
use crate::compute::nn::activation as f;
use crate::compute::nn::relu;
use crate::compute::relation;
use sp_plugin::kernel::{Kernel, kernels};

/// Functions of one integer: `name: Op(input) -> output in [types] => function`.
macro_rules! unary {
    ($($name:ident: $op:ident($x:ident) -> $y:ident in [$($ty:ident),*] => $f:path;)*) => {
        $(
            #[kernel($op, T = [$($ty),*])]
            fn $name<T: Element + Precision<Compute = i64>>($x: In<'_, T>, $y: Out<'_, T>) -> Result<()> {
                let f: fn(i64) -> i64 = $f;
                map_one($x, $y, f)
            }
        )*

        fn functions() -> Vec<&'static Kernel> {
            kernels![$($name),*]
        }
    };
}

/// Functions of two integers that broadcast: `name: Op in [types] -> result => function`.
macro_rules! binary {
    ($($name:ident: $op:ident in [$($ty:ident),*] -> $result:ident => $f:path;)*) => {
        $(
            #[kernel($op, T = [$($ty),*])]
            fn $name<T: Element + Number>(x: In<'_, T>, y: In<'_, T>, z: Out<'_, $result>) -> Result<()> {
                map_two_unconverted(x, y, z, $f)
            }
        )*

        fn operators() -> Vec<&'static Kernel> {
            kernels![$($name),*]
        }
    };
}

/// Comparisons for equality: `name: Op => function, result for shapes that do not broadcast`.
macro_rules! equalities {
    ($($name:ident: $op:ident => $f:path, $other:expr;)*) => {
        $(
            #[kernel($op, T = [u8, i8])]
            fn $name<T: Element + Number>(
                x: In<'_, T>,
                y: In<'_, T>,
                z: Out<'_, Bool>,
                incompatible_shape_error: bool,
            ) -> Result<()> {
                let other = (!incompatible_shape_error).then_some($other);
                write_unless_incompatible(x, y, z, other, |x, y, z| map_two_unconverted(x, y, z, $f))
            }
        )*

        fn comparisons() -> Vec<&'static Kernel> {
            kernels![$($name),*]
        }
    };
}

/// Gradients of rectifiers: `name: Op in [types] => function`.
macro_rules! gradients {
    ($($name:ident: $op:ident in [$($ty:ident),*] => $f:path;)*) => {
        $(
            #[kernel($op, T = [$($ty),*])]
            fn $name<T: Element + Precision<Compute = i64>>(
                gradients: In<'_, T>,
                features: In<'_, T>,
                backprops: Out<'_, T>,
            ) -> Result<()> {
                check_same((gradients.dims(), "gradients"), (features.dims(), "features"))?;
                let f: fn(i64, i64) -> i64 = $f;
                map_two(cost::Cheap, gradients, features, backprops, f)
            }
        )*

        fn slopes() -> Vec<&'static Kernel> {
            kernels![$($name),*]
        }
    };
}

unary! {
    abs: Abs(x) -> y in [i8, i64] => f::abs;
    neg: Neg(x) -> y in [i8] => arith::neg;
    relu: Relu(features) -> activations in [u8, i8, i32] => relu::relu;
    relu6: Relu6(features) -> activations in [u8, i8, i32, i64] => f::relu6_int;
    round: Round(x) -> y in [i32, i64] => std::convert::identity;
    sign: Sign(x) -> y in [i8, i64] => f::sign;
    square: Square(x) -> y in [u8, i8] => arith::square;
}

binary! {
    add: Add in [u8, i8] -> T => arith::add;
    add_v2: AddV2 in [u8, i8] -> T => arith::add;
    greater: Greater in [u8, i8] -> Bool => relation::greater;
    greater_equal: GreaterEqual in [u8, i8] -> Bool => relation::greater_equal;
    less: Less in [u8, i8] -> Bool => relation::less;
    less_equal: LessEqual in [u8, i8] -> Bool => relation::less_equal;
    maximum: Maximum in [u8, i8] -> T => f::maximum;
    minimum: Minimum in [u8, i8] -> T => f::minimum;
    mul: Mul in [u8, i8, u16, i16, u32, u64] -> T => arith::mul;
    sub: Sub in [u8, i8] -> T => arith::sub;
}

equalities! {
    equal: Equal => relation::equal, false;
    not_equal: NotEqual => relation::not_equal, true;
}

gradients! {
    relu_grad: ReluGrad in [u8, i8, i32] => relu::relu_grad;
    relu6_grad: Relu6Grad in [u8, i8, i32, i64] => f::relu6_grad_int;
}

/// Power of integers: a negative exponent is an error.
#[kernel(Pow, T = [i8, i32, i64])]
fn pow<T: Element + Precision<Compute = i64>>(
    x: In<'_, T>,
    y: In<'_, T>,
    z: Out<'_, T>,
) -> Result<()> {
    if !is_result_empty(&x, &y)? {
        arith::check_exponents(&T::widened(y.data()))?;
    }
    let f: fn(i64, i64) -> i64 = arith::pow_int;
    map_two(cost::Expensive, x, y, z, f)
}

/// Returns the kernels of this file.
pub fn table() -> Vec<&'static Kernel> {
    let mut table = kernels![pow];
    for family in [functions(), operators(), comparisons(), slopes()] {
        table.extend(family);
    }
    table
}
