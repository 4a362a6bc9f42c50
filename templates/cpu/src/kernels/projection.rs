//! Projective transforms of images.

use super::image::to_dims;
use super::prelude::*;
use super::resize::image_size;
use crate::compute::image::Interpolation;
use crate::compute::image::projection::{FillMode, Projection, project};

#[derive(Attributes)]
struct TransformAttributes {
    interpolation: String,
    fill_mode: String,
}

/// The checked attributes.
struct Transform {
    interpolation: Interpolation,
    fill_mode: FillMode,
}

impl Prepare for Transform {
    type Attributes = TransformAttributes;

    fn prepare(it: TransformAttributes) -> Result<Self> {
        let unknown = |name: &str, value: &str| invalid!("unknown {name} {value:?}");
        let interpolation = match &*it.interpolation {
            "NEAREST" => Interpolation::Nearest,
            "BILINEAR" => Interpolation::Bilinear,
            other => return unknown("interpolation", other),
        };
        let fill_mode = match &*it.fill_mode {
            "CONSTANT" => FillMode::Constant,
            "NEAREST" => FillMode::Nearest,
            "REFLECT" => FillMode::Reflect,
            "WRAP" => FillMode::Wrap,
            other => return unknown("fill_mode", other),
        };
        Ok(Self {
            interpolation,
            fill_mode,
        })
    }
}

impl Transform {
    fn write<T: Element + Cast<f32>>(
        &self,
        images: &In<'_, T>,
        transforms: &In<'_, f32>,
        size: [usize; 2],
        fill: f32,
        output: Out<'_, T>,
    ) -> Result<()>
    where
        f32: Cast<T>,
    {
        let dims = to_dims::<4>("images", images.dims())?;
        match transforms.dims() {
            &[count, 8] if count == 1 || count == dims[0] => {}
            found => {
                return invalid!(
                    "transforms must have shape [1, 8] or [{}, 8], not {found:?}",
                    dims[0]
                );
            }
        }
        let plan = Projection {
            images: dims,
            size,
            transforms: transforms.data(),
            interpolation: self.interpolation,
            fill_mode: self.fill_mode,
            fill_value: fill.cast(),
        };
        let mut output = output.zeroed(&plan.output())?;
        project(&plan, images.data(), &mut output);
        Ok(())
    }
}

#[kernel(ImageProjectiveTransformV2, dtype: T = [F16, Bf16, f32, f64, u8, i32, i64])]
fn transform_v2<T: Element + Cast<f32>>(
    #[state] it: &Transform,
    images: In<'_, T>,
    transforms: In<'_, f32>,
    output_shape: HostIn<'_, i32>,
    transformed_images: Out<'_, T>,
) -> Result<()>
where
    f32: Cast<T>,
{
    let size = image_size("output_shape", &output_shape)?;
    it.write(&images, &transforms, size, 0.0, transformed_images)
}

#[kernel(ImageProjectiveTransformV3, dtype: T = [F16, Bf16, f32, f64, u8, i32, i64])]
fn transform_v3<T: Element + Cast<f32>>(
    #[state] it: &Transform,
    images: In<'_, T>,
    transforms: In<'_, f32>,
    output_shape: HostIn<'_, i32>,
    fill_value: HostIn<'_, f32>,
    transformed_images: Out<'_, T>,
) -> Result<()>
where
    f32: Cast<T>,
{
    let size = image_size("output_shape", &output_shape)?;
    let fill = read_scalar("fill_value", &fill_value)?;
    it.write(&images, &transforms, size, fill, transformed_images)
}

table! { transform_v2, transform_v3 }
