//! Images of another size.

use super::image::to_dims;
use super::prelude::*;
use crate::compute::elementary::Elementary;
use crate::compute::image::resize::{self, Alignment, Resize};

/// The attributes of the four ops that resize images.
#[derive(Attributes)]
struct AlignmentAttributes {
    align_corners: bool,
    half_pixel_centers: bool,
}

impl AlignmentAttributes {
    fn alignment(&self) -> Alignment {
        Alignment {
            align_corners: self.align_corners,
            half_pixel_centers: self.half_pixel_centers,
        }
    }

    /// Returns the alignment, of which at most one attribute may be true.
    fn exclusive(&self) -> Result<Alignment> {
        match self.align_corners && self.half_pixel_centers {
            false => Ok(self.alignment()),
            true => invalid!("align_corners and half_pixel_centers must not both be true"),
        }
    }
}

/// Returns the rows and columns that an input states.
///
/// # Errors
/// Returns an error if there are not two, or one is not positive.
pub fn image_size(name: &str, size: &HostIn<'_, i32>) -> Result<[usize; 2]> {
    let is_vector = size.dims().len() == 1;
    match *size.data() {
        [rows, columns] if is_vector && rows > 0 && columns > 0 => {
            Ok([rows as usize, columns as usize])
        }
        _ => invalid!(
            "{name} {} of shape {:?} must be a vector of two positive numbers: output dimensions must be positive",
            listed(size.data()),
            size.dims()
        ),
    }
}

/// Returns the plan for images.
///
/// # Errors
/// Returns an error if an image has no elements.
fn plan(images: &[usize], size: [usize; 2], alignment: Alignment) -> Result<Resize> {
    let dims = to_dims::<4>("input", images)?;
    if dims[1..].contains(&0) {
        return invalid!("images of shape {dims:?} must not be empty");
    }
    Ok(Resize::new(dims, size, alignment))
}

/// Kernels of bilinear interpolation: `name in [types] => function that returns the elements of the images`. The images of
/// rare types are converted first: the loops are compiled for common types only.
macro_rules! bilinear {
    ($($name:ident in [$($ty:ident),*] => $elements:expr;)*) => {$(
        #[kernel(ResizeBilinear, T = [$($ty),*])]
        fn $name<T: Element + Cast<f32>>(
            #[state] attributes: &AlignmentAttributes,
            images: In<'_, T>,
            size: HostIn<'_, i32>,
            resized_images: Out<'_, f32>,
        ) -> Result<()> {
            let size = image_size("size", &size)?;
            let plan = plan(images.dims(), size, attributes.exclusive()?)?;
            let mut output = resized_images.unspecified(&plan.resized())?;
            resize::bilinear(&plan, &$elements(&images), &mut output);
            Ok(())
        }
    )*};
}

bilinear! {
    bilinear in [F16, Bf16, f32, f64, u8] => In::data;
    bilinear_rare in [i8, i32, i64] => floats;
}

/// Returns all elements as `f32`.
pub fn floats<T: Element + Cast<f32>>(x: &In<'_, T>) -> Vec<f32> {
    allocation::collect(x.data().iter().map(|x| x.cast()))
}

#[kernel(ResizeBilinearGrad, T = [F16, Bf16, f32, f64])]
fn bilinear_grad<T: Element + Precision<Compute: Elementary>>(
    #[state] attributes: &AlignmentAttributes,
    grads: In<'_, f32>,
    original_image: In<'_, T>,
    output: Out<'_, T>,
) -> Result<()> {
    let [_, rows, columns, _] = to_dims("original_image", original_image.dims())?;
    let [batch, resized_rows, resized_columns, channels] = to_dims("grads", grads.dims())?;
    if [rows, columns, resized_rows, resized_columns].contains(&0) {
        return invalid!(
            "grads of shape {:?} and original_image of shape {:?} must have rows and columns",
            grads.dims(),
            original_image.dims()
        );
    }
    let (dims, size) = (
        [batch, rows, columns, channels],
        [resized_rows, resized_columns],
    );
    let plan = Resize::new(dims, size, attributes.exclusive()?);
    let mut output = output.zeroed(&dims)?;
    T::update(&mut output, |dx| {
        resize::bilinear_grad(&plan, grads.data(), dx)
    });
    Ok(())
}

#[kernel(ResizeNearestNeighbor, T = [F16, Bf16, f32, f64, u8, i8, i32, i64])]
fn nearest<T: Element>(
    #[state] attributes: &AlignmentAttributes,
    images: In<'_, T>,
    size: HostIn<'_, i32>,
    resized_images: Out<'_, T>,
) -> Result<()> {
    let plan = plan(
        images.dims(),
        image_size("size", &size)?,
        attributes.exclusive()?,
    )?;
    let mut output = resized_images.unspecified(&plan.resized())?;
    resize::nearest(&plan, images.data(), &mut output);
    Ok(())
}

/// Permits both attributes, as the kernel on the CPU does.
#[kernel(ResizeNearestNeighborGrad, T = [F16, Bf16, f32, f64, u8, i8, i32])]
fn nearest_grad<T: Element + Precision<Compute: Number>>(
    #[state] attributes: &AlignmentAttributes,
    grads: In<'_, T>,
    size: HostIn<'_, i32>,
    output: Out<'_, T>,
) -> Result<()> {
    let [batch, resized_rows, resized_columns, channels] = to_dims("grads", grads.dims())?;
    let [rows, columns] = image_size("size", &size)?;
    let dims = [batch, rows, columns, channels];
    let mut output = output.zeroed(&dims)?;
    let size = [resized_rows, resized_columns];
    let plan = Resize::new(dims, size, attributes.alignment());
    let gradient = T::widened(grads.data());
    T::update(&mut output, |dx| resize::nearest_grad(&plan, &gradient, dx));
    Ok(())
}

table! { bilinear, bilinear_rare, bilinear_grad, nearest, nearest_grad }
