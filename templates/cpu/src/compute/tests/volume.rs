//! Convolutions and pools of volumes, compared with loops by coordinates.

use super::*;
use crate::compute::nn::conv::{Convolution, backprop_filter, backprop_input, convolve};
use crate::compute::nn::pool::{Pool, average_pool, average_pool_grad, max_pool, max_pool_3d_grad};
use crate::compute::nn::window::{Padding, Slide, Windows};
use crate::compute::oracle;

fn slide() -> impl Strategy<Value = Slide> {
    let padding = prop_oneof![
        Just(Padding::Same),
        Just(Padding::Valid),
        Just(Padding::Explicit(1, 0))
    ];
    (1..3_usize, 1..3_usize, padding).prop_map(|(stride, dilation, padding)| Slide {
        stride,
        dilation,
        padding,
    })
}

type Case = ([usize; 5], [usize; 3], [Slide; 3]);

fn case() -> impl Strategy<Value = Case> {
    let volume = (0..3_usize, 1..6_usize, 1..6_usize, 1..6_usize, 1..4_usize);
    let size = (1..4_usize, 1..4_usize, 1..4_usize);
    (volume, size, (slide(), slide(), slide())).prop_map(
        |((n, d, h, w, c), (z, y, x), (planes, rows, columns))| {
            ([n, d, h, w, c], [z, y, x], [planes, rows, columns])
        },
    )
}

/// Returns the index in the input of each element of each window that is not padding, with the index of the element in
/// the window and that of the window.
fn elements((input, size, slides): Case) -> Option<Vec<(usize, usize, usize)>> {
    let windows = |i: usize| Windows::new(input[i + 1], size[i], slides[i]).ok();
    let windows = [windows(0)?, windows(1)?, windows(2)?];
    let outputs = windows.map(|it| it.output);
    let mut all = Vec::new();
    for (o, at) in oracle::coordinates(&[input[0], outputs[0], outputs[1], outputs[2]])
        .iter()
        .enumerate()
    {
        for (k, element) in oracle::coordinates(&size).iter().enumerate() {
            let index = |i: usize| windows[i].index(at[i + 1], element[i]);
            if let (Some(z), Some(y), Some(x)) = (index(0), index(1), index(2)) {
                let pixel = oracle::operand_index(&input[..4], &[at[0], z, y, x]);
                all.push((pixel, k, o));
            }
        }
    }
    Some(all)
}

/// Returns small integers, whose sums are exact in any order.
fn small(len: usize, step: usize) -> Vec<f64> {
    (0..len).map(|i| (i * step % 11) as f64 - 5.0).collect()
}

fn check_convolution(case: Case, filters: usize) {
    let ((input, [z, y, x], slides), Some(elements)) = (case, elements(case)) else {
        return;
    };
    let channels = input[4];
    let plan = Convolution::new_3d(input, [z, y, x, channels, filters], slides).unwrap();
    let weights = small(z * y * x * channels * filters, 3);
    let (volume, dy) = (small(len(&input), 7), small(len(&plan.output_3d()), 5));
    let (mut out, mut dx, mut df) = (
        vec![0.0; dy.len()],
        vec![0.0; volume.len()],
        vec![0.0; weights.len()],
    );
    for (pixel, element, window) in elements {
        for at in oracle::coordinates(&[channels, filters]) {
            let i = pixel * channels + at[0];
            let k = (element * channels + at[0]) * filters + at[1];
            let o = window * filters + at[1];
            out[o] += volume[i] * weights[k];
            dx[i] += dy[o] * weights[k];
            df[k] += dy[o] * volume[i];
        }
    }
    on_every_isa(|isa| {
        let mut found = vec![f64::NAN; out.len()];
        convolve(&plan, &volume, &weights, &mut found);
        assert_same(isa, &found, &out);
        let mut found = vec![f64::NAN; dx.len()];
        backprop_input(&plan, &weights, &dy, &mut found);
        assert_same(isa, &found, &dx);
        let mut found = vec![f64::NAN; df.len()];
        backprop_filter(&plan, &volume, &dy, &mut found);
        assert_same(isa, &found, &df);
    });
}

fn check_pools(case: Case) {
    let ((input, size, slides), Some(elements)) = (case, elements(case)) else {
        return;
    };
    let plan = Pool::new_3d(input, size, slides).unwrap();
    let channels = input[4];
    let (x, dy) = (small(len(&input), 7), small(len(&plan.output_3d()), 64));
    let (mut largest, mut sums) = (vec![f64::NEG_INFINITY; dy.len()], vec![0.0; dy.len()]);
    let mut counts = vec![0.0; dy.len()];
    let all: Vec<(usize, usize)> = elements
        .iter()
        .flat_map(|(pixel, _, window)| {
            (0..channels).map(move |c| (pixel * channels + c, window * channels + c))
        })
        .collect();
    for (i, o) in &all {
        largest[*o] = f64::max(largest[*o], x[*i]);
        sums[*o] += x[*i];
        counts[*o] += 1.0;
    }
    let average: Vec<f64> = sums.iter().zip(&counts).map(|(x, n)| x / n).collect();
    let (mut of_largest, mut of_average) = (vec![0.0; x.len()], vec![0.0; x.len()]);
    for (i, o) in &all {
        of_largest[*i] += if x[*i] == largest[*o] { dy[*o] } else { 0.0 };
        of_average[*i] += dy[*o] * (1.0 / counts[*o]);
    }
    on_every_isa(|isa| {
        let (mut y, mut dx) = (vec![9.0; dy.len()], vec![9.0; x.len()]);
        max_pool(&plan, &x, &mut y);
        assert_same(isa, &y, &largest);
        average_pool(&plan, &x, &mut y);
        assert_same(isa, &y, &average);
        max_pool_3d_grad(&plan, [&x, &largest], &dy, &mut dx);
        assert_same(isa, &dx, &of_largest);
        average_pool_grad(&plan, &dy, &mut dx);
        for (found, expected) in dx.iter().zip(&of_average) {
            let error = (found - expected).abs();
            assert!(
                error < 1e-9 * (1.0 + expected.abs()),
                "{isa}: {found}, not {expected}"
            );
        }
    });
}

/// The volume has several blocks of windows, of which some end within a plane.
#[test]
fn large_convolution_of_volumes_matches_oracle() {
    let slide = |stride, dilation| Slide {
        stride,
        dilation,
        padding: Padding::Same,
    };
    let slides = [slide(1, 2), slide(2, 1), slide(1, 1)];
    check_convolution(([2, 7, 19, 17, 6], [3, 2, 3], slides), 20);
}

proptest! {
    #[test]
    fn convolutions_of_volumes_match_oracle(case in case(), filters in 1..4_usize) {
        check_convolution(case, filters);
    }

    #[test]
    fn pools_of_volumes_match_oracle(case in case()) {
        // A window of padding only has no average.
        let is_padded = case.2.iter().any(|it| it.dilation > 1 || matches!(it.padding, Padding::Explicit(..)));
        if !is_padded {
            check_pools(case);
        }
    }
}

#[test]
fn elements_near_the_largest_share_its_gradient() {
    let plan = Pool::new_3d([1, 1, 1, 3, 1], [1, 1, 3], [Slide::NONE; 3]).unwrap();
    let mut dx = [9.0; 3];
    max_pool_3d_grad(
        &plan,
        [&[1.0, 1.000_001, 0.99], &[1.000_001]],
        &[2.0],
        &mut dx,
    );
    assert_eq!(dx, [2.0, 2.0, 0.0]);
}
