//! Numbers of the gamma distribution, by the method of Marsaglia and Tsang (2000), in the order in which TensorFlow draws
//! them. They are computed in `f64` for all types.

use super::{Normal, Philox, RESERVED, Sample};
use crate::compute::machine::parallel::for_each_row_chunk;

/// The number of numbers in a task.
const GRAIN: usize = 64;

/// Writes numbers of these shape parameters: row after row, each with a number for each parameter. Their scale is 1.
///
/// # Panics
/// Panics if `out` does not consist of rows.
pub fn gamma<T: Send>(generator: Philox, alphas: &[f64], out: &mut [T], round: fn(f64) -> T) {
    assert_eq!(out.len() % alphas.len(), 0, "a part of a row");
    let rows = out.len() / alphas.len();
    for_each_row_chunk(out, 1, GRAIN, |first, out| {
        for (at, out) in (first..).zip(out) {
            let (row, column) = (at / alphas.len(), at % alphas.len());
            // All numbers of a parameter have counters before those of the next one.
            let number = (column * rows + row) as u64;
            let mut source = Source::new(generator.skip(number.wrapping_mul(RESERVED)));
            *out = round(source.gamma(alphas[column]));
        }
    });
}

/// Numbers of one counter, the last of which is used first.
#[derive(Default)]
struct Group {
    numbers: [f64; 2],
    left: usize,
}

impl Group {
    fn next(&mut self, draw: impl FnOnce() -> [f64; 2]) -> f64 {
        if self.left == 0 {
            (self.numbers, self.left) = (draw(), 2);
        }
        self.left -= 1;
        self.numbers[self.left]
    }
}

/// The uniform and the normal numbers of which one number is made. Both use the words of the same counters.
struct Source {
    generator: Philox,
    uniforms: Group,
    normals: Group,
}

impl Source {
    fn new(generator: Philox) -> Self {
        Self {
            generator,
            uniforms: Group::default(),
            normals: Group::default(),
        }
    }

    fn uniform(&mut self) -> f64 {
        let generator = &mut self.generator;
        self.uniforms.next(|| f64::group(generator.next_words()))
    }

    fn normal(&mut self) -> f64 {
        let generator = &mut self.generator;
        self.normals.next(|| f64::normals(generator.next_words()))
    }

    /// Returns a number; NaN if the parameter is negative or NaN.
    fn gamma(&mut self, alpha: f64) -> f64 {
        if alpha == 1.0 {
            return -(-self.uniform()).ln_1p();
        }
        if alpha.is_nan() || alpha < 0.0 {
            // The method rejects all numbers, or almost all.
            return f64::NAN;
        }
        if alpha > 1.0 {
            return self.gamma_above_third(alpha - 1.0 / 3.0);
        }
        let number = self.gamma_above_third(alpha + 2.0 / 3.0);
        number * self.uniform().powf(1.0 / alpha)
    }

    /// Returns a number whose parameter is `d` and a third, which is at least 1.
    fn gamma_above_third(&mut self, d: f64) -> f64 {
        let c = 1.0 / 3.0 / d.sqrt();
        loop {
            let x = self.normal();
            let v = 1.0 + c * x;
            if v <= 0.0 {
                continue;
            }
            let (v, u) = (v * v * v, self.uniform());
            let is_inside = u < 1.0 - 0.0331 * (x * x) * (x * x);
            if is_inside || u.ln() < 0.5 * x * x + d * (1.0 - v + v.ln()) {
                return d * v;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GENERATOR: Philox = Philox {
        key: 0x0123_4567_89AB_CDEF,
        counter: 7 << 64 | 5,
    };

    /// Compares with the numbers that TensorFlow 2.18 draws on the CPU.
    #[test]
    fn numbers_match_tensorflow() {
        let mut out = [0.0; 6];
        gamma(GENERATOR, &[2.5, 0.3], &mut out, |it| it as f32);
        let expected = [
            2.110_719,
            0.002_117_877_4,
            1.041_258_6,
            0.250_864_87,
            2.139_047_9,
            2.781_111_2,
        ];
        assert_eq!(out, expected);
        gamma(GENERATOR, &[1.0], &mut out, |it| it as f32);
        assert_eq!(out[..3], [0.302_195_34, 0.731_583_2, 0.290_647_33]);
    }

    #[test]
    fn every_parameter_has_a_number() {
        let alphas = [0.0, f64::INFINITY, f64::NAN, -0.666_666_7, 1e-300, 1e300];
        let mut out = [1.0; 6];
        gamma(GENERATOR, &alphas, &mut out, |it| it);
        assert_eq!(out[..2], [0.0, f64::INFINITY]);
        assert!(out[2].is_nan() && out[3].is_nan());
        assert!(out[4] >= 0.0 && out[5] > 1e299);
    }
}
