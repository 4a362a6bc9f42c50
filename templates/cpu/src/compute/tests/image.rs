//! Resized images, crops, projections, colors and normalized channels, compared with formulas by coordinates.

use super::*;
use crate::compute::image::Interpolation;
use crate::compute::image::color::{
    adjust_contrast, hsv_from_rgb, map_colors, rgb_from_hsv, rotate_hue, saturate,
};
use crate::compute::image::crop::{Crop, crop_and_resize};
use crate::compute::image::projection::{FillMode, Projection, project};
use crate::compute::image::resize::{
    Alignment, Resize, bilinear, bilinear_grad, nearest, nearest_grad,
};
use crate::compute::nn::lrn::{Normalization, normalize, normalize_grad};
use crate::compute::oracle;

/// Returns numbers whose differences are not equal.
fn pixels(dims: &[usize]) -> Vec<f32> {
    (0..len(dims)).map(|i| (i * 37 % 23) as f32).collect()
}

fn assert_close(found: &[f32], expected: &[f32], tolerance: f32) {
    assert_eq!(found.len(), expected.len());
    for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
        let error = (found - expected).abs();
        assert!(
            error <= tolerance * (1.0 + expected.abs()),
            "{index}: {found}, not {expected}"
        );
    }
}

/// Returns the position in the original image of an element of the resized one.
fn position(
    alignment: Alignment,
    index: usize,
    [original, resized]: [usize; 2],
    is_nearest: bool,
) -> f32 {
    let scale = match alignment.align_corners && resized > 1 {
        true => (original - 1) as f32 / (resized - 1) as f32,
        false => original as f32 / resized as f32,
    };
    match (alignment.half_pixel_centers, is_nearest) {
        (true, true) => (index as f32 + 0.5) * scale,
        (true, false) => (index as f32 + 0.5) * scale - 0.5,
        (false, _) => index as f32 * scale,
    }
}

/// Returns the weights of the elements of a dimension for an element of the resized one.
fn weights(alignment: Alignment, index: usize, sizes: [usize; 2], is_nearest: bool) -> Vec<f32> {
    let at = position(alignment, index, sizes, is_nearest);
    let last = sizes[0] - 1;
    let mut weights = vec![0.0; sizes[0]];
    if is_nearest {
        let nearest = if alignment.align_corners {
            at.round()
        } else {
            at.floor()
        };
        weights[(nearest as usize).min(last)] = 1.0;
        return weights;
    }
    let weight = at - at.floor();
    weights[(at.floor().max(0.0) as usize).min(last)] += 1.0 - weight;
    weights[(at.ceil().max(0.0) as usize).min(last)] += weight;
    weights
}

proptest! {
    #[test]
    fn resized_images_match_oracle(
        (n, h, w, c) in (1..3_usize, 1..7_usize, 1..7_usize, 1..6_usize),
        (rows, columns) in (1..9_usize, 1..9_usize),
        kind in 0..3_usize,
        is_nearest in any::<bool>(),
    ) {
        let alignment = Alignment { align_corners: kind == 1, half_pixel_centers: kind == 2 };
        let plan = Resize::new([n, h, w, c], [rows, columns], alignment);
        let (x, dy) = (pixels(&plan.original()), pixels(&plan.resized()));
        let (mut y, mut dx) = (vec![0.0; dy.len()], vec![0.0; x.len()]);
        for (o, at) in oracle::coordinates(&plan.resized()).iter().enumerate() {
            let by_row = weights(alignment, at[1], [h, rows], is_nearest);
            let by_column = weights(alignment, at[2], [w, columns], is_nearest);
            for from in oracle::coordinates(&[h, w]) {
                let i = oracle::operand_index(&plan.original(), &[at[0], from[0], from[1], at[3]]);
                let weight = by_row[from[0]] * by_column[from[1]];
                y[o] += weight * x[i];
                dx[i] += weight * dy[o];
            }
        }
        let (mut found, mut found_dx) = (vec![9.0; y.len()], vec![9.0; x.len()]);
        if is_nearest {
            nearest(&plan, &x, &mut found);
            nearest_grad(&plan, &dy, &mut found_dx);
        } else {
            bilinear(&plan, &x, &mut found);
            bilinear_grad(&plan, &dy, &mut found_dx);
        }
        assert_close(&found, &y, 1e-5);
        assert_close(&found_dx, &dx, 1e-5);
    }

    #[test]
    fn colors_of_hue_saturation_and_value_are_the_original_ones(color in [0.0..1.0_f64, 0.0..1.0_f64, 0.0..1.0_f64]) {
        let [hue, saturation, value] = hsv_from_rgb(color);
        assert!([hue, saturation, value].iter().all(|it| (0.0..=1.0).contains(it)));
        for found in [rgb_from_hsv([hue, saturation, value]), saturate(1.0)(color), rotate_hue(1.0)(color)] {
            assert!(found.iter().zip(&color).all(|(x, y)| (x - y).abs() < 1e-12), "{color:?} {found:?}");
        }
        let gray = saturate(0.0)(color);
        assert!(gray.iter().all(|it| (it - value).abs() < 1e-12));
    }

    #[test]
    fn normalized_channels_match_oracle(radius in 0..5_usize, channels in 1..9_usize) {
        let it = Normalization { depth_radius: radius, bias: 2.0, alpha: 0.5, beta: 0.75 };
        let (x, dy) = (pixels(&[3, channels]), pixels(&[channels, 3]));
        let base = |x: &[f32], pixel: usize, channel: usize| {
            let near = (0..channels).filter(|other| other.abs_diff(channel) <= radius);
            2.0 + 0.5 * near.map(|other| x[pixel * channels + other].powi(2)).sum::<f32>()
        };
        let forward = |x: &[f32]| -> Vec<f32> {
            (0..x.len()).map(|i| x[i] * base(x, i / channels, i % channels).powf(-0.75)).collect()
        };
        let (mut y, mut dx) = (vec![9.0; x.len()], vec![9.0; x.len()]);
        normalize(&it, channels, &x, &mut y);
        assert_close(&y, &forward(&x), 1e-5);
        normalize_grad(&it, channels, [&dy, &x, &y], &mut dx);
        // The derivative of the result, written out for each pair of channels.
        let slope = |i: usize, j: usize| {
            let base = base(&x, j / channels, j % channels);
            let is_near = i / channels == j / channels && i.abs_diff(j) <= radius;
            let around = if is_near { -0.75 * x[j] * x[i] * base.powf(-1.75) } else { 0.0 };
            around + if i == j { base.powf(-0.75) } else { 0.0 }
        };
        let expected: Vec<f32> = (0..x.len()).map(|i| (0..x.len()).map(|j| slope(i, j) * dy[j]).sum()).collect();
        assert_close(&dx, &expected, 1e-4);
    }
}

/// Writes normalized channels, and the gradient of numbers that are its own gradient.
fn normalize_twice(it: &Normalization, channels: usize, x: &[f32]) -> [Vec<f32>; 2] {
    let (mut y, mut dx) = (vec![9.0; x.len()], vec![9.0; x.len()]);
    normalize(it, channels, x, &mut y);
    normalize_grad(it, channels, [x, x, &y], &mut dx);
    [y, dx]
}

#[test]
fn normalized_channels_do_not_depend_on_isa_or_division_of_work() {
    let it = Normalization {
        depth_radius: 2,
        bias: 0.0,
        alpha: 1e-3,
        beta: 0.75,
    };
    for channels in [1, 3, 64] {
        let mut x = pixels(&[40_000 / channels, channels]);
        let special = [
            f32::NAN,
            f32::INFINITY,
            1e-30,
            1e25,
            -f32::INFINITY,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
        ];
        x[7_000..7_010].copy_from_slice(&special);
        let each = x
            .chunks(channels)
            .map(|x| normalize_twice(&it, channels, x));
        let mut expected = [vec![], vec![]];
        for results in each {
            expected
                .iter_mut()
                .zip(results)
                .for_each(|(all, some)| all.extend(some));
        }
        on_every_isa(|isa| {
            let found = normalize_twice(&it, channels, &x);
            found
                .iter()
                .zip(&expected)
                .for_each(|(found, expected)| assert_same(isa, found, expected));
        });
    }
}

#[test]
fn normalized_channels_are_within_units_in_the_last_place() {
    let x: Vec<f32> = (0..100_000).map(|i| f32::from_bits(i * 42_000)).collect();
    for (bias, beta) in [
        (0.0, 0.75),
        (1.0, -0.5),
        (-2.0, 1.0),
        (1.0, f32::INFINITY),
        (0.0, f32::NAN),
        (2.0, 0.0),
    ] {
        let it = Normalization {
            depth_radius: usize::MAX,
            bias,
            alpha: 0.5,
            beta,
        };
        let mut found = vec![9.0; x.len()];
        normalize(&it, 1, &x, &mut found);
        for (x, found) in x.iter().zip(found) {
            let expected = x * (bias + 0.5 * (x * x)).powf(-beta);
            let is_near = found.to_bits().abs_diff(expected.to_bits()) <= 2;
            assert!(
                is_near || found.is_nan() && expected.is_nan(),
                "{x:e}^{beta}: {found:e}, not {expected:e}"
            );
        }
    }
}

#[test]
fn crops_match_oracle() {
    for channels in [1, 2, 3, 4, 9] {
        assert_crops(channels);
    }
}

#[test]
fn nearest_crops_have_infinite_elements_and_negative_zeros() {
    let x = [f32::INFINITY, -0.0, f32::NEG_INFINITY, 1.0];
    let plan = Crop {
        images: [1, 2, 2, 1],
        size: [2, 2],
        boxes: &[0.0, 0.0, 1.0, 1.0],
        indices: &[0],
        interpolation: Interpolation::Nearest,
        outside: 0.0,
    };
    let mut found = [9.0; 4];
    crop_and_resize(&plan, &x, &mut found);
    assert_eq!(found.map(f32::to_bits), x.map(f32::to_bits));
}

fn assert_crops(channels: usize) {
    let images = [2, 4, 5, channels];
    let x = pixels(&images);
    let boxes = [0.0, 0.0, 1.0, 1.0, 0.2, 0.9, 0.8, 0.1, -0.5, 0.3, 1.5, 0.3];
    for (size, interpolation) in [
        ([4, 5], Interpolation::Bilinear),
        ([3, 7], Interpolation::Bilinear),
        ([1, 1], Interpolation::Nearest),
        ([5, 2], Interpolation::Nearest),
    ] {
        let plan = Crop {
            images,
            size,
            boxes: &boxes,
            indices: &[1, 0, 1],
            interpolation,
            outside: -1.0,
        };
        let mut found = vec![9.0; len(&plan.output())];
        crop_and_resize(&plan, &x, &mut found);
        let place = |part: usize, axis: usize, index: usize| {
            let edges = [boxes[part * 4 + axis], boxes[part * 4 + axis + 2]];
            let share = match size[axis] {
                1 => 0.5,
                count => index as f32 / (count - 1) as f32,
            };
            (edges[0] + (edges[1] - edges[0]) * share) * (images[axis + 1] - 1) as f32
        };
        for (found, at) in found.iter().zip(oracle::coordinates(&plan.output())) {
            let (row, column) = (place(at[0], 0, at[1]), place(at[0], 1, at[2]));
            let is_inside = (0.0..=3.0).contains(&row) && (0.0..=4.0).contains(&column);
            let image = plan.indices[at[0]] as usize;
            let near = |row: f32, column: f32| {
                let (row, column) = (row as usize, column as usize);
                x[oracle::operand_index(&images, &[image, row.min(3), column.min(4), at[3]])]
            };
            let (y, z) = (row - row.floor(), column - column.floor());
            let expected = match (is_inside, interpolation) {
                (false, _) => -1.0,
                (_, Interpolation::Nearest) => near(row.round(), column.round()),
                _ => {
                    (1.0 - y) * ((1.0 - z) * near(row, column) + z * near(row, column + 1.0))
                        + y * ((1.0 - z) * near(row + 1.0, column)
                            + z * near(row + 1.0, column + 1.0))
                }
            };
            assert!(
                (found - expected).abs() < 1e-4,
                "{at:?}: {found}, not {expected}"
            );
        }
    }
}

/// Returns a row of 4 elements that is shifted by `by`, with 2 elements before and after it.
fn shifted(fill_mode: FillMode, by: f32, interpolation: Interpolation) -> Vec<f32> {
    let plan = Projection {
        images: [1, 1, 4, 1],
        size: [1, 8],
        transforms: &[1.0, 0.0, by - 2.0, 0.0, 1.0, 0.0, 0.0, 0.0],
        interpolation,
        fill_mode,
        fill_value: 9.0,
    };
    let mut out = vec![0.0; 8];
    project(&plan, &[1.0, 2.0, 3.0, 4.0], &mut out);
    out
}

#[test]
fn projections_fill_outside_of_the_image() {
    let nearest = |fill_mode| shifted(fill_mode, 0.0, Interpolation::Nearest);
    assert_eq!(
        nearest(FillMode::Constant),
        [9.0, 9.0, 1.0, 2.0, 3.0, 4.0, 9.0, 9.0]
    );
    assert_eq!(
        nearest(FillMode::Nearest),
        [1.0, 1.0, 1.0, 2.0, 3.0, 4.0, 4.0, 4.0]
    );
    assert_eq!(
        nearest(FillMode::Reflect),
        [2.0, 1.0, 1.0, 2.0, 3.0, 4.0, 4.0, 3.0]
    );
    assert_eq!(
        nearest(FillMode::Wrap),
        [3.0, 4.0, 1.0, 2.0, 3.0, 4.0, 1.0, 2.0]
    );
    let between = shifted(FillMode::Constant, 0.25, Interpolation::Bilinear);
    assert_eq!(between, [9.0, 7.0, 1.25, 2.25, 3.25, 5.25, 9.0, 9.0]);
}

#[test]
fn projection_without_scale_is_the_constant() {
    let transforms = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, -1.0, 0.0];
    let plan = Projection {
        images: [1, 2, 2, 1],
        size: [1, 2],
        transforms: &transforms,
        interpolation: Interpolation::Nearest,
        fill_mode: FillMode::Reflect,
        fill_value: 7_u8,
    };
    let mut out = [0; 2];
    project(&plan, &[1, 2, 3, 4], &mut out);
    assert_eq!(out, [1, 7]);
}

#[test]
fn contrast_multiplies_distances_to_the_average_of_a_channel() {
    let x = [1.0, 10.0, 3.0, 30.0, 5.0, 0.0, 7.0, 2.0];
    let mut out = [0.0; 8];
    adjust_contrast([2, 2, 2], 2.0, &x, &mut out);
    assert_eq!(out, [0.0, 0.0, 4.0, 40.0, 4.0, -1.0, 8.0, 3.0]);
}

#[test]
fn colors_match_known_ones() {
    let mut out = [0.0; 9];
    let x = [1.0, 0.0, 0.0, 0.0, 0.5, 0.5, 0.25, 0.25, 0.25];
    map_colors(&x, &mut out, hsv_from_rgb);
    assert_eq!(out, [0.0, 1.0, 1.0, 0.5, 1.0, 0.5, 0.0, 0.0, 0.25]);
}
