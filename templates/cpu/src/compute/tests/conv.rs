//! Convolutions and their gradients, compared with seven nested loops.

use super::*;
use crate::compute::matmul::Tiled;
use crate::compute::nn::conv::{Convolution, backprop_filter, backprop_input, convolve};
use crate::compute::nn::window::{Padding, Slide, Windows};
use crate::compute::{Error, oracle};

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

fn check<T: Tiled + SameBits + From<f32>>(case: Case) {
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

/// The shapes cover several blocks of patches, several parts of a filter's gradient, and one channel of a color image.
#[test]
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
    check::<f32>(([3, 30, 31, 40], [3, 3, 1, 40], slide(1, 1, Padding::Same)));
    check::<f64>(([3, 30, 31, 7], [3, 3, 1, 21], slide(2, 1, Padding::Same)));
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
