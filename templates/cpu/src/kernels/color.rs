//! Colors of images, and local response normalization.

use super::image::to_dims;
use super::prelude::*;
use crate::compute::elementary::Real;
use crate::compute::image::color::{self, Color};
use crate::compute::nn::lrn::{self, Normalization};
use sp_plugin::Code;

/// Functions of a color: `name: Op => function`.
macro_rules! colors {
    ($($name:ident: $op:ident => $f:path;)*) => {$(
        #[kernel($op, T = [F16, Bf16, f32, f64])]
        fn $name<T: Element + Precision<Compute: Real>>(images: In<'_, T>, output: Out<'_, T>) -> Result<()> {
            check_channels(images.dims())?;
            write_colors(images, output, $f)
        }
    )*};
}

/// Functions of a color and a number: `name: Op(input) => function that returns the function of a color`.
macro_rules! adjustments {
    ($($name:ident: $op:ident($by:ident) => $f:path;)*) => {$(
        #[kernel($op, T = [F16, f32])]
        fn $name<T: Element + Precision<Compute = f32>>(
            images: In<'_, T>,
            $by: HostIn<'_, f32>,
            output: Out<'_, T>,
        ) -> Result<()> {
            check_rank(images.dims())?;
            if images.dims().last() != Some(&3) {
                return invalid!("images of shape {:?} must have 3 channels", images.dims());
            }
            write_colors(images, output, $f(read_scalar(stringify!($by), &$by)?))
        }
    )*};
}

colors! {
    rgb_to_hsv: RGBToHSV => color::hsv_from_rgb;
    hsv_to_rgb: HSVToRGB => color::rgb_from_hsv;
}

adjustments! {
    adjust_saturation: AdjustSaturation(scale) => color::saturate;
    adjust_hue: AdjustHue(delta) => color::rotate_hue;
}

/// Writes `f` of each color.
fn write_colors<T: Element + Precision<Compute: Real>>(
    images: In<'_, T>,
    output: Out<'_, T>,
    f: impl Fn(Color<T::Compute>) -> Color<T::Compute> + Sync,
) -> Result<()> {
    let mut output = output.unspecified(images.dims())?;
    let images = T::widened(images.data());
    T::overwrite(&mut output, |out| color::map_colors(&images, out, f));
    Ok(())
}

/// Checks that the last dim is that of three channels.
fn check_channels(dims: &[usize]) -> Result<()> {
    match dims.last() {
        Some(3) => Ok(()),
        Some(other) => Err(Error::new(
            Code::FAILED_PRECONDITION,
            format!("images must have 3 channels, not {other}"),
        )),
        None => invalid!("images must have one dimension or more"),
    }
}

/// Checks that there are rows, columns and channels.
fn check_rank(dims: &[usize]) -> Result<()> {
    match dims.len() {
        0..3 => invalid!("images must have 3 dimensions or more, not shape {dims:?}"),
        _ => Ok(()),
    }
}

#[kernel(AdjustContrastv2, T = [F16, f32])]
fn adjust_contrast<T: Element + Precision<Compute = f32>>(
    images: In<'_, T>,
    contrast_factor: HostIn<'_, f32>,
    output: Out<'_, T>,
) -> Result<()> {
    check_rank(images.dims())?;
    let factor = read_scalar("contrast_factor", &contrast_factor)?;
    let (batch, image) = images.dims().split_at(images.dims().len() - 3);
    let dims = [len(batch), len(&image[..2]), image[2]];
    let mut output = output.unspecified(images.dims())?;
    let images = T::widened(images.data());
    T::overwrite(&mut output, |out| {
        color::adjust_contrast(dims, factor, &images, out)
    });
    Ok(())
}

/// Returns the attributes of a normalization.
fn normalization(radius: i64, bias: f32, alpha: f32, beta: f32) -> Result<Normalization> {
    let message = || {
        Error::invalid_argument(format!(
            "depth_radius {radius} must be from 0 to 2147483647"
        ))
    };
    let depth_radius = i32::try_from(radius).ok().and_then(|it| it.try_into().ok());
    Ok(Normalization {
        depth_radius: depth_radius.ok_or_else(message)?,
        bias,
        alpha,
        beta,
    })
}

#[kernel(LRN, T = [F16, Bf16, f32])]
fn normalize<T: Element + Precision<Compute = f32>>(
    input: In<'_, T>,
    output: Out<'_, T>,
    depth_radius: i64,
    bias: f32,
    alpha: f32,
    beta: f32,
) -> Result<()> {
    let dims = to_dims::<4>("input", input.dims())?;
    let it = normalization(depth_radius, bias, alpha, beta)?;
    let mut output = output.unspecified(&dims)?;
    let x = T::widened(input.data());
    T::overwrite(&mut output, |y| lrn::normalize(&it, dims[3], &x, y));
    Ok(())
}

#[kernel(LRNGrad, T = [F16, Bf16, f32])]
fn normalize_grad<T: Element + Precision<Compute = f32>>(
    input_grads: In<'_, T>,
    input_image: In<'_, T>,
    output_image: In<'_, T>,
    output: Out<'_, T>,
    depth_radius: i64,
    bias: f32,
    alpha: f32,
    beta: f32,
) -> Result<()> {
    let dims = to_dims::<4>("input_grads", input_grads.dims())?;
    if [input_image.dims(), output_image.dims()] != [&dims[..]; 2] {
        return invalid!(
            "input_grads, input_image and output_image must have one shape, not {dims:?}, {:?} and {:?}",
            input_image.dims(),
            output_image.dims()
        );
    }
    let it = normalization(depth_radius, bias, alpha, beta)?;
    let mut output = output.unspecified(&dims)?;
    let [dy, x, y] = [&input_grads, &input_image, &output_image].map(|it| T::widened(it.data()));
    T::overwrite(&mut output, |dx| {
        lrn::normalize_grad(&it, dims[3], [&dy, &x, &y], dx)
    });
    Ok(())
}

table! {
    rgb_to_hsv, hsv_to_rgb, adjust_saturation, adjust_hue, adjust_contrast, normalize,
    normalize_grad,
}
