//! Batch normalization, compared with sums in `f64` by coordinates.

use super::*;
use crate::compute::nn::batch_norm::{Channels, moments, normalize, normalize_gradients};

fn shape() -> impl Strategy<Value = (usize, Channels)> {
    (1..6_usize, 1..20_usize, 1..20_usize).prop_map(|(images, channels, inner)| {
        (
            images,
            Channels {
                channels,
                inner,
                count: images * inner,
            },
        )
    })
}

fn close(actual: &[f32], expected: &[f64], what: &str) {
    for (i, (actual, expected)) in actual.iter().zip(expected).enumerate() {
        let error = (f64::from(*actual) - expected).abs();
        assert!(
            error <= 2e-5 * (1.0 + expected.abs()),
            "{what} {i}: {actual}, not {expected}"
        );
    }
}

fn check(images: usize, shape: Channels, seed: usize) {
    let Channels {
        channels,
        inner,
        count,
    } = shape;
    let len = images * channels * inner;
    let numbers = |step: usize, len: usize| -> Vec<f32> {
        (0..len)
            .map(|i| ((i * step + seed) % 101) as f32 * 0.03 - 1.5)
            .collect()
    };
    let (x, dy, scale, offset) = (
        numbers(37, len),
        numbers(53, len),
        numbers(7, channels),
        numbers(11, channels),
    );
    let channel = |i: usize| i / inner % channels;
    let total = |f: &dyn Fn(usize) -> f64| {
        let mut sums = vec![0.0; channels];
        (0..len).for_each(|i| sums[channel(i)] += f(i));
        sums
    };
    let at = |x: &[f32], i: usize| f64::from(x[i]);
    let mean: Vec<f64> = total(&|i| at(&x, i))
        .iter()
        .map(|sum| sum / count as f64)
        .collect();
    let centered = |i: usize| at(&x, i) - mean[channel(i)];
    let variance: Vec<f64> = total(&|i| centered(i).powi(2))
        .iter()
        .map(|sum| sum / count as f64)
        .collect();
    let inverse = |i: usize| (variance[channel(i)] + 1e-3).sqrt().recip();
    let normal: Vec<f64> = (0..len)
        .map(|i| centered(i) * inverse(i) * at(&scale, channel(i)) + at(&offset, channel(i)))
        .collect();
    let (d_offset, d_scale) = (
        total(&|i| at(&dy, i)),
        total(&|i| at(&dy, i) * centered(i) * inverse(i)),
    );
    let dx = |training: f64| -> Vec<f64> {
        let correction = |i: usize| {
            (d_offset[channel(i)] + centered(i) * inverse(i) * d_scale[channel(i)]) / count as f64
        };
        (0..len)
            .map(|i| at(&scale, channel(i)) * inverse(i) * (at(&dy, i) - training * correction(i)))
            .collect()
    };
    on_every_isa(|isa| {
        let found = moments(shape, &x);
        close(&found.mean, &mean, isa);
        close(&found.variance, &variance, isa);
        let mut out = vec![f32::NAN; len];
        normalize(
            shape,
            &x,
            [&found.mean, &found.variance, &scale, &offset],
            1e-3,
            &mut out,
        );
        close(&out, &normal, isa);
        for (is_training, factor) in [(true, 1.0), (false, 0.0)] {
            let parameters = [&found.mean[..], &found.variance, &scale];
            let gradients =
                normalize_gradients(shape, [&dy, &x], parameters, (1e-3, is_training), &mut out);
            close(
                &gradients
                    .scale
                    .iter()
                    .map(|it| it / count as f32)
                    .collect::<Vec<_>>(),
                &d_scale
                    .iter()
                    .map(|it| it / count as f64)
                    .collect::<Vec<_>>(),
                isa,
            );
            close(
                &gradients
                    .offset
                    .iter()
                    .map(|it| it / count as f32)
                    .collect::<Vec<_>>(),
                &d_offset
                    .iter()
                    .map(|it| it / count as f64)
                    .collect::<Vec<_>>(),
                isa,
            );
            close(&out, &dx(factor), isa);
        }
    });
}

proptest! {
    #[test]
    fn batch_normalization_matches_oracle((images, shape) in shape(), seed in 0..1000_usize) {
        check(images, shape, seed);
        let last = Channels { channels: shape.channels, inner: 1, count: shape.count };
        check(shape.count, last, seed);
    }
}

#[test]
fn large_batch_matches_oracle() {
    check(
        3000,
        Channels {
            channels: 37,
            inner: 1,
            count: 3000,
        },
        5,
    );
    check(
        7,
        Channels {
            channels: 3,
            inner: 30_011,
            count: 7 * 30_011,
        },
        9,
    );
}

/// Rows of few channels are computed several at a time.
#[test]
fn few_channels_match_oracle() {
    for channels in [1, 3, 4, 16, 40, 48] {
        let count = 320;
        let shape = Channels {
            channels,
            inner: 1,
            count,
        };
        check(count, shape, channels);
    }
}
