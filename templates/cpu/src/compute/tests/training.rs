//! Steps of optimizers, compared with the oracle: one element at a time, in the order of the formula.

use super::*;
use crate::compute::oracle;
use crate::compute::rows::Indices;
use crate::compute::training::rows::Rows;
use crate::compute::training::rules::{self, Rule};
use crate::compute::training::{Adam, Momentum};

fn values(len: usize, seed: f64) -> Vec<f64> {
    (0..len).map(|n| ((n as f64 + seed) * 0.37).sin()).collect()
}

/// A step of an optimizer over the variable and its state.
type Step = fn(&Momentum<f64>, [&mut [f64]; 2], &[f64]);

#[test]
fn adam_matches_oracle() {
    for (len, use_nesterov) in [(0, false), (1, true), (70_001, false), (70_001, true)] {
        let adam = Adam {
            beta1_power: 0.81,
            beta2_power: 0.998,
            rate: 0.01,
            beta1: 0.9,
            beta2: 0.999,
            epsilon: 1e-7,
            use_nesterov,
        };
        let (var, m, g) = (values(len, 1.0), values(len, 2.0), values(len, 3.0));
        let v: Vec<f64> = values(len, 4.0).iter().map(|v| v * v).collect();
        let element = |n: usize| oracle::adam(&adam, [var[n], m[n], v[n]], g[n]);
        let expected: Vec<[f64; 3]> = (0..len).map(element).collect();
        on_every_isa(|isa| {
            let (mut var, mut m, mut v) = (var.clone(), m.clone(), v.clone());
            adam.step([&mut var, &mut m, &mut v], &g);
            for (index, out) in [var, m, v].iter().enumerate() {
                let expected: Vec<f64> = expected.iter().map(|it| it[index]).collect();
                assert_same(isa, out, &expected);
            }
        });
    }
}

#[test]
fn momentum_matches_oracle() {
    for use_nesterov in [false, true] {
        let momentum = Momentum {
            rate: 0.1,
            momentum: 0.9,
            use_nesterov,
        };
        let (var, sum, g) = (values(9001, 1.0), values(9001, 2.0), values(9001, 3.0));
        let steps: [Step; 2] = [Momentum::step, Momentum::keras_step];
        for (is_keras, step) in [false, true].into_iter().zip(steps) {
            let element = |n: usize| oracle::momentum(&momentum, is_keras, [var[n], sum[n]], g[n]);
            let expected: Vec<[f64; 2]> = (0..var.len()).map(element).collect();
            on_every_isa(|isa| {
                let (mut var, mut sum) = (var.clone(), sum.clone());
                step(&momentum, [&mut var, &mut sum], &g);
                for (index, out) in [var, sum].iter().enumerate() {
                    let expected: Vec<f64> = expected.iter().map(|it| it[index]).collect();
                    assert_same(isa, out, &expected);
                }
            });
        }
    }
}

/// Applies a rule to variables with positive elements, and compares them with `expected(variables, gradient)`.
fn check<const N: usize>(rule: impl Rule<f64, N>, expected: impl Fn([f64; N], f64) -> [f64; N]) {
    let gradient = values(5001, 9.0);
    let initial: [Vec<f64>; N] = std::array::from_fn(|n| {
        let values = values(gradient.len(), n as f64);
        values.iter().map(|it| it.abs() + 0.1).collect()
    });
    on_every_isa(|isa| {
        let mut found = initial.clone();
        rules::apply(rule, found.each_mut().map(|it| &mut it[..]), &gradient);
        for (index, g) in gradient.iter().enumerate() {
            let expected = expected(initial.each_ref().map(|it| it[index]), *g);
            for (found, expected) in found.each_ref().map(|it| it[index]).iter().zip(expected) {
                let error = (found - expected).abs();
                assert!(
                    error < 1e-12 * (1.0 + expected.abs()),
                    "{isa} {index}: {found}, not {expected}"
                );
            }
        }
    });
}

#[test]
fn rules_of_squared_gradients_match_oracle() {
    let (lr, rho, momentum, epsilon) = (0.1, 0.9, 0.8, 1e-3);
    for update_slots in [false, true] {
        let sum = |a: f64, g: f64| if update_slots { a + g * g } else { a };
        check(rules::Adagrad { lr, update_slots }, |[v, a], g| {
            [v - lr * g / sum(a, g).sqrt(), sum(a, g)]
        });
        check(
            rules::AdagradV2 {
                lr,
                epsilon,
                update_slots,
            },
            |[v, a], g| [v - lr * g / (sum(a, g).sqrt() + epsilon), sum(a, g)],
        );
    }
    check(rules::Adadelta { lr, rho, epsilon }, |[v, a, u], g| {
        let a = a * rho + (1.0 - rho) * g.powi(2);
        let step = g * ((u + epsilon) / (a + epsilon)).sqrt();
        [v - lr * step, a, u * rho + (1.0 - rho) * step.powi(2)]
    });
    check(
        rules::RmsProp {
            lr,
            rho,
            momentum,
            epsilon,
        },
        |[v, s, m], g| {
            let s = rho * s + (1.0 - rho) * g.powi(2);
            let m = momentum * m + lr * g / (s + epsilon).sqrt();
            [v - m, s, m]
        },
    );
    // The mean square is above the square of the mean.
    check(
        rules::CenteredRmsProp {
            lr,
            rho,
            momentum,
            epsilon: 9.0,
        },
        |[v, a, s, m], g| {
            let (a, s) = (rho * a + (1.0 - rho) * g, rho * s + (1.0 - rho) * g.powi(2));
            let m = momentum * m + lr * g / (s - a * a + 9.0).sqrt();
            [v - m, a, s, m]
        },
    );
}

#[test]
fn rules_of_moments_match_oracle() {
    let (lr, beta1, beta2, epsilon) = (0.1, 0.9, 0.99, 1e-3);
    let (beta1_power, beta2_power) = (0.81, 0.97);
    let mean = |old: f64, new: f64, keep: f64| old * keep + new * (1.0 - keep);
    let adam = rules::AdamWithAmsgrad {
        beta1_power,
        beta2_power,
        lr,
        beta1,
        beta2,
        epsilon,
    };
    check(adam, |[var, m, v, largest], g| {
        let (m, v) = (mean(m, g, beta1), mean(v, g * g, beta2));
        let largest = largest.max(v);
        let rate = lr * (1.0_f64 - beta2_power).sqrt() / (1.0 - beta1_power);
        [var - rate * m / (largest.sqrt() + epsilon), m, v, largest]
    });
    check(
        rules::AdaMax {
            beta1_power,
            lr,
            beta1,
            beta2,
            epsilon,
        },
        |[var, m, v], g| {
            let (m, v) = (mean(m, g, beta1), f64::max(beta2 * v, g.abs()));
            [var - lr / (1.0 - beta1_power) * m / (v + epsilon), m, v]
        },
    );
    let (alpha, logbase, sign_decay, beta) = (1.5, 0.7, 0.4, 0.9);
    let agree = |g: f64, m: f64| {
        if g == 0.0 || m == 0.0 {
            0.0
        } else {
            (g * m).signum()
        }
    };
    check(
        rules::AddSign {
            lr,
            alpha,
            sign_decay,
            beta,
        },
        |[var, m], g| {
            let m = mean(m, g, beta);
            [var - lr * (alpha + sign_decay * agree(g, m)) * g, m]
        },
    );
    check(
        rules::PowerSign {
            lr,
            logbase,
            sign_decay,
            beta,
        },
        |[var, m], g| {
            let m = mean(m, g, beta);
            [var - lr * (logbase * sign_decay * agree(g, m)).exp() * g, m]
        },
    );
}

#[test]
fn rules_with_regularization_match_oracle() {
    let shrink = |x: f64, by: f64| x.signum() * (x.abs() - by).max(0.0);
    for (l1, l2) in [(0.0, 0.0), (0.3, 0.2), (0.0, 0.5)] {
        let alpha = 0.5;
        check(
            rules::ProximalGradientDescent { alpha, l1, l2 },
            |[v], g| [shrink(v - alpha * g, alpha * l1) / (1.0 + l2 * alpha)],
        );
        check(rules::ProximalAdagrad { lr: alpha, l1, l2 }, |[v, a], g| {
            let a = a + g * g;
            let rate = alpha / a.sqrt();
            [shrink(v - rate * g, rate * l1) / (1.0 + l2 * rate), a]
        });
        for (lr_power, multiply_linear_by_lr) in
            [(-0.5, false), (-0.7, false), (-0.5, true), (0.0, true)]
        {
            let lr = 0.25;
            let leader = |[v, a, z]: [f64; 3], g: f64, shrinking: f64| {
                let power = |a: f64| a.powf(-lr_power);
                let (n, scale) = (a + g * g, if multiply_linear_by_lr { lr } else { 1.0 });
                let z = z + scale * (shrinking - (power(n) - power(a)) / lr * v);
                let least = -shrink(z, l1 * scale);
                [least / (scale * (power(n) / lr + 2.0 * l2)), n, z]
            };
            let ftrl = rules::Ftrl {
                lr,
                l1,
                l2,
                lr_power,
                multiply_linear_by_lr,
            };
            check(ftrl, |variables, g| leader(variables, g, g));
            let l2_shrinkage = 0.3;
            let ftrl = rules::FtrlV2 {
                lr,
                l1,
                l2,
                l2_shrinkage,
                lr_power,
                multiply_linear_by_lr,
            };
            check(ftrl, |variables, g| {
                leader(variables, g, g + 2.0 * l2_shrinkage * variables[0])
            });
        }
    }
}

#[test]
fn rows_are_changed_in_the_order_of_indices() {
    let rule = rules::Adagrad {
        lr: 0.1,
        update_slots: true,
    };
    let (mut var, gradient) = (values(15, 1.0), values(12, 2.0));
    let mut accum: Vec<f64> = var.iter().map(|it| it * it + 1.0).collect();
    let (mut expected_var, mut expected_accum) = (var.clone(), accum.clone());
    let indices = [4, 0, 4, 2];
    for (at, index) in indices.iter().enumerate() {
        for column in 0..3 {
            let (n, g) = (*index as usize * 3 + column, gradient[at * 3 + column]);
            [expected_var[n], expected_accum[n]] =
                rule.step([expected_var[n], expected_accum[n]], g);
        }
    }
    let rows = Rows::new(&[5, 3], &[4, 3], &[4]).unwrap();
    let mut apply = |indices: &[i32]| {
        let variables = [&mut var[..], &mut accum[..]];
        rows.apply(variables, &gradient, Indices::Int32(indices), |rows, g| {
            rules::apply_to_row(rule, rows, g)
        })
    };
    apply(&indices).unwrap();
    assert!(apply(&[0, 1, 2, 5]).is_err());
    assert_eq!((var, accum), (expected_var, expected_accum));
    for (dims, gradient, indices) in [
        (&[][..], &[4, 3][..], &[4][..]),
        (&[5, 3], &[3, 3], &[4]),
        (&[5, 3], &[4, 2], &[4]),
        (&[5, 3], &[2, 2, 3], &[2, 2]),
    ] {
        assert!(Rows::new(dims, gradient, indices).is_err());
    }
}
