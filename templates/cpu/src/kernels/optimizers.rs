//! The table of optimizers' rules: a row has the op for whole variables and the one for rows of them, so that a rule is added in one place.
//!
//! ```text
//! name: op (check of the coefficients), op for rows (check of the gradient's shape, check of the coefficients)
//!     for [variables] (coefficients) (attributes), gradient => rule of compute/ops/training/rules
//! ```
//!
//! The consumers are the macros of `training` and `sparse_training`.

/// Calls a macro with the rules by element.
macro_rules! with_rules {
    ($consumer:ident) => { $consumer! {
        both {
            adagrad: ResourceApplyAdagrad (), ResourceSparseApplyAdagrad (check_elements) for [var, accum] (lr) (update_slots), grad => Adagrad;
            adagrad_v2: ResourceApplyAdagradV2 (), ResourceSparseApplyAdagradV2 (check_elements) for [var, accum] (lr, epsilon) (update_slots), grad => AdagradV2;
            adadelta: ResourceApplyAdadelta (), ResourceSparseApplyAdadelta () for [var, accum, accum_update] (lr, rho, epsilon) (), grad => Adadelta;
            rms_prop: ResourceApplyRMSProp (), ResourceSparseApplyRMSProp () for [var, ms, mom] (lr, rho, momentum, epsilon) (), grad => RmsProp;
            centered_rms_prop: ResourceApplyCenteredRMSProp (), ResourceSparseApplyCenteredRMSProp () for [var, mg, ms, mom] (lr, rho, momentum, epsilon) (), grad => CenteredRmsProp;
            ftrl: ResourceApplyFtrl (), ResourceSparseApplyFtrl (check_elements, check) for [var, accum, linear] (lr, l1, l2, lr_power) (multiply_linear_by_lr), grad => Ftrl;
            ftrl_v2: ResourceApplyFtrlV2 (), ResourceSparseApplyFtrlV2 (check_elements, check) for [var, accum, linear] (lr, l1, l2, l2_shrinkage, lr_power) (multiply_linear_by_lr), grad => FtrlV2;
            proximal_gradient_descent: ResourceApplyProximalGradientDescent (), ResourceSparseApplyProximalGradientDescent (check_elements) for [var] (alpha, l1, l2) (), delta => ProximalGradientDescent;
            proximal_adagrad: ResourceApplyProximalAdagrad (check), ResourceSparseApplyProximalAdagrad (check_elements, check) for [var, accum] (lr, l1, l2) (), grad => ProximalAdagrad;
        }
        whole {
            adam_with_amsgrad: ResourceApplyAdamWithAmsgrad () for [var, m, v, vhat] (beta1_power, beta2_power, lr, beta1, beta2, epsilon) (), grad => AdamWithAmsgrad;
            ada_max: ResourceApplyAdaMax () for [var, m, v] (beta1_power, lr, beta1, beta2, epsilon) (), grad => AdaMax;
            add_sign: ResourceApplyAddSign () for [var, m] (lr, alpha, sign_decay, beta) (), grad => AddSign;
            power_sign: ResourceApplyPowerSign () for [var, m] (lr, logbase, sign_decay, beta) (), grad => PowerSign;
        }
    }};
}
pub(super) use with_rules;

/// Calls a macro with the rules with momentum, whose steps are functions of [`Momentum`](crate::compute::training::Momentum).
macro_rules! with_momentum {
    ($consumer:ident) => { $consumer! {
        momentum: ResourceApplyMomentum, ResourceSparseApplyMomentum => Momentum::step;
        keras_momentum: ResourceApplyKerasMomentum, ResourceSparseApplyKerasMomentum => Momentum::keras_step;
    }};
}
pub(super) use with_momentum;
