//! Updates of variables.

use sp_cpu::compute::map::update;

use super::elementwise::check;
use super::{Call, Kernel, Role};
use crate::abi::Result;

/// The kernels of this file.
pub const KERNELS: &[Kernel] = &[
    Kernel {
        name: "sgd",
        arguments: &[Role::Update, Role::In, Role::Real],
        run: sgd,
    },
    Kernel {
        name: "momentum",
        arguments: &[Role::Update, Role::Update, Role::In, Role::Real, Role::Real],
        run: momentum,
    },
    Kernel {
        name: "adam",
        arguments: &[
            Role::Update,
            Role::Update,
            Role::Update,
            Role::In,
            Role::Real,
            Role::Real,
            Role::Real,
            Role::Real,
            Role::Integer,
        ],
        run: adam,
    },
];

/// `variable -= rate * gradient`
fn sgd(call: &Call) -> Result {
    let rate = call.real(2)? as f32;
    let gradient = call.input::<f32>(1)?;
    let variable = call.output::<f32>(0)?;
    check(variable.len() == gradient.len())?;
    update(variable, &gradient, |x, g| x - rate * g);
    Ok(())
}

/// `velocity = momentum * velocity - rate * gradient`, `variable += velocity`
fn momentum(call: &Call) -> Result {
    let (rate, momentum) = (call.real(3)? as f32, call.real(4)? as f32);
    let gradient = call.input::<f32>(2)?;
    let (variable, velocity) = (call.output::<f32>(0)?, call.output::<f32>(1)?);
    check(variable.len() == gradient.len() && velocity.len() == gradient.len())?;
    update(velocity, &gradient, |v, g| momentum * v - rate * g);
    update(variable, velocity, |x, v| x + v);
    Ok(())
}

/// Adam (Kingma and Ba, 2014, algorithm 1, with the efficient order of its section 2); the integer is the step, from 1.
fn adam(call: &Call) -> Result {
    let [rate, beta1, beta2, epsilon] =
        [call.real(4)?, call.real(5)?, call.real(6)?, call.real(7)?];
    let step = call.integer(8)?.max(1) as f64;
    let rate = rate * (1.0 - beta2.powf(step)).sqrt() / (1.0 - beta1.powf(step));
    let [rate, beta1, beta2, epsilon] = [rate, beta1, beta2, epsilon].map(|it| it as f32);
    let gradient = call.input::<f32>(3)?;
    let [variable, m, v] = [call.output::<f32>(0)?, call.output(1)?, call.output(2)?];
    let lens = [variable.len(), m.len(), v.len()];
    check(lens == [gradient.len(); 3])?;
    update(m, &gradient, |m, g| beta1 * m + (1.0 - beta1) * g);
    update(v, &gradient, |v, g| beta2 * v + (1.0 - beta2) * g * g);
    for ((x, m), v) in variable.iter_mut().zip(m).zip(v) {
        *x -= rate * *m / (v.sqrt() + epsilon);
    }
    Ok(())
}
