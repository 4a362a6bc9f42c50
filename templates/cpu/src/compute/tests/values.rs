//! Bits, limits and cross products, compared with plain formulas.

use crate::compute::bits::{shift_left, shift_right};
use crate::compute::values::{clip, cross, l2_loss};

#[test]
fn shifts_limit_the_distance() {
    let left = [0, 1, 31, 32, -1, i32::MAX].map(|by| shift_left::<i32>(1, by.into()) as i32);
    assert_eq!(left, [1, 2, i32::MIN, i32::MIN, 1, i32::MIN]);
    let right = [0, 1, 63, 64, -1].map(|by| shift_right::<i64>(-8, by));
    assert_eq!(right, [-8, -4, -1, -1, -8]);
    assert_eq!(
        [0, 7, 8, 255].map(|by| shift_right::<u8>(129, by)),
        [129, 1, 1, 1]
    );
}

#[test]
fn nan_is_no_limit_and_stays() {
    let nan = f32::NAN;
    let limited = |least: &[f32], most: &[f32]| {
        let mut out = [1.0, 2.0, 3.0, nan];
        clip(least, most, &mut out);
        out.map(f32::to_bits)
    };
    let bits = |it: [f32; 4]| it.map(f32::to_bits);
    assert_eq!(limited(&[1.5], &[2.5]), bits([1.5, 2.0, 2.5, nan]));
    assert_eq!(limited(&[2.5], &[1.5]), bits([2.5, 2.5, 2.5, nan]));
    assert_eq!(limited(&[nan], &[2.0]), bits([1.0, 2.0, 2.0, nan]));
    assert_eq!(
        limited(&[0.0, 3.0, 3.0, 3.0], &[nan]),
        bits([1.0, 3.0, 3.0, nan])
    );
}

#[test]
fn cross_products_are_those_of_unit_vectors() {
    let (x, y, z) = ([1, 0, 0], [0, 1, 0], [0, 0, 1]);
    let (a, b) = ([x, y, z, y].concat(), [y, z, x, x].concat());
    let mut out = [9_i64; 12];
    cross(&a, &b, &mut out);
    assert_eq!(out.to_vec(), [z, x, y, [0, 0, -1]].concat());
}

#[test]
fn l2_loss_has_each_element_once() {
    for len in [0, 1, 63, 64, 65, 513, 70_001] {
        let x: Vec<f64> = (0..len).map(f64::from).collect();
        let expected: f64 = x.iter().map(|x| x * x).sum();
        assert_eq!(l2_loss(&x), expected / 2.0, "{len}");
    }
}
