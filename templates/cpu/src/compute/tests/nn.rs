//! Bias and cross entropy.

use super::*;
use crate::compute::nn::bias::{ChannelLayout, bias_add, bias_add_grad};
use crate::compute::nn::cross_entropy::sparse_softmax_cross_entropy;
use crate::compute::{Error, oracle};

fn layout() -> impl Strategy<Value = ChannelLayout> {
    prop_oneof![
        Just(ChannelLayout::ChannelsLast),
        Just(ChannelLayout::ChannelsFirst)
    ]
}

proptest! {
    #[test]
    fn bias_add_matches_oracle(
        (dims, x) in dims().prop_filter("two dims", |d| d.len() >= 2).prop_flat_map(|d| (Just(d.clone()), tensor(&d))),
        layout in layout(),
    ) {
        let axis = layout.axis(dims.len());
        let x = convert_all(&x, |x| x as f32);
        let bias: Vec<f32> = (0..dims[axis]).map(|i| i as f32 * 0.3 - 1.0).collect();
        let coordinates = oracle::coordinates(&dims);
        let expected: Vec<f32> = x.iter().zip(&coordinates).map(|(x, at)| x + bias[at[axis]]).collect();
        let whole = convert_all(&x.iter().map(|x| f64::from(*x)).collect::<Vec<_>>(), |x| x as i64 % 1000);
        let mut sums = vec![0_i64; dims[axis]];
        whole.iter().zip(&coordinates).for_each(|(x, at)| sums[at[axis]] += x);
        on_every_isa(|isa| {
            let mut out = vec![0.0; x.len()];
            bias_add(&dims, layout, &x, &bias, &mut out).unwrap();
            assert_same(isa, &out, &expected);
            let mut out = vec![-1; dims[axis]];
            bias_add_grad(&dims, layout, &whole, &mut out).unwrap();
            assert_same(isa, &out, &sums);
        });
    }

    #[test]
    fn cross_entropy_matches_oracle(
        (classes, x, labels) in (0..40_usize, 1..70_usize).prop_flat_map(|(rows, classes)| {
            (Just(classes), vec(prop_oneof![60 => -30.0..30.0_f64, 1 => any_float()], rows * classes), vec(0..classes as i64, rows))
        }),
    ) {
        let s = convert_all(&x, |x| x as f32);
        let rows: Vec<_> = s.chunks(classes).zip(&labels).map(|(x, l)| oracle::cross_entropy(x, *l as usize)).collect();
        let narrow: Vec<i32> = labels.iter().map(|label| *label as i32).collect();
        on_every_isa(|isa| {
            let (mut loss, mut gradient) = (vec![9.0; labels.len()], vec![9.0; s.len()]);
            sparse_softmax_cross_entropy(&s, &narrow, classes, &mut loss, &mut gradient).unwrap();
            let actual = loss.iter().zip(gradient.chunks(classes));
            for ((loss, gradient), (expected_loss, expected)) in actual.zip(&rows) {
                assert!(is_close(*loss, *expected_loss), "{isa}: loss {loss}, not {expected_loss}");
                for (actual, expected) in gradient.iter().zip(expected) {
                    assert!(is_close(*actual, *expected), "{isa}: gradient {actual}, not {expected}");
                }
            }
        });
        let (mut loss, mut gradient) = (vec![9.0; labels.len()], vec![9.0; x.len()]);
        sparse_softmax_cross_entropy(&x, &labels, classes, &mut loss, &mut gradient).unwrap();
        for ((x, label), loss) in x.chunks(classes).zip(&labels).zip(&loss) {
            let (expected, _) = oracle::cross_entropy(x, *label as usize);
            prop_assert!(expected.is_same(*loss) || (expected - loss).abs() <= 1e-12 * (1.0 + expected.abs()));
        }
    }
}

/// Returns true if both differ by a few roundings of numbers near 1, since the order of summation differs.
fn is_close(actual: f32, expected: f32) -> bool {
    actual.is_same(expected) || (actual - expected).abs() <= 1e-6 * (1.0 + expected.abs())
}

#[test]
fn cross_entropy_of_non_finite_rows_matches_tensorflow() {
    let inf = f32::INFINITY;
    let x = [
        inf,
        1.0,
        1.0,
        f32::NAN,
        1.0,
        1.0,
        -inf,
        -inf,
        -inf,
        -inf,
        1.0,
        2.0,
        1e30,
        -1e30,
        0.0,
    ];
    let (mut loss, mut gradient) = ([0.0; 5], [0.0; 15]);
    sparse_softmax_cross_entropy(&x, &[1, 2, 1, 0, 1], 3, &mut loss, &mut gradient).unwrap();
    assert!(loss[..3].iter().all(|x| x.is_nan()) && gradient[..9].iter().all(|x| x.is_nan()));
    assert_eq!([loss[3], loss[4]], [inf, 2e30]);
    assert_eq!(
        [gradient[9], gradient[12], gradient[13], gradient[14]],
        [-1.0, 1.0, -1.0, 0.0]
    );
}

#[test]
fn large_batch_matches_single_rows() {
    let (rows, classes) = (3000, 37);
    let x: Vec<f32> = (0..rows * classes)
        .map(|i| (i * 7919 % 101) as f32 * 0.1 - 5.0)
        .collect();
    let labels: Vec<i64> = (0..rows).map(|i| (i % classes) as i64).collect();
    let (mut loss, mut gradient) = (vec![0.0; rows], vec![0.0; rows * classes]);
    sparse_softmax_cross_entropy(&x, &labels, classes, &mut loss, &mut gradient).unwrap();
    for row in (0..rows).step_by(97) {
        let (mut one, mut each) = ([0.0], vec![0.0; classes]);
        let at = row * classes..(row + 1) * classes;
        sparse_softmax_cross_entropy(
            &x[at.clone()],
            &labels[row..=row],
            classes,
            &mut one,
            &mut each,
        )
        .unwrap();
        assert_same("row", &[loss[row]], &one);
        assert_same("row", &gradient[at], &each);
    }
}

#[test]
fn rejects_label_that_is_not_a_class() {
    let (mut loss, mut gradient) = ([7.0; 2], [7.0; 6]);
    let mut run = |labels: &[i64]| {
        sparse_softmax_cross_entropy(&[0.0_f32; 6], labels, 3, &mut loss, &mut gradient)
    };
    assert_eq!(
        run(&[0, 3]),
        Err(Error::LabelOutOfRange {
            row: 1,
            label: 3,
            classes: 3
        })
    );
    assert_eq!(
        run(&[-1, 9]),
        Err(Error::LabelOutOfRange {
            row: 0,
            label: -1,
            classes: 3
        })
    );
    assert_eq!((loss, gradient), ([7.0; 2], [7.0; 6]));
}

#[test]
fn rejects_bias_of_wrong_length() {
    let mut out = [0.0; 6];
    let error = bias_add(
        &[2, 3],
        ChannelLayout::ChannelsLast,
        &[0.0; 6],
        &[1.0, 2.0],
        &mut out,
    )
    .unwrap_err();
    assert!(matches!(error, Error::Invalid(_)), "{error}");
    assert!(error.to_string().contains("as many biases"), "{error}");
}
