//! Numbers that are not finite, numbers that are nearly equal, and the bins between boundaries.

use crate::compute::loops::cast::Cast;
use crate::compute::machine::error::{Error, Result};
use crate::compute::scalar::arith::{Float, Number, greatest, least};

/// The kinds of numbers in a tensor that are not finite.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct NotFinite {
    /// True if there is a NaN.
    pub has_nan: bool,
    /// True if there is an infinity above 0.
    pub has_infinity: bool,
    /// True if there is an infinity below 0.
    pub has_negative_infinity: bool,
}

impl NotFinite {
    /// Finds the kinds.
    pub fn find<T: Float>(x: &[T]) -> Self {
        let mut found = Self::default();
        // A difference of a finite number with itself is 0, any other one is NaN.
        let not_finite = x.iter().filter(|x| x.minus(**x) != T::ZERO);
        for x in not_finite {
            found.has_infinity |= *x > T::ZERO;
            found.has_negative_infinity |= *x < T::ZERO;
            found.has_nan |= x.partial_cmp(&T::ZERO).is_none();
        }
        found
    }

    /// Returns the names of the kinds, or `None` if all numbers are finite. The infinities are one kind unless `signed`.
    pub fn names(self, signed: bool) -> Option<String> {
        let infinities = match signed {
            true => [
                (self.has_negative_infinity, "-Inf"),
                (self.has_infinity, "+Inf"),
            ],
            false => [
                (self.has_negative_infinity || self.has_infinity, "Inf"),
                (false, ""),
            ],
        };
        let kinds = infinities.into_iter().chain([(self.has_nan, "NaN")]);
        let names: Vec<&str> = kinds.filter(|it| it.0).map(|it| it.1).collect();
        match &names[..] {
            [] => None,
            [first, second, third] => Some(format!("{first}, {second}, and {third}")),
            names => Some(names.join(" and ")),
        }
    }
}

/// Returns true if the distance of two numbers is at most `tolerance`.
#[inline(always)]
pub fn is_near<T: Number>(x: T, y: T, tolerance: T) -> bool {
    let distance = x.minus(y);
    let distance = if distance < T::ZERO {
        distance.negated()
    } else {
        distance
    };
    distance <= tolerance
}

/// Returns the number of boundaries, in ascending order, that are not above `x`; all of them for NaN.
#[inline(always)]
pub fn bucket<T: PartialOrd + Copy>(boundaries: &[T], x: T) -> usize {
    boundaries.partition_point(|it| x.partial_cmp(it) != Some(std::cmp::Ordering::Less))
}

/// Counts the values in bins of one width over a range; those outside are in the first and last bin.
///
/// # Errors
/// Returns an error if a value is NaN, or if the range is empty.
pub fn histogram<T: Number + Cast<f64>, C: Number>(
    values: &[T],
    range: [T; 2],
    out: &mut [C],
) -> Result<()> {
    let [first, end] = range;
    if first.partial_cmp(&end) != Some(std::cmp::Ordering::Less) {
        let (first, end) = (first.cast(), end.cast());
        let message = format!("value_range [{first}, {end}] must be in ascending order");
        return Err(Error::Invalid(message));
    }
    if out.len() > 1 && values.iter().any(|x| x.partial_cmp(x).is_none()) {
        return Err(Error::Invalid("values must not be NaN".into()));
    }
    // The limits are divided first, since their difference may overflow. A bin's limit is in the bin that TensorFlow finds.
    let count = out.len() as f64;
    let step = end.cast() / count - first.cast() / count;
    out.fill(C::ZERO);
    for x in values {
        let inside = greatest(least(*x, end), first);
        let bin = ((inside.cast() - first.cast()) / step) as usize;
        let last = out.len() - 1;
        out[bin.min(last)] = out[bin.min(last)].plus(C::ONE);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn kinds_of_numbers_that_are_not_finite_are_named() {
        let (inf, nan) = (f32::INFINITY, f32::NAN);
        let names = |x: &[f32], signed| NotFinite::find(x).names(signed);
        assert_eq!(names(&[1.0, -0.0, f32::MAX, f32::MIN_POSITIVE], true), None);
        assert_eq!(names(&[nan], false).as_deref(), Some("NaN"));
        assert_eq!(
            names(&[-inf, inf, nan], false).as_deref(),
            Some("Inf and NaN")
        );
        assert_eq!(names(&[inf, -inf], true).as_deref(), Some("-Inf and +Inf"));
        assert_eq!(
            names(&[nan, inf, -inf], true).as_deref(),
            Some("-Inf, +Inf, and NaN")
        );
    }

    #[test]
    fn nearly_equal_numbers_have_a_small_distance() {
        assert!(is_near(1.0, 1.0, 0.0) && is_near(1.0, 1.5, 0.5) && !is_near(1.5, 1.0, 0.25));
        assert!(!is_near(f64::INFINITY, f64::INFINITY, 1.0) && !is_near(f64::NAN, f64::NAN, 1.0));
    }

    proptest! {
        #[test]
        fn buckets_and_bins_match_oracle(x in prop::collection::vec(-9..9_i64, 0..40), mut edges in prop::collection::vec(-9..9_i64, 0..6), first in -5..5_i64, width in 1..4_i64, bins in 1..6_usize) {
            edges.sort_unstable();
            for x in &x {
                prop_assert_eq!(bucket(&edges, *x), edges.iter().filter(|it| *it <= x).count());
            }
            // Limits that are multiples of the number of bins, so that the width of a bin is exact.
            let first = first * bins as i64;
            let mut found = vec![7_i64; bins];
            histogram(&x, [first, first + width * bins as i64], &mut found).unwrap();
            for (bin, found) in found.iter().enumerate() {
                let is_in = |x: &&i64| ((**x - first).div_euclid(width)).clamp(0, bins as i64 - 1) == bin as i64;
                prop_assert_eq!(*found, x.iter().filter(is_in).count() as i64);
            }
        }
    }

    #[test]
    fn bins_reject_nan_and_empty_ranges() {
        let mut bins = [0_i64; 2];
        assert!(histogram(&[f32::NAN], [0.0, 1.0], &mut bins).is_err());
        assert!(histogram(&[0.5], [1.0, 1.0], &mut bins).is_err());
        assert!(histogram(&[0.5], [f32::NAN, 1.0], &mut bins).is_err());
        histogram(
            &[f32::INFINITY, f32::NEG_INFINITY, 0.5],
            [0.0, 1.0],
            &mut bins,
        )
        .unwrap();
        assert_eq!(bins, [1, 2]);
        histogram(&[f32::NAN], [0.0, 1.0], &mut bins[..1]).unwrap();
        assert_eq!(bins, [1, 2]);
    }

    #[test]
    fn bins_have_rounded_limits() {
        let mut bins = [0_i64; 6];
        // The step of 8/3 is rounded up, so that 9 is below the third step.
        histogram(&[9, 8, 17], [1, 17], &mut bins).unwrap();
        assert_eq!(bins, [0, 0, 2, 0, 0, 1]);
    }

    #[test]
    fn limits_of_bins_do_not_overflow() {
        let mut bins = [0_i64; 2];
        histogram(
            &[i32::MIN, -1, 0, i32::MAX],
            [i32::MIN, i32::MAX],
            &mut bins,
        )
        .unwrap();
        assert_eq!(bins, [2, 2]);
    }

    #[test]
    fn buckets_of_nan_are_the_last() {
        assert_eq!(bucket(&[0.0, 1.0], f64::NAN), 2);
    }
}
