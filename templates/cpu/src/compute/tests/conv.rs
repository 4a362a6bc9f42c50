//! Convolutions and their gradients, compared with seven nested loops.

use super::*;
use crate::compute::matmul::{Factor, Tiled};
use crate::compute::nn::conv::{Convolution, backprop_filter, backprop_input, convolve};
use crate::compute::nn::window::{Padding, Slide, Windows};
use crate::compute::precision::Precision;
use crate::compute::{Error, oracle, parallel};
use sp_plugin::Bf16;
use std::sync::Mutex;

fn padding() -> impl Strategy<Value = Padding> {
    prop_oneof![
        Just(Padding::Same),
        Just(Padding::Valid),
        (0..4_usize, 0..4_usize).prop_map(|(before, after)| Padding::Explicit(before, after))
    ]
}

fn slide() -> impl Strategy<Value = Slide> {
    (1..4_usize, 1..3_usize, padding()).prop_map(|(stride, dilation, padding)| Slide {
        stride,
        dilation,
        padding,
    })
}

type Case = ([usize; 4], [usize; 4], [Slide; 2]);

fn case() -> impl Strategy<Value = Case> {
    let image = (0..4_usize, 0..12_usize, 0..12_usize);
    let filter = (1..4_usize, 1..4_usize, 1..5_usize);
    (image, filter, (1..4_usize, 0..4_usize), (slide(), slide())).prop_map(
        |((n, h, w), (y, x, depth), (groups, filters), (rows, columns))| {
            (
                [n, h, w, groups * depth],
                [y, x, depth, groups * filters],
                [rows, columns],
            )
        },
    )
}

/// Calls `visit(x, filter, y)` with the indices of all products of the convolution.
fn products(
    (input, filter, slides): Case,
    output: [usize; 4],
    mut visit: impl FnMut(usize, usize, usize),
) {
    let rows = Windows::new(input[1], filter[0], slides[0]).unwrap();
    let columns = Windows::new(input[2], filter[1], slides[1]).unwrap();
    for at in oracle::coordinates(&output) {
        for k in oracle::coordinates(&filter[..3]) {
            let (Some(y), Some(x)) = (rows.index(at[1], k[0]), columns.index(at[2], k[1])) else {
                continue;
            };
            let group = at[3] / (filter[3] / (input[3] / filter[2]));
            visit(
                oracle::operand_index(&input, &[at[0], y, x, group * filter[2] + k[2]]),
                oracle::operand_index(&filter, &[k[0], k[1], k[2], at[3]]),
                oracle::operand_index(&output, &at),
            );
        }
    }
}

/// Returns small integers, whose sums are exact in any order.
fn small<T: Tiled + From<f32>>(dims: &[usize], step: usize) -> Vec<T> {
    (0..len(dims))
        .map(|i| T::from((i * step % 11) as f32 - 5.0))
        .collect()
}

fn check<T: Factor<Compute = T> + Tiled + SameBits + From<f32>>(case: Case) {
    let Ok(plan) = Convolution::new(case.0, case.1, case.2) else {
        return;
    };
    let (x, filter, dy) = (
        small::<T>(&plan.input(), 7),
        small::<T>(&plan.filter(), 3),
        small::<T>(&plan.output(), 5),
    );
    let (mut y, mut dx, mut df) = (
        vec![T::ZERO; dy.len()],
        vec![T::ZERO; x.len()],
        vec![T::ZERO; filter.len()],
    );
    products(case, plan.output(), |i, k, o| {
        y[o] = y[o].plus(x[i].times(filter[k]));
        dx[i] = dx[i].plus(dy[o].times(filter[k]));
        df[k] = df[k].plus(dy[o].times(x[i]));
    });
    on_every_isa(|isa| {
        let mut out = vec![T::NAN; y.len()];
        convolve(&plan, &x, &filter, &mut out);
        assert_same(isa, &out, &y);
        let mut out = vec![T::NAN; x.len()];
        backprop_input(&plan, &filter, &dy, &mut out);
        assert_same(isa, &out, &dx);
        let mut out = vec![T::NAN; filter.len()];
        backprop_filter(&plan, &x, &dy, &mut out);
        assert_same(isa, &out, &df);
    });
}

proptest! {
    #[test]
    fn convolution_and_gradients_match_oracle(case in case()) {
        check::<f32>(case);
        check::<f64>(case);
    }
}

/// The numbers of channels are below, at and above one register and several, with a register that reaches beyond the
/// tensor's last pixel.
#[test]
fn depthwise_convolutions_of_any_number_of_channels_match_oracle() {
    let slides = |stride, dilation, padding| {
        [Slide {
            stride,
            dilation,
            padding,
        }; 2]
    };
    for channels in [2, 3, 7, 8, 10, 15, 16, 17, 24, 31, 33, 40, 77] {
        let filter = |size, each| [size, size, 1, channels * each];
        let image = [2, 7, 11, channels];
        check::<f32>((image, filter(3, 1), slides(1, 1, Padding::Same)));
        check::<f64>((image, filter(3, 1), slides(2, 1, Padding::Same)));
        check::<f32>((image, filter(2, 3), slides(1, 2, Padding::Valid)));
        check::<f32>((
            [1, 1, 1, channels],
            filter(3, 1),
            slides(1, 1, Padding::Same),
        ));
    }
    check::<f32>(([4, 40, 33, 10], [3, 3, 1, 10], slides(1, 1, Padding::Same)));
}

/// The registers of the last pixels would reach beyond the tensor, so these are computed from copies.
#[test]
fn equal_images_of_a_depthwise_convolution_have_equal_bits() {
    let slide = Slide {
        stride: 1,
        dilation: 1,
        padding: Padding::Same,
    };
    for channels in [2, 3, 7, 9] {
        let plan = Convolution::new([2, 5, 6, channels], [3, 3, 1, channels], [slide; 2]).unwrap();
        let image: Vec<f32> = (0..30 * channels).map(|i| 0.1 + (i as f32).sin()).collect();
        let filter: Vec<f32> = (0..9 * channels).map(|i| (i as f32).cos()).collect();
        let x = [&image[..], &image].concat();
        on_every_isa(|isa| {
            let (mut y, mut dx) = (vec![0.0; x.len()], vec![0.0; x.len()]);
            convolve(&plan, &x, &filter, &mut y);
            backprop_input(&plan, &filter, &x, &mut dx);
            for result in [y, dx] {
                let (first, second) = result.split_at(image.len());
                assert_same(isa, first, second);
            }
        });
    }
}

/// The shapes cover several blocks of windows, lines longer than a block, several parts of a filter's gradient, one channel
/// of a color image, windows that are far apart, blocks of channels, and more channels than a tile adds in registers.
#[test]
#[ignore = "takes minutes without optimization; tests/nightly runs it"]
fn large_convolutions_match_oracle() {
    let slide = |stride, dilation, padding| {
        [Slide {
            stride,
            dilation,
            padding,
        }; 2]
    };
    check::<f32>(([3, 40, 37, 16], [3, 3, 16, 24], slide(1, 1, Padding::Same)));
    check::<f32>((
        [2, 41, 40, 3],
        [7, 7, 3, 8],
        slide(2, 1, Padding::Explicit(3, 3)),
    ));
    check::<f32>(([1, 64, 64, 8], [3, 3, 4, 8], slide(1, 2, Padding::Valid)));
    check::<f64>(([5, 16, 16, 9], [1, 1, 9, 7], slide(1, 1, Padding::Valid)));
    check::<f64>(([2, 16, 16, 9], [1, 1, 9, 7], slide(2, 1, Padding::Same)));
    check::<f32>(([1, 5, 5, 2], [3, 3, 2, 2], slide(1, 1 << 30, Padding::Same)));
    check::<f32>(([2, 3, 5001, 4], [3, 3, 4, 8], slide(1, 1, Padding::Same)));
    check::<f32>((
        [1, 2, 7003, 6],
        [2, 5, 3, 8],
        slide(2, 3, Padding::Explicit(7, 4)),
    ));
    check::<f32>((
        [2, 60, 60, 8],
        [2, 2, 8, 16],
        slide(9, 1, Padding::Explicit(1, 1)),
    ));
    check::<f32>(([3, 30, 31, 64], [3, 3, 64, 24], slide(1, 2, Padding::Same)));
    check::<f32>((
        [2, 70, 9, 72],
        [3, 2, 72, 8],
        slide(2, 1, Padding::Explicit(2, 1)),
    ));
    check::<f64>(([3, 20, 21, 32], [3, 3, 32, 24], slide(2, 1, Padding::Same)));
    check::<f32>(([3, 9, 9, 200], [3, 3, 200, 208], slide(1, 1, Padding::Same)));
    check::<f32>(([1, 6, 5, 530], [2, 2, 530, 8], slide(1, 1, Padding::Same)));
    check::<f32>(([3, 30, 31, 40], [3, 3, 1, 40], slide(1, 1, Padding::Same)));
    check::<f64>(([3, 30, 31, 7], [3, 3, 1, 21], slide(2, 1, Padding::Same)));
}

/// A task of a computation that uses all threads computes on its own one.
#[test]
fn bits_do_not_depend_on_number_of_threads() {
    let fraction = |i: usize| (i.wrapping_mul(0x9E37_79B9) % 1000) as f32 / 1000.0 - 0.5;
    let of = |len: usize| -> Vec<f32> { (0..len).map(fraction).collect() };
    for ([height, width, channels], filters, stride, dilation) in [
        ([20, 21, 16], 24, 1, 1),
        ([9, 120, 8], 16, 3, 2),
        ([14, 14, 64], 200, 1, 1),
        ([3, 900, 4], 8, 1, 3),
    ] {
        let slide = Slide {
            stride,
            dilation,
            padding: Padding::Same,
        };
        let input = [3, height, width, channels];
        let plan = Convolution::new(input, [3, 3, channels, filters], [slide; 2]).unwrap();
        let [x, filter, dy] = [plan.input(), plan.filter(), plan.output()].map(|it| of(len(&it)));
        let compute = || {
            let mut results = [dy.len(), x.len(), filter.len()].map(|it| vec![0.0; it]);
            let [y, dx, df] = &mut results;
            convolve(&plan, &x, &filter, y);
            backprop_input(&plan, &filter, &dy, dx);
            backprop_filter(&plan, &x, &dy, df);
            results.map(|it| it.iter().map(|x| x.to_bits()).collect::<Vec<_>>())
        };
        let (all, alone) = (compute(), Mutex::new(None));
        parallel::run(parallel::threads(), |task| {
            if task == 0 {
                *alone.lock().unwrap() = Some(compute());
            }
        });
        assert!(alone.into_inner().unwrap() == Some(all), "{plan:?}");
    }
}

/// Sums of small integers are exact, so that products of pairs have the bits of those of `f32`.
#[test]
fn convolutions_of_bfloat16_match_those_of_floats() {
    let slide = Slide {
        stride: 1,
        dilation: 1,
        padding: Padding::Same,
    };
    for (channels, depth, filters) in [(8, 8, 16), (12, 6, 20), (3, 3, 5), (16, 16, 1)] {
        let slides = [slide, slide];
        let plan = Convolution::new([2, 9, 11, channels], [3, 3, depth, filters], slides).unwrap();
        let of = |dims: &[usize], step| -> Vec<Bf16> {
            let x = small::<f32>(dims, step);
            x.into_iter().map(Bf16::from_f32).collect()
        };
        let (x, filter, dy) = (
            of(&plan.input(), 7),
            of(&plan.filter(), 3),
            of(&plan.output(), 5),
        );
        let [wide_x, wide_filter, wide_dy] = [&x, &filter, &dy].map(|it| Bf16::widened(it));
        on_every_isa(|isa| {
            let (mut y, mut expected) = (vec![f32::NAN; dy.len()], vec![0.0; dy.len()]);
            convolve(&plan, &x, &filter, &mut y);
            convolve(&plan, &wide_x[..], &wide_filter[..], &mut expected);
            assert_same(isa, &y, &expected);
            let (mut dx, mut expected) = (vec![f32::NAN; x.len()], vec![0.0; x.len()]);
            backprop_input(&plan, &filter, &dy, &mut dx);
            backprop_input(&plan, &wide_filter[..], &wide_dy[..], &mut expected);
            assert_same(isa, &dx, &expected);
        });
    }
}

#[test]
fn rejects_channels_that_are_no_groups() {
    let slides = [Slide {
        stride: 1,
        dilation: 1,
        padding: Padding::Valid,
    }; 2];
    let error = |channels, depth, filters| {
        Err(Error::Groups {
            channels,
            depth,
            filters,
        })
    };
    assert_eq!(
        Convolution::new([1, 4, 4, 4], [3, 3, 3, 3], slides),
        error(4, 3, 3)
    );
    assert_eq!(
        Convolution::new([1, 4, 4, 4], [3, 3, 2, 3], slides),
        error(4, 2, 3)
    );
    assert_eq!(
        Convolution::new([1, 4, 4, 4], [3, 3, 0, 3], slides),
        error(4, 0, 3)
    );
}
