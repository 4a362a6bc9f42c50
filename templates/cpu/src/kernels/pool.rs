//! Pools of images and volumes, and their gradients.

mod maxima;
mod pooling;

use self::maxima::MaxPooling;
pub use self::pooling::ImagePooling;
use self::pooling::VolumePooling;
use super::image::{DataFormat, PaddingKind, shape};
use super::layout::ChannelFormat;
use super::prelude::*;
use crate::compute::elementary::Elementary;
use crate::compute::nn::pool;

/// The attributes of an op whose windows are inputs.
#[derive(Attributes)]
struct InputWindows {
    padding: PaddingKind,
    data_format: DataFormat,
}

impl InputWindows {
    fn images(&self, ksize: &HostIn<'_, i32>, strides: &HostIn<'_, i32>) -> Result<ImagePooling> {
        let [ksize, strides] = [to_list(ksize), to_list(strides)];
        ImagePooling::new([&ksize, &strides], self.padding, &[], self.data_format)
    }

    fn maxima(&self, ksize: &HostIn<'_, i32>, strides: &HostIn<'_, i32>) -> Result<MaxPooling> {
        let [ksize, strides] = [to_list(ksize), to_list(strides)];
        MaxPooling::new([&ksize, &strides], self.padding, &[], self.data_format)
    }
}

fn to_list(values: &HostIn<'_, i32>) -> Vec<i64> {
    allocation::collect(values.data().iter().copied().map(i64::from))
}

/// The table of pools: `name: Op [inputs] (windows that are inputs) => state, method, precision [types]`.
macro_rules! pools {
    ($($name:ident: $op:ident [$($input:ident),*] $(($ksize:ident, $strides:ident: $windows:ident))?
        => $state:ty, $method:ident, $compute:ident [$($ty:ident),*];)*) => {
        $(
            #[kernel($op, T = [$($ty),*])]
            fn $name<T: Element + Precision<Compute: $compute>>(
                #[state] it: &$state,
                $($input: In<'_, T>,)*
                $($ksize: HostIn<'_, i32>, $strides: HostIn<'_, i32>,)?
                output: Out<'_, T>,
            ) -> Result<()> {
                it$(.$windows(&$ksize, &$strides)?)?.$method([$($input),*], output)
            }
        )*

        table! {
            $($name,)*
            average_pool_grad, volume_average_pool_grad, volume_max_pool_grad,
        }
    };
}

pools! {
    max_pool: MaxPool [input] => MaxPooling, maxima, Number [F16, Bf16, f32, f64, u8, i8, i32, i64];
    max_pool_v2: MaxPoolV2 [input] (ksize, strides: maxima)
        => InputWindows, maxima, Elementary [F16, Bf16, f32, f64];
    max_pool_grad: MaxPoolGrad [orig_input, orig_output, grad]
        => MaxPooling, gradient, Number [F16, Bf16, f32, f64, u8, i8, i32, i64];
    max_pool_grad_v2: MaxPoolGradV2 [orig_input, orig_output, grad] (ksize, strides: maxima)
        => InputWindows, gradient, Elementary [F16, Bf16, f32, f64];
    max_pool_grad_grad: MaxPoolGradGrad [orig_input, orig_output, grad]
        => ImagePooling, second_gradient, Elementary [F16, Bf16, f32, f64];
    max_pool_grad_grad_v2: MaxPoolGradGradV2 [orig_input, orig_output, grad] (ksize, strides: images)
        => InputWindows, second_gradient, Elementary [F16, Bf16, f32, f64];
    average_pool: AvgPool [value] => ImagePooling, averages, Elementary [F16, Bf16, f32, f64];
    volume_max_pool: MaxPool3D [input] => VolumePooling, maxima, Elementary [F16, Bf16, f32];
    volume_max_pool_grad_grad: MaxPool3DGradGrad [orig_input, orig_output, grad]
        => VolumePooling, second_gradient, Elementary [F16, Bf16, f32];
    volume_average_pool: AvgPool3D [input]
        => VolumePooling, averages, Elementary [F16, Bf16, f32, f64];
}

#[kernel(AvgPoolGrad, T = [F16, Bf16, f32, f64])]
fn average_pool_grad<T: Element + Precision<Compute: Elementary>>(
    #[state] it: &ImagePooling,
    orig_input_shape: HostIn<'_, i32>,
    grad: In<'_, T>,
    output: Out<'_, T>,
) -> Result<()> {
    it.gradient_of_averages(&shape("orig_input_shape", &orig_input_shape)?, grad, output)
}

#[kernel(AvgPool3DGrad, T = [F16, Bf16, f32, f64])]
fn volume_average_pool_grad<T: Element + Precision<Compute: Elementary>>(
    #[state] it: &VolumePooling,
    orig_input_shape: HostIn<'_, i32>,
    grad: In<'_, T>,
    output: Out<'_, T>,
) -> Result<()> {
    it.gradient_of_averages(&shape("orig_input_shape", &orig_input_shape)?, grad, output)
}

#[kernel(MaxPool3DGrad, T = [F16, Bf16, f32], TInput: U = [F16, Bf16, f32])]
fn volume_max_pool_grad<
    T: Element + Precision<Compute = f32>,
    U: Element + Precision<Compute = f32>,
>(
    #[state] it: &VolumePooling,
    orig_input: In<'_, U>,
    orig_output: In<'_, U>,
    grad: In<'_, T>,
    output: Out<'_, T>,
) -> Result<()> {
    let plan = it.plan(orig_input.dims())?;
    it.check_output("orig_output", &plan, orig_output.dims())?;
    it.check_output("grad", &plan, grad.dims())?;
    let [input, result] = [&orig_input, &orig_output].map(|it| U::widened(it.data()));
    let (gradient, format) = (T::widened(grad.data()), it.format);
    format.write(plan.input_3d(), output, |dx| {
        format.read(plan.input_3d(), &input, |x| {
            format.read(plan.output_3d(), &result, |y| {
                format.read(plan.output_3d(), &gradient, |dy| {
                    pool::max_pool_3d_grad(&plan, [x, y], dy, dx)
                });
            });
        });
    })
}
