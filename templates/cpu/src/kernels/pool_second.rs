//! Pools whose windows are inputs, and derivatives of the gradients of pools.

use super::image::{DataFormat, PaddingKind, check_dims};
use super::layout::ChannelFormat;
use super::pool::{MaxPooling, Pooling};
use super::prelude::*;
use crate::compute::elementary::Elementary;
use crate::compute::nn::pool::select_equal;
use sp_plugin::kernel::{Attributes, Kernel, kernels};

/// The attributes of an op whose windows are inputs.
#[derive(Attributes)]
struct InputWindows {
    padding: PaddingKind,
    data_format: DataFormat,
}

impl InputWindows {
    fn pooling(&self, ksize: &HostIn<'_, i32>, strides: &HostIn<'_, i32>) -> Result<Pooling> {
        let [ksize, strides] = [list(ksize), list(strides)];
        Pooling::new([&ksize, &strides], self.padding, &[], self.data_format)
    }

    fn max_pooling(
        &self,
        ksize: &HostIn<'_, i32>,
        strides: &HostIn<'_, i32>,
    ) -> Result<MaxPooling> {
        let [ksize, strides] = [list(ksize), list(strides)];
        MaxPooling::new([&ksize, &strides], self.padding, &[], self.data_format)
    }
}

fn list(values: &HostIn<'_, i32>) -> Vec<i64> {
    allocation::collect(values.data().iter().copied().map(i64::from))
}

#[kernel(MaxPoolV2, T = [F16, Bf16, f32, f64])]
fn max_pool_v2<T: Element + Precision<Compute: Elementary>>(
    #[state] it: &InputWindows,
    input: In<'_, T>,
    ksize: HostIn<'_, i32>,
    strides: HostIn<'_, i32>,
    output: Out<'_, T>,
) -> Result<()> {
    it.max_pooling(&ksize, &strides)?.maxima(input, output)
}

#[kernel(MaxPoolGradV2, T = [F16, Bf16, f32, f64])]
fn max_pool_grad_v2<T: Element + Precision<Compute: Elementary>>(
    #[state] it: &InputWindows,
    orig_input: In<'_, T>,
    orig_output: In<'_, T>,
    grad: In<'_, T>,
    ksize: HostIn<'_, i32>,
    strides: HostIn<'_, i32>,
    output: Out<'_, T>,
) -> Result<()> {
    it.max_pooling(&ksize, &strides)?
        .gradient([orig_input, orig_output, grad], output)
}

impl Pooling {
    /// Writes the element of `grad` where the input has the largest element of a window.
    fn second_gradient<T: Element + Precision<Compute: Elementary>>(
        &self,
        [input, result, grad]: [In<'_, T>; 3],
        output: Out<'_, T>,
    ) -> Result<()> {
        let plan = self.plan(input.dims())?;
        self.check_output("orig_output", &plan, result.dims())?;
        check_dims("grad", grad.dims(), input.dims())?;
        let [x, y, dx] = [&input, &result, &grad].map(|it| T::widened(it.data()));
        let (format, dims) = (self.format, plan.input());
        format.write(plan.output(), output, |out| {
            format.read(dims, &x, |x| {
                format.read(dims, &dx, |dx| {
                    format.read(plan.output(), &y, |y| {
                        select_equal(&plan, [x, dx], y, out);
                    })
                })
            })
        })
    }
}

#[kernel(MaxPoolGradGrad, T = [F16, Bf16, f32, f64])]
fn max_pool_grad_grad<T: Element + Precision<Compute: Elementary>>(
    #[state] it: &Pooling,
    orig_input: In<'_, T>,
    orig_output: In<'_, T>,
    grad: In<'_, T>,
    output: Out<'_, T>,
) -> Result<()> {
    it.second_gradient([orig_input, orig_output, grad], output)
}

#[kernel(MaxPoolGradGradV2, T = [F16, Bf16, f32, f64])]
fn max_pool_grad_grad_v2<T: Element + Precision<Compute: Elementary>>(
    #[state] it: &InputWindows,
    orig_input: In<'_, T>,
    orig_output: In<'_, T>,
    grad: In<'_, T>,
    ksize: HostIn<'_, i32>,
    strides: HostIn<'_, i32>,
    output: Out<'_, T>,
) -> Result<()> {
    it.pooling(&ksize, &strides)?
        .second_gradient([orig_input, orig_output, grad], output)
}

/// Returns the kernels of this file.
pub fn table() -> Vec<&'static Kernel> {
    kernels![
        max_pool_v2,
        max_pool_grad_v2,
        max_pool_grad_grad,
        max_pool_grad_grad_v2,
    ]
}
