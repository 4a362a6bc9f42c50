//! Bias and cross entropy.

use super::*;
use crate::compute::nn::bias::{Layout, bias_add, bias_add_grad};
use crate::compute::nn::xent::sparse_softmax_cross_entropy;
use crate::compute::{Error, oracle};

fn layout() -> impl Strategy<Value = Layout> {
    prop_oneof![Just(Layout::ChannelsLast), Just(Layout::ChannelsFirst)]
}

proptest! {
    #[test]
    fn bias_is_added_along_the_channels(
        (dims, x) in dims().prop_filter("two dims", |d| d.len() >= 2).prop_flat_map(|d| (Just(d.clone()), tensor(&d))),
        layout in layout(),
    ) {
        let axis = layout.axis(dims.len());
        let x = of(&x, |x| x as f32);
        let bias: Vec<f32> = (0..dims[axis]).map(|i| i as f32 * 0.3 - 1.0).collect();
        let coordinates = oracle::coordinates(&dims);
        let wanted: Vec<f32> = x.iter().zip(&coordinates).map(|(x, at)| x + bias[at[axis]]).collect();
        let whole = of(&x.iter().map(|x| f64::from(*x)).collect::<Vec<_>>(), |x| x as i64 % 1000);
        let mut sums = vec![0_i64; dims[axis]];
        whole.iter().zip(&coordinates).for_each(|(x, at)| sums[at[axis]] += x);
        on_every_isa(|isa| {
            let mut out = vec![0.0; x.len()];
            bias_add(&dims, layout, &x, &bias, &mut out).unwrap();
            assert_same(isa, &out, &wanted);
            let mut out = vec![-1; dims[axis]];
            bias_add_grad(&dims, layout, &whole, &mut out).unwrap();
            assert_same(isa, &out, &sums);
        });
    }

    #[test]
    fn cross_entropy_is_that_of_each_row(
        (classes, x, labels) in (0..40_usize, 1..70_usize).prop_flat_map(|(rows, classes)| {
            (Just(classes), vec(prop_oneof![60 => -30.0..30.0_f64, 1 => number()], rows * classes), vec(0..classes as i64, rows))
        }),
    ) {
        let s = of(&x, |x| x as f32);
        let rows: Vec<_> = s.chunks(classes).zip(&labels).map(|(x, l)| oracle::cross_entropy(x, *l as usize)).collect();
        let narrow: Vec<i32> = labels.iter().map(|label| *label as i32).collect();
        on_every_isa(|isa| {
            let (mut loss, mut gradient) = (vec![9.0; labels.len()], vec![9.0; s.len()]);
            sparse_softmax_cross_entropy(&s, &narrow, classes, &mut loss, &mut gradient).unwrap();
            let got = loss.iter().zip(gradient.chunks(classes));
            for ((loss, gradient), (wanted_loss, wanted)) in got.zip(&rows) {
                assert!(near(*loss, *wanted_loss), "{isa}: loss {loss}, not {wanted_loss}");
                for (got, wanted) in gradient.iter().zip(wanted) {
                    assert!(near(*got, *wanted), "{isa}: gradient {got}, not {wanted}");
                }
            }
        });
        let (mut loss, mut gradient) = (vec![9.0; labels.len()], vec![9.0; x.len()]);
        sparse_softmax_cross_entropy(&x, &labels, classes, &mut loss, &mut gradient).unwrap();
        for ((x, label), loss) in x.chunks(classes).zip(&labels).zip(&loss) {
            let (wanted, _) = oracle::cross_entropy(x, *label as usize);
            prop_assert!(wanted.same(*loss) || (wanted - loss).abs() <= 1e-12 * (1.0 + wanted.abs()));
        }
    }
}

/// Within a few roundings of numbers about 1; sums are added in another order.
fn near(got: f32, wanted: f32) -> bool {
    got.same(wanted) || (got - wanted).abs() <= 1e-6 * (1.0 + wanted.abs())
}

#[test]
fn rows_that_are_not_finite_are_as_tensorflow_has_them() {
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
fn a_large_batch_is_the_same_as_its_rows() {
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
fn a_label_that_is_no_class_is_named() {
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
fn biases_must_be_as_many_as_channels() {
    let mut out = [0.0; 6];
    let error = bias_add(
        &[2, 3],
        Layout::ChannelsLast,
        &[0.0; 6],
        &[1.0, 2.0],
        &mut out,
    )
    .unwrap_err();
    assert_eq!(error, Error::Incompatible(vec![2], vec![2, 3]));
}
