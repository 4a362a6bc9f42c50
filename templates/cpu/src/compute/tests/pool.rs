//! Pools, softmax and cross entropy, compared with loops by coordinates.

use super::*;
use crate::compute::nn::pool::{Pool, average_pool, average_pool_grad, max_pool, max_pool_grad};
use crate::compute::nn::softmax::{softmax, softmax_cross_entropy};
use crate::compute::nn::window::{Padding, Slide, Windows};
use crate::compute::oracle;

fn case() -> impl Strategy<Value = ([usize; 4], [usize; 2], [Slide; 2])> {
    let padding = || {
        prop_oneof![
            Just(Padding::Same),
            Just(Padding::Valid),
            Just(Padding::Explicit(1, 0))
        ]
    };
    let slide = move || {
        (1..4_usize, padding()).prop_map(|(stride, padding)| Slide {
            stride,
            dilation: 1,
            padding,
        })
    };
    let image = (0..3_usize, 1..10_usize, 1..10_usize, 0..70_usize);
    (image, (2..4_usize, 2..4_usize), (slide(), slide()))
        .prop_map(|((n, h, w, c), (y, x), (rows, columns))| ([n, h, w, c], [y, x], [rows, columns]))
}

fn check((input, size, slides): ([usize; 4], [usize; 2], [Slide; 2])) {
    let Ok(plan) = Pool::new(input, size, slides) else {
        return;
    };
    let rows = Windows::new(input[1], size[0], slides[0]).unwrap();
    let columns = Windows::new(input[2], size[1], slides[1]).unwrap();
    let x: Vec<f64> = (0..len(&input))
        .map(|i| (i * 7919 % 23) as f64 - 11.0)
        .collect();
    let dy: Vec<f64> = (0..len(&plan.output()))
        .map(|i| (i * 31 % 17) as f64 * 64.0)
        .collect();
    let (mut largest, mut average) = (dy.clone(), dy.clone());
    let (mut of_largest, mut of_average) = (vec![0.0; x.len()], vec![0.0; x.len()]);
    for (o, at) in oracle::coordinates(&plan.output()).iter().enumerate() {
        let elements: Vec<usize> = oracle::coordinates(&size)
            .iter()
            .filter_map(|k| {
                Some([
                    at[0],
                    rows.index(at[1], k[0])?,
                    columns.index(at[2], k[1])?,
                    at[3],
                ])
            })
            .map(|at| {
                at.iter()
                    .zip(&input)
                    .fold(0, |index, (at, dim)| index * dim + at)
            })
            .collect();
        let first = elements.iter().fold(
            elements[0],
            |best, it| if x[*it] > x[best] { *it } else { best },
        );
        largest[o] = x[first];
        of_largest[first] += dy[o];
        average[o] = elements.iter().map(|it| x[*it]).sum::<f64>() / elements.len() as f64;
        elements
            .iter()
            .for_each(|it| of_average[*it] += dy[o] * (1.0 / elements.len() as f64));
    }
    on_every_isa(|isa| {
        let (mut y, mut dx) = (vec![9.0; dy.len()], vec![9.0; x.len()]);
        max_pool(&plan, &x, &mut y);
        assert_same(isa, &y, &largest);
        average_pool(&plan, &x, &mut y);
        assert_same(isa, &y, &average);
        max_pool_grad(&plan, &x, &dy, &mut dx);
        assert_same(isa, &dx, &of_largest);
        average_pool_grad(&plan, &dy, &mut dx);
        for (found, expected) in dx.iter().zip(&of_average) {
            assert!(
                (found - expected).abs() < 1e-9 * (1.0 + expected),
                "{isa}: {found}, not {expected}"
            );
        }
    });
}

/// Slides along the rows and columns of this stride and padding.
fn slides(stride: usize, padding: Padding) -> [Slide; 2] {
    [Slide {
        stride,
        dilation: 1,
        padding,
    }; 2]
}

#[test]
fn pools_of_several_tasks_match_oracle() {
    for stride in [1, 2, 3] {
        check(([2, 70, 70, 9], [3, 3], slides(stride, Padding::Same)));
    }
}

#[test]
fn nan_is_the_result_of_its_windows_only() {
    for (channels, stride) in [(1, 1), (3, 1), (3, 2), (9, 2), (40, 1), (40, 3)] {
        let (input, slides) = ([2, 7, 7, channels], slides(stride, Padding::Same));
        let plan = Pool::new(input, [3, 2], slides).unwrap();
        let [rows, columns] =
            [(7, 3), (7, 2)].map(|(input, size)| Windows::new(input, size, slides[0]).unwrap());
        let mut x = vec![1_f32; len(&input)];
        let (row, column, channel) = (4, 3, channels - 1);
        x[(row * 7 + column) * channels + channel] = f32::NAN;
        let has_nan = |at: &Vec<usize>| {
            let is_in = |windows: &Windows, o, index| {
                (0..windows.size).any(|k| windows.index(o, k) == Some(index))
            };
            at[0] == 0
                && is_in(&rows, at[1], row)
                && is_in(&columns, at[2], column)
                && at[3] == channel
        };
        let expected: Vec<f32> = oracle::coordinates(&plan.output())
            .iter()
            .map(|at| if has_nan(at) { f32::NAN } else { 1.0 })
            .collect();
        on_every_isa(|isa| {
            let (mut largest, mut average) = (vec![9.0; expected.len()], vec![9.0; expected.len()]);
            max_pool(&plan, &x, &mut largest);
            average_pool(&plan, &x, &mut average);
            assert_same(isa, &largest, &expected);
            assert_same(isa, &average, &expected);
        });
    }
}

#[test]
fn nan_has_the_gradient_of_its_window_only_if_it_is_first() {
    for channels in [1, 3, 12, 13, 32, 33] {
        let slides = slides(2, Padding::Valid);
        let plan = Pool::new([1, 2, 4, channels], [2, 2], slides).unwrap();
        let dy = vec![1_f32; len(&plan.output())];
        let gradient_of = |elements: [f32; 8]| {
            let x: Vec<f32> = elements.iter().flat_map(|x| vec![*x; channels]).collect();
            let mut dx = vec![9.0; x.len()];
            max_pool_grad(&plan, &x, &dy, &mut dx);
            dx
        };
        on_every_isa(|isa| {
            // The first window has NaN first, the other one has it elsewhere.
            let dx = gradient_of([f32::NAN, 5.0, 1.0, f32::NAN, 2.0, 3.0, 4.0, f32::NAN]);
            let expected = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0];
            let expected: Vec<f32> = expected.iter().flat_map(|x| vec![*x; channels]).collect();
            assert_same(isa, &dx, &expected);
        });
    }
}

#[test]
fn windows_of_padding_only_have_the_lowest_maximum_and_no_average() {
    for (height, channels, stride) in [(2, 1, 1), (2, 3, 2), (1, 9, 2), (0, 9, 2), (0, 1, 1)] {
        let slides = slides(stride, Padding::Explicit(9, 8));
        let plan = Pool::new([1, height, 1, channels], [1, 1], slides).unwrap();
        let x = vec![5_f32; height * channels];
        let mut y = vec![7.0; len(&plan.output())];
        max_pool(&plan, &x, &mut y);
        let inside = y.iter().filter(|it| **it == 5.0).count();
        assert!(inside <= x.len());
        assert!(y.iter().all(|it| *it == 5.0 || *it == f32::NEG_INFINITY));
        average_pool(&plan, &x, &mut y);
        assert_eq!(y.iter().filter(|it| **it == 5.0).count(), inside);
        assert!(y.iter().all(|it| *it == 5.0 || it.is_nan()));
    }
}

proptest! {
    #[test]
    fn pools_match_oracle(case in case()) {
        check(case);
    }

    #[test]
    fn softmax_matches_oracle((width, x) in (prop_oneof![1..90_usize, 250..300_usize], 0..60_usize).prop_flat_map(|(width, rows)| (Just(width), vec(-30.0..30.0_f64, width * rows)))) {
        let rows = x.len() / width;
        let labels: Vec<f64> = (0..x.len()).map(|i| (i % 5) as f64 * 0.1).collect();
        on_every_isa(|isa| {
            let (mut plain, mut log, mut loss, mut gradient) = (x.clone(), x.clone(), vec![0.0; rows], labels.clone());
            softmax(&x, width, false, &mut plain);
            softmax(&x, width, true, &mut log);
            softmax_cross_entropy(&x, width, &mut loss, &mut gradient);
            for (row, loss) in loss.iter().enumerate() {
                let at = row * width..(row + 1) * width;
                let total: f64 = x[at.clone()].iter().map(|it| it.exp()).sum();
                let mut expected_loss = 0.0;
                for i in at {
                    let expected = x[i].exp() / total;
                    expected_loss += labels[i] * (total.ln() - x[i]);
                    assert!((plain[i] - expected).abs() < 1e-12, "{isa} {i}");
                    assert!((log[i] - expected.ln()).abs() < 1e-11 * (1.0 + expected.ln().abs()), "{isa} {i}");
                    assert!((gradient[i] - (expected - labels[i])).abs() < 1e-12, "{isa} {i}");
                }
                assert!((loss - expected_loss).abs() < 1e-10 * (1.0 + expected_loss.abs()), "{isa} {row}");
            }
        });
    }
}
