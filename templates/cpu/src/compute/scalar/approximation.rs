//! Approximations of elementary functions of `f32`, without branches, so that loops over them are vectorized.
//!
//! They use `mul_add`: one instruction in the code of every level but the baseline of x86-64, where it is a call. So they
//! give the same bits on all levels. Their coefficients minimize the largest relative error.

/// The larger and the smaller part of `ln(2)`; products of the larger one with small integers are exact.
const LN_2_PARTS: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];

/// Returns the polynomial with these coefficients, the highest first.
#[inline(always)]
pub(in crate::compute) fn polynomial<const N: usize>(coefficients: [f32; N], x: f32) -> f32 {
    let mut sum = coefficients[0];
    for coefficient in &coefficients[1..] {
        sum = sum.mul_add(x, *coefficient);
    }
    sum
}

/// Returns `r` and `n` with `x = r + n ln(2)`, for `x` within some 100.
#[inline(always)]
fn reduce_to_power_of_two(x: f32) -> (f32, i32) {
    const SHIFT: f32 = 12_582_912.0; // 1.5 * 2^23: adding it rounds to an integer in the low bits
    let shifted = x.mul_add(std::f32::consts::LOG2_E, SHIFT);
    let n = shifted - SHIFT;
    let r = n.mul_add(-LN_2_PARTS[1], n.mul_add(-LN_2_PARTS[0], x));
    let n = (shifted.to_bits() as i32).wrapping_sub(SHIFT.to_bits() as i32);
    (r, n)
}

/// Returns `e^r - 1` of the remainder of [`reduce_to_power_of_two`].
#[inline(always)]
fn exp_remainder(r: f32) -> f32 {
    let coefficients = [
        0.001_395_060_2,
        0.008_368_953,
        0.041_666_206,
        0.166_665_18,
        0.5,
    ];
    polynomial(coefficients, r).mul_add(r * r, r)
}

/// Returns `e^x` with an error of 1 unit in the last place, for `x` from -104 to 89; some number for NaN.
#[inline(always)]
fn bounded_exp(x: f32) -> f32 {
    let (r, n) = reduce_to_power_of_two(x);
    // Neither power overflows, and the product of both may be subnormal or infinite.
    (exp_remainder(r) + 1.0) * power_of_two(n >> 1) * power_of_two(n.wrapping_sub(n >> 1))
}

/// Returns `e^x` as [`bounded_exp`], for `x` from -87 to 88 only; NaN for NaN.
#[inline(always)]
fn normal_exp(x: f32) -> f32 {
    let (r, n) = reduce_to_power_of_two(x);
    (exp_remainder(r) + 1.0) * power_of_two(n)
}

/// Returns the smaller number; NaN for NaN. `f32::min` returns the limit, with more instructions.
#[inline(always)]
fn at_most(x: f32, limit: f32) -> f32 {
    if x > limit { limit } else { x }
}

/// Returns `2^n`, for `n` from -126 to 127.
#[inline(always)]
fn power_of_two(n: i32) -> f32 {
    f32::from_bits((n.wrapping_add(127) << 23) as u32)
}

/// Returns `e^x`. Underflow is gradual.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    let power = bounded_exp(x.clamp(-104.0, 89.0));
    if x.is_nan() { x } else { power }
}

/// Returns the hyperbolic tangent with an error of 1.5 units in the last place.
#[inline(always)]
pub fn hyperbolic_tangent(x: f32) -> f32 {
    let square = x * x;
    let coefficients = [
        -0.005_717_044_7,
        0.020_650_586,
        -0.053_743_497,
        0.133_314_91,
        -0.333_332_84,
    ];
    let near = (x * square).mul_add(polynomial(coefficients, square), x);
    let power = normal_exp(at_most(2.0 * x.abs(), 40.0));
    let far = (1.0 - 2.0 / (power + 1.0)).copysign(x);
    if x.abs() < 0.625 { near } else { far }
}

/// Returns `1 / (1 + e^-x)` with an error of 2 units in the last place. Underflow is gradual.
#[inline(always)]
pub fn logistic(x: f32) -> f32 {
    let power = bounded_exp((-x.abs()).max(-104.0));
    let logistic = if x < 0.0 { power } else { 1.0 } / (1.0 + power);
    if x.is_nan() { x } else { logistic }
}

/// Returns `e^x - 1` with an error of 2 units in the last place.
#[inline(always)]
pub fn exp_minus_one(x: f32) -> f32 {
    let (r, n) = reduce_to_power_of_two(x.clamp(-18.0, 89.0));
    let p = exp_remainder(r);
    // 2^n may overflow where the result does not.
    let half = power_of_two(n - 1);
    let result = 2.0 * p.mul_add(half, half - 0.5);
    let result = if x == 0.0 { x } else { result };
    if x.is_nan() { x } else { result }
}

/// Returns the error function with an error of 2 units in the last place, for `x` from -0.9 to 0.9.
#[inline(always)]
fn near_error(x: f32) -> f32 {
    let coefficients = [
        -0.000_611_129_4,
        0.005_016_228_6,
        -0.026_781_958,
        0.112_822_3,
        -0.376_125_34,
        0.128_379_15,
    ];
    x.mul_add(polynomial(coefficients, x * x), x)
}

/// Returns the error function with an error of 2 units in the last place.
#[inline(always)]
pub fn error_function(x: f32) -> f32 {
    let (near, magnitude) = (near_error(x), x.abs());
    // The logarithm of 1 - erf is close to a polynomial.
    let coefficients = [
        -0.000_197_181_65,
        0.003_055_606_7,
        -0.022_277_085,
        0.104_037_35,
        0.637_059_75,
        1.127_749_6,
        0.000_177_495_5,
    ];
    let logarithm = -polynomial(coefficients, at_most(magnitude, 4.0));
    let far = (1.0 - normal_exp(logarithm)).copysign(x);
    if magnitude < 0.9 { near } else { far }
}

/// Returns 1 minus the error function with an error of 5 units in the last place. Underflow is gradual.
#[inline(always)]
pub fn error_complement(x: f32) -> f32 {
    // From 10.1 on the result is 0.
    let magnitude = x.abs().min(10.5);
    // The complement is e^-x^2 times a function that is close to a polynomial of t.
    let t = 1.0 / magnitude.mul_add(0.4, 1.0);
    let coefficients = [
        0.059_855_69,
        -0.219_251_27,
        0.226_207_16,
        -0.053_801_24,
        0.165_049_08,
        0.161_750_52,
        0.208_942_96,
        0.225_579_8,
        0.225_678_6,
    ];
    let factor = polynomial(coefficients, t) * t;
    let square = magnitude * magnitude;
    // What the square has lost to rounding.
    let lost = magnitude.mul_add(magnitude, -square);
    let power = bounded_exp((-square).max(-104.0));
    let positive = factor.mul_add(-lost, factor) * power;
    let far = if x < 0.0 { 2.0 - positive } else { positive };
    let complement = if x.abs() < 0.5 {
        1.0 - near_error(x)
    } else {
        far
    };
    if x.is_nan() { x } else { complement }
}

/// Returns the logarithm of `1 + x` with an error of 2 units in the last place.
#[inline(always)]
pub fn ln_plus_one(x: f32) -> f32 {
    let sum = 1.0 + x;
    // What the sum has lost to rounding.
    let lost = (x - (sum - 1.0)) / sum;
    let ln = ln(sum);
    let corrected = if ln.is_finite() { ln + lost } else { ln };
    if sum == 1.0 { x } else { corrected }
}

/// Returns the logarithm with an error of 1 unit in the last place.
#[inline(always)]
pub fn ln(x: f32) -> f32 {
    const LEAST: f32 = std::f32::consts::FRAC_1_SQRT_2;
    let is_small = x < f32::MIN_POSITIVE;
    let scaled = if is_small { x * 8_388_608.0 } else { x };
    // scaled = (1 + z) * 2^e, with 1 + z from sqrt(1/2) to sqrt(2)
    let bits = scaled
        .to_bits()
        .wrapping_add(1.0_f32.to_bits() - LEAST.to_bits());
    let e = (bits >> 23) as i32 - if is_small { 127 + 23 } else { 127 };
    let z = f32::from_bits((bits & 0x007F_FFFF) + LEAST.to_bits()) - 1.0;
    let e = e as f32;
    let coefficients = [
        0.069_151_47,
        -0.117_896_96,
        0.118_730_165,
        -0.123_843_7,
        0.142_186_55,
        -0.166_692_5,
        0.200_022_27,
        -0.249_999_87,
        0.333_333_1,
    ];
    let square = z * z;
    let cubic = polynomial(coefficients, z) * (z * square);
    let low = square.mul_add(-0.5, e.mul_add(LN_2_PARTS[1], cubic));
    let ln = e.mul_add(LN_2_PARTS[0], z + low);
    let ln = if x < f32::INFINITY { ln } else { x };
    let ln = if x >= 0.0 { ln } else { f32::NAN };
    if x == 0.0 { f32::NEG_INFINITY } else { ln }
}
