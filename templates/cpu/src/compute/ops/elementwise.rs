//! The table of elementwise ops: a row has all that an op needs to be computed in every type, and in fused nodes.
//!
//! ```text
//! Op(operands) -> result: Cost, step(f32), activation(floats) { class(types) => function, .. }
//! ```
//!
//! - Rows are grouped by operands: `One`, `Two` that broadcast, `TwoOfOneShape`.
//! - [`Cost`](crate::compute::machine::cost::Cost) is that of a float. Complex numbers, divisions and powers are `Expensive`.
//! - An op with `step(f32)` can be in a tree of ops that is computed in one pass (`compute/ops/steps`); one with
//!   `activation(floats)` can follow a product and a bias (`compute/ops/nn/epilogue.rs`). Both compute the first function.
//! - A class is a family of element types with one kind of loop; `elementwise_kernel!` has the classes. A function that is
//!   called by a pointer shares its loop with others. One that is inlined is vector code.
//!
//! | class | types, if the row has none | function |
//! |---|---|---|
//! | `floats` | half precision, `f32`, `f64` | inlined |
//! | `numbers` | floats and `i64` | inlined |
//! | `quotients` | floats | inlined |
//! | `divisions`, `powers` | those of the row | called; a divisor of 0 of an integer, or a negative exponent, is an error |
//! | `in_place` | numbers | inlined; the result is in the first operand's buffer, if nobody else uses it |
//! | `called` | floats | called |
//! | `in_f64` | those of the row | of `f64`, called |
//! | `integers` | those of the row | One, TwoOfOneShape: of `i64`, called. Two: of the type itself, inlined |
//! | `wide_integers` | those of the row | of `i64`, called |
//! | `complex` | `Complex64` | called |
//! | `parts` | `Complex64` | called; the result is `f32` |
//! | `properties`, `orders` | floats, numbers | inlined; the result is a truth value |
//! | `small_orders` | those of the row | of the type itself, inlined; the result is a truth value |
//! | `equalities`, `small_equalities`, `complex_equalities` | truth values and numbers; those of the row; `Complex64` | as above |
//! | `none` | | the kernel is elsewhere, since the op has a list of inputs |
//!
//! The consumers of the table are macros, so that each loop has its function inlined: `elementwise_functions!`,
//! `elementwise_kernels!`, and that of activations. An author's plugin adds rows of its own ops by
//! [`elementwise!`](crate::elementwise).

/// Calls the macro in brackets with the tokens after it, and with all rows.
macro_rules! elementwise_ops {
    ([$($consumer:tt)+] $($first:tt)*) => { $($consumer)+! { $($first)*
        One {
            Abs(x) -> y: Cheap, step(f32) { floats => f::abs, integers(i8, i64) => f::abs }
            Acos(x) -> y: Moderate { floats => Elementary::arc_cosine }
            Acosh(x) -> y: Expensive { floats => Special::inverse_cosh }
            Angle(input) -> output: Expensive { parts => c::angle }
            Asin(x) -> y: Moderate { floats => Elementary::arc_sine }
            Asinh(x) -> y: Expensive { floats => Special::inverse_sinh }
            Atan(x) -> y: Moderate { floats => Elementary::arc_tangent }
            Atanh(x) -> y: Expensive { floats => Special::inverse_tanh }
            BesselI0(x) -> y: Expensive { in_f64(F16, f32, f64) => bessel::i0 }
            BesselI0e(x) -> y: Expensive { in_f64(F16, f32, f64) => bessel::i0e }
            BesselI1(x) -> y: Expensive { in_f64(F16, f32, f64) => bessel::i1 }
            BesselI1e(x) -> y: Expensive { in_f64(F16, f32, f64) => bessel::i1e }
            BesselJ0(x) -> y: Expensive { in_f64(F16, f32, f64) => bessel::j0 }
            BesselJ1(x) -> y: Expensive { in_f64(F16, f32, f64) => bessel::j1 }
            BesselK0(x) -> y: Expensive { in_f64(F16, f32, f64) => bessel::k0 }
            BesselK0e(x) -> y: Expensive { in_f64(F16, f32, f64) => bessel::k0e }
            BesselK1(x) -> y: Expensive { in_f64(F16, f32, f64) => bessel::k1 }
            BesselK1e(x) -> y: Expensive { in_f64(F16, f32, f64) => bessel::k1e }
            BesselY0(x) -> y: Expensive { in_f64(F16, f32, f64) => bessel::y0 }
            BesselY1(x) -> y: Expensive { in_f64(F16, f32, f64) => bessel::y1 }
            Ceil(x) -> y: Cheap { floats => Elementary::round_up }
            ComplexAbs(x) -> y: Expensive { parts => c::abs }
            Conj(input) -> output: Expensive { complex => c::conj }
            Cos(x) -> y: Tabulated { floats => Elementary::cosine, complex => c::cos }
            Cosh(x) -> y: Expensive { called => Elementary::hyperbolic_cosine, complex => c::cosh }
            Dawsn(x) -> y: Expensive { in_f64(f32, f64) => integrals::dawson }
            Digamma(x) -> y: Expensive { called => Special::digamma }
            Elu(features) -> activations: Moderate, activation(floats) { floats => f::elu }
            Erf(x) -> y: Moderate, step(f32) { floats => Elementary::error_function }
            Erfc(x) -> y: Moderate { floats => Elementary::error_complement }
            Erfinv(x) -> y: Expensive { floats => Special::inverse_erf }
            Exp(x) -> y: Moderate, step(f32) { floats => Float::exp, complex => c::exp }
            Expint(x) -> y: Expensive { in_f64(f32, f64) => integrals::exponential }
            Expm1(x) -> y: Moderate, step(f32) { floats => Elementary::exp_minus_one, complex => c::exp_minus_one }
            Floor(x) -> y: Cheap { floats => Elementary::round_down }
            FresnelCos(x) -> y: Expensive { in_f64(f32, f64) => integrals::fresnel_cosine }
            FresnelSin(x) -> y: Expensive { in_f64(f32, f64) => integrals::fresnel_sine }
            Imag(input) -> output: Expensive { parts => c::imag }
            Inv(x) -> y: Cheap { floats => f::reciprocal, complex => c::reciprocal }
            IsFinite(x) -> y: Cheap { properties => relation::is_finite }
            IsInf(x) -> y: Cheap { properties => relation::is_infinite }
            IsNan(x) -> y: Cheap { properties => relation::is_nan }
            Lgamma(x) -> y: Expensive { called => Special::log_gamma }
            Log(x) -> y: Moderate, step(f32) { floats => Elementary::natural_log, complex => c::ln }
            Log1p(x) -> y: Moderate, step(f32) { floats => Elementary::ln_plus_one, complex => c::ln_plus_one }
            Ndtri(x) -> y: Expensive { floats => Special::normal_quantile }
            Neg(x) -> y: Cheap, step(f32) { numbers => arith::neg, integers(i8) => arith::neg, complex => c::neg }
            Real(input) -> output: Expensive { parts => c::real }
            Reciprocal(x) -> y: Cheap, step(f32) { floats => f::reciprocal, complex => c::reciprocal }
            Relu(features) -> activations: Cheap, step(f32), activation(floats) {
                numbers => relu::relu, integers(u8, i8, i32) => relu::relu
            }
            Relu6(features) -> activations: Cheap, activation(floats) {
                floats => f::relu6, integers(u8, i8, i32, i64) => f::relu6_int
            }
            Rint(x) -> y: Cheap { floats => Elementary::round_even }
            Round(x) -> y: Cheap { floats => Elementary::round_even, integers(i32, i64) => std::convert::identity }
            Rsqrt(x) -> y: Cheap, step(f32) { floats => f::rsqrt, complex => c::rsqrt }
            Selu(features) -> activations: Moderate { floats => f::selu }
            Sigmoid(x) -> y: Moderate, step(f32), activation(floats) {
                floats => Elementary::logistic, complex => c::sigmoid
            }
            Sign(x) -> y: Cheap, step(f32) { floats => f::sign, integers(i8, i64) => f::sign, complex => c::sign }
            Sin(x) -> y: Tabulated { floats => Elementary::sine, complex => c::sin }
            Sinh(x) -> y: Expensive { called => Elementary::hyperbolic_sine, complex => c::sinh }
            Softplus(features) -> activations: Moderate, step(f32) { floats => f::softplus }
            Softsign(features) -> activations: Cheap { floats => f::softsign }
            Spence(x) -> y: Expensive { in_f64(f32, f64) => integrals::spence }
            Sqrt(x) -> y: Cheap, step(f32) { floats => arith::sqrt, complex => c::sqrt }
            Square(x) -> y: Cheap, step(f32) {
                numbers => arith::square, integers(u8, i8) => arith::square, complex => c::square
            }
            Tan(x) -> y: Tabulated { floats => Elementary::tangent, complex => c::tan }
            Tanh(x) -> y: Moderate, step(f32), activation(floats) {
                floats => Elementary::hyperbolic_tangent, complex => c::tanh
            }
        }
        Two {
            Add(x, y) -> z: Cheap { in_place => arith::add, integers(u8, i8) => arith::add, complex => c::add }
            AddV2(x, y) -> z: Cheap, step(f32) {
                numbers => arith::add, integers(u8, i8) => arith::add, complex => c::add
            }
            Atan2(y, x) -> z: Moderate { floats => Special::angle }
            BitwiseAnd(x, y) -> z: Cheap { integers(u8, i8, i32, i64) => Integer::and }
            BitwiseOr(x, y) -> z: Cheap { integers(u8, i8, i32, i64) => Integer::or }
            BitwiseXor(x, y) -> z: Cheap { integers(u8, i8, i32, i64) => Integer::xor }
            Div(x, y) -> z: Cheap {
                in_place(F16, Bf16, f32, f64) => arith::real_div,
                divisions(u8, i8, u16, i16, u32, u64, i64) => Divide::div, complex => c::div
            }
            DivNoNan(x, y) -> z: Cheap, step(f32) { floats => arith::div_no_nan, complex => c::div_no_nan }
            Equal(x, y) -> z: Cheap {
                equalities => relation::equal, small_equalities(u8, i8) => relation::equal,
                complex_equalities => relation::equal
            }
            FloorDiv(x, y) -> z: Cheap {
                quotients => Divide::floor_div, divisions(u8, i8, i64) => Divide::floor_div
            }
            FloorMod(x, y) -> z: Expensive { divisions(F16, Bf16, f32, f64, u8, i8, i64) => Divide::floor_mod }
            Greater(x, y) -> z: Cheap { orders => relation::greater, small_orders(u8, i8) => relation::greater }
            GreaterEqual(x, y) -> z: Cheap {
                orders => relation::greater_equal, small_orders(u8, i8) => relation::greater_equal
            }
            Igamma(a, x) -> z: Expensive { in_f64(f32, f64) => incomplete::lower_gamma }
            Igammac(a, x) -> z: Expensive { in_f64(f32, f64) => incomplete::upper_gamma }
            LeftShift(x, y) -> z: Cheap { wide_integers(u8, i8, i32, i64) => bits::shift_left::<T> }
            Less(x, y) -> z: Cheap { orders => relation::less, small_orders(u8, i8) => relation::less }
            LessEqual(x, y) -> z: Cheap { orders => relation::less_equal, small_orders(u8, i8) => relation::less_equal }
            Maximum(x, y) -> z: Cheap, step(f32) { numbers => f::maximum, integers(u8, i8) => f::maximum }
            Minimum(x, y) -> z: Cheap, step(f32) { numbers => f::minimum, integers(u8, i8) => f::minimum }
            Mod(x, y) -> z: Expensive { divisions(f32, f64, i64) => Divide::truncate_mod }
            Mul(x, y) -> z: Cheap, step(f32) {
                numbers => arith::mul, integers(u8, i8, u16, i16, u32, u64) => arith::mul, complex => c::mul
            }
            MulNoNan(x, y) -> z: Cheap { floats => f::mul_no_nan, complex => c::mul_no_nan }
            NextAfter(x1, x2) -> output: Expensive { floats(f32, f64) => Special::next_after }
            Polygamma(a, x) -> z: Expensive { in_f64(f32, f64) => incomplete::polygamma }
            NotEqual(x, y) -> z: Cheap {
                equalities => relation::not_equal, small_equalities(u8, i8) => relation::not_equal,
                complex_equalities => relation::not_equal
            }
            Pow(x, y) -> z: Expensive, step(f32) {
                floats => arith::pow, powers(i8, i32, i64) => arith::pow_int, complex => c::pow
            }
            RealDiv(x, y) -> z: Cheap, step(f32) { floats => arith::real_div, complex => c::div }
            RightShift(x, y) -> z: Cheap { wide_integers(u8, i8, i32, i64) => bits::shift_right::<T> }
            SquaredDifference(x, y) -> z: Cheap, step(f32) {
                numbers => f::squared_difference, complex => c::squared_difference
            }
            Sub(x, y) -> z: Cheap, step(f32) {
                numbers => arith::sub, integers(u8, i8) => arith::sub, complex => c::sub
            }
            TruncateDiv(x, y) -> z: Expensive {
                divisions(F16, Bf16, f32, f64, u8, i8, i32, i64) => Divide::truncate_div
            }
            TruncateMod(x, y) -> z: Expensive { divisions(f32, f64, i64) => Divide::truncate_mod }
            Xdivy(x, y) -> z: Cheap { floats => f::xdivy, complex => c::xdivy }
            Xlog1py(x, y) -> z: Expensive { floats => f::xlog1py }
            Xlogy(x, y) -> z: Expensive { floats => f::xlogy, complex => c::xlogy }
            Zeta(x, q) -> z: Expensive { in_f64(f32, f64) => incomplete::zeta }
        }
        TwoOfOneShape {
            AddN(x, y) -> sum: Cheap, step(f32) { none => arith::add }
            EluGrad(gradients, outputs) -> backprops: Cheap { floats => f::elu_grad }
            InvGrad(y, dy) -> z: Cheap { floats => f::reciprocal_grad, complex => c::reciprocal_grad }
            ReciprocalGrad(y, dy) -> z: Cheap { floats => f::reciprocal_grad, complex => c::reciprocal_grad }
            Relu6Grad(gradients, features) -> backprops: Cheap {
                floats => f::relu6_grad, integers(u8, i8, i32, i64) => f::relu6_grad_int
            }
            ReluGrad(gradients, features) -> backprops: Cheap, step(f32) {
                numbers => relu::relu_grad, integers(u8, i8, i32) => relu::relu_grad
            }
            RsqrtGrad(y, dy) -> z: Cheap, step(f32) { floats => f::rsqrt_grad, complex => c::rsqrt_grad }
            SeluGrad(gradients, outputs) -> backprops: Cheap { floats => f::selu_grad }
            SigmoidGrad(y, dy) -> z: Cheap, step(f32) { floats => f::sigmoid_grad, complex => c::sigmoid_grad }
            SoftplusGrad(gradients, features) -> backprops: Expensive { floats => f::softplus_grad }
            SoftsignGrad(gradients, features) -> backprops: Cheap { floats => f::softsign_grad }
            SqrtGrad(y, dy) -> z: Cheap, step(f32) { floats => f::sqrt_grad, complex => c::sqrt_grad }
            TanhGrad(y, dy) -> z: Cheap, step(f32) { floats => f::tanh_grad, complex => c::tanh_grad }
        }
    } };
}

pub(crate) use elementwise_ops;
