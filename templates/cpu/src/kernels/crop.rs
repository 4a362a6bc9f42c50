//! Parts of images, resized to one size, and their gradients.

use super::image::{shape, to_dims};
use super::prelude::*;
use super::resize::{floats, image_size};
use crate::compute::image::Interpolation;
use crate::compute::image::crop::{self, Crop};
use crate::compute::image::crop_grad::{add_box_gradient, add_image_gradient};
use sp_plugin::Code;

/// The computation of an element of a part.
#[derive(Clone, Copy, AttributeValue)]
enum Method {
    /// The average of the four elements around.
    #[value("bilinear")]
    Bilinear,
    /// The nearest element.
    #[value("nearest")]
    Nearest,
}

impl From<Method> for Interpolation {
    fn from(method: Method) -> Self {
        match method {
            Method::Bilinear => Self::Bilinear,
            Method::Nearest => Self::Nearest,
        }
    }
}

/// The boxes of the parts, and the image of each.
#[derive(Clone, Copy)]
struct Boxes<'a, 'c> {
    boxes: &'a In<'c, f32>,
    indices: &'a In<'c, i32>,
}

impl<'a> Boxes<'a, '_> {
    /// Returns the plan for parts of `size` rows and columns.
    ///
    /// # Errors
    /// Returns an error if a shape is wrong, the images have no rows or columns, or a box is not finite. Also if the image of a
    /// box does not exist.
    fn plan(
        self,
        images: [usize; 4],
        size: [usize; 2],
        interpolation: Interpolation,
        outside: f32,
    ) -> Result<Crop<'a>> {
        self.check_dims()?;
        if images[1] == 0 || images[2] == 0 {
            return invalid!("image of shape {images:?} must have rows and columns");
        }
        let is_empty = self.indices.is_empty();
        let plan = Crop {
            images,
            size,
            boxes: if is_empty { &[] } else { self.boxes.data() },
            indices: self.indices.data(),
            interpolation,
            outside,
        };
        check_values(&plan)?;
        Ok(plan)
    }

    /// Checks that there are four numbers and one image for each box.
    fn check_dims(self) -> Result<()> {
        match (self.boxes.dims(), self.indices.dims()) {
            (&[count, 4], &[found]) if count == found => Ok(()),
            (&[_, _], [0]) if self.boxes.is_empty() => Ok(()),
            (boxes, indices) => invalid!(
                "boxes must be 2-D, boxes must have 4 columns, and box_index must have an element for each, but the shapes are {} and {}: \
                 box_index has incompatible shape if it has another number",
                Dims(boxes),
                Dims(indices)
            ),
        }
    }
}

/// Checks that the boxes are finite, and of images that exist.
fn check_values(plan: &Crop<'_>) -> Result<()> {
    let count = plan.images[0];
    let is_image = |index: &&i32| usize::try_from(**index).is_ok_and(|it| it < count);
    if let Some(index) = plan.indices.iter().find(|it| !is_image(it)) {
        let message = format!("box_ind has {index}, but there are {count} images");
        return Err(Error::new(Code::OUT_OF_RANGE, message));
    }
    match plan.boxes.iter().find(|it| !it.is_finite()) {
        None => Ok(()),
        Some(edge) => invalid!("boxes must be finite, but one has {edge}"),
    }
}

/// Kernels of parts: `name in [types] => function that returns the elements of the images`. The images of rare types are
/// converted first: the loops are compiled for common types only.
macro_rules! crops {
    ($($name:ident in [$($ty:ident),*] => $elements:expr;)*) => {$(
        #[kernel(CropAndResize, T = [$($ty),*])]
        fn $name<T: Element + Cast<f32>>(
            image: In<'_, T>,
            boxes: In<'_, f32>,
            box_ind: In<'_, i32>,
            crop_size: HostIn<'_, i32>,
            crops: Out<'_, f32>,
            method: Method,
            extrapolation_value: f32,
        ) -> Result<()> {
            let images = to_dims("image", image.dims())?;
            let size = image_size("crop_size", &crop_size)?;
            let boxes = Boxes { boxes: &boxes, indices: &box_ind };
            let plan = boxes.plan(images, size, method.into(), extrapolation_value)?;
            let mut output = crops.zeroed(&plan.output())?;
            crop::crop_and_resize(&plan, &$elements(&image), &mut output);
            Ok(())
        }
    )*};
}

crops! {
    crop_and_resize in [F16, f32, f64, u8] => In::data;
    crop_and_resize_rare in [i8, i32, i64] => floats;
}

/// Returns the plan of the parts whose gradient an op has as an input.
fn gradient_plan<'a>(
    grads: &In<'_, f32>,
    images: [usize; 4],
    boxes: Boxes<'a, '_>,
    interpolation: Interpolation,
) -> Result<Crop<'a>> {
    let [count, rows, columns, channels] = to_dims("grads", grads.dims())?;
    let invalid = |text: String| Err(Error::invalid_argument(text));
    if count != boxes.indices.len() || channels != images[3] {
        return invalid(format!(
            "grads of shape {:?} must have an element for each of {} boxes, and the channels of images of shape {images:?}",
            grads.dims(),
            boxes.indices.len()
        ));
    }
    if rows == 0 || columns == 0 {
        return invalid(format!(
            "grads of shape {:?} must have rows and columns",
            grads.dims()
        ));
    }
    boxes.plan(images, [rows, columns], interpolation, 0.0)
}

#[kernel(CropAndResizeGradImage, T = [F16, f32, f64])]
fn crop_grad_image<T: Element + Precision<Compute: Number + std::ops::AddAssign>>(
    grads: In<'_, f32>,
    boxes: In<'_, f32>,
    box_ind: In<'_, i32>,
    image_size: HostIn<'_, i32>,
    output: Out<'_, T>,
    method: Method,
) -> Result<()>
where
    f32: Cast<T::Compute>,
{
    let images = to_dims("the image", &shape("image_size", &image_size)?)?;
    let boxes = Boxes {
        boxes: &boxes,
        indices: &box_ind,
    };
    let plan = gradient_plan(&grads, images, boxes, method.into())?;
    let mut output = output.zeroed(&images)?;
    T::update(&mut output, |dx| {
        add_image_gradient(&plan, grads.data(), dx)
    });
    Ok(())
}

/// The only method of the op.
#[derive(Clone, Copy, AttributeValue)]
enum BilinearOnly {
    #[value("bilinear")]
    Bilinear,
}

#[kernel(CropAndResizeGradBoxes, T = [F16, f32, f64])]
fn crop_grad_boxes<T: Element + Cast<f32>>(
    grads: In<'_, f32>,
    image: In<'_, T>,
    boxes: In<'_, f32>,
    box_ind: In<'_, i32>,
    output: Out<'_, f32>,
    method: BilinearOnly,
) -> Result<()> {
    let BilinearOnly::Bilinear = method;
    let images = to_dims("image", image.dims())?;
    let boxes = Boxes {
        boxes: &boxes,
        indices: &box_ind,
    };
    let plan = gradient_plan(&grads, images, boxes, Interpolation::Bilinear)?;
    let mut output = output.zeroed(&[box_ind.len(), 4])?;
    add_box_gradient(&plan, grads.data(), image.data(), &mut output);
    Ok(())
}

table! { crop_and_resize, crop_and_resize_rare, crop_grad_image, crop_grad_boxes }
