//! Patches of images and volumes, and grayscale dilation.

use super::image::{
    DataFormat, PaddingKind, check_dims, not_spatial, paddings, slides, spatial, to_dims, to_size,
};
use super::prelude::*;
use super::volume::slides_3d;
use crate::compute::movement::checked_len;
use crate::compute::movement::patches::Patches;
use crate::compute::nn::dilation::{Dilation, DilationOperand, add_gradient, dilate};
use crate::compute::nn::window::{Padding, Slide};
use crate::compute::search::Extremes;
use sp_plugin::Code;
use std::mem::MaybeUninit;

/// Returns the spatial elements of an attribute of patches, whose first and last ones are 1.
fn spatial_sizes<const N: usize>(name: &str, values: &[i64]) -> Result<[usize; N]> {
    let [1, inner @ .., 1] = values else {
        return Err(Error::unimplemented(not_spatial(name, values)));
    };
    let sizes: Vec<usize> = inner
        .iter()
        .filter(|it| **it > 0)
        .filter_map(|it| to_size(*it))
        .collect();
    sizes.try_into().map_err(|_| {
        let message =
            format!("{name} {values:?} must have {N} spatial elements, from 1 to 2147483647");
        Error::new(Code::OUT_OF_RANGE, message)
    })
}

#[derive(Attributes)]
struct ImagePatchAttributes {
    ksizes: Vec<i64>,
    strides: Vec<i64>,
    rates: Vec<i64>,
    padding: PaddingKind,
}

/// The windows of an op of patches.
struct PatchWindows {
    size: [usize; 3],
    slides: [Slide; 3],
}

/// The windows of patches of images.
struct ImagePatches(PatchWindows);

impl Prepare for ImagePatches {
    type Attributes = ImagePatchAttributes;

    fn prepare(it: ImagePatchAttributes) -> Result<Self> {
        let [rows, columns] = spatial_sizes("ksizes", &it.ksizes)?;
        let (strides, rates) = (
            spatial_sizes("strides", &it.strides)?,
            spatial_sizes("rates", &it.rates)?,
        );
        let paddings = paddings(it.padding, &[], DataFormat::ChannelsLast)?;
        let [along_rows, along_columns] = slides(strides, rates, paddings);
        Ok(Self(PatchWindows {
            size: [1, rows, columns],
            slides: [Slide::NONE, along_rows, along_columns],
        }))
    }
}

#[derive(Attributes)]
struct VolumePatchAttributes {
    ksizes: Vec<i64>,
    strides: Vec<i64>,
    padding: PaddingKind,
}

/// The windows of patches of volumes.
struct VolumePatches(PatchWindows);

impl Prepare for VolumePatches {
    type Attributes = VolumePatchAttributes;

    fn prepare(it: VolumePatchAttributes) -> Result<Self> {
        let strides = spatial_sizes("strides", &it.strides)?;
        Ok(Self(PatchWindows {
            size: spatial_sizes("ksizes", &it.ksizes)?,
            slides: slides_3d(strides, [1; 3], it.padding)?,
        }))
    }
}

impl PatchWindows {
    /// Writes the patches of an input; `dims` returns the dims of the result.
    fn write<const N: usize>(
        &self,
        input: [usize; 5],
        x: &BytesIn<'_>,
        dims: impl FnOnce([usize; 5]) -> [usize; N],
        patches: BytesOut<'_>,
    ) -> Result<()> {
        let plan = Patches::new(input, self.size, self.slides)?;
        checked_len(&plan.output())?;
        let mut output = patches.uninit(&dims(plan.output()))?;
        let (x, zero) = (x.as_uninit_slice(), MaybeUninit::new(0));
        let width = output.width();
        plan.extract(width, x, zero, output.as_uninit_slice());
        Ok(())
    }
}

#[kernel(ExtractImagePatches, T = [..])]
fn extract_image_patches(
    #[state] ImagePatches(it): &ImagePatches,
    images: BytesIn<'_>,
    patches: BytesOut<'_>,
) -> Result<()> {
    let [batch, rows, columns, channels] = to_dims("images", images.dims())?;
    let input = [batch, 1, rows, columns, channels];
    it.write(input, &images, |[b, _, y, x, c]| [b, y, x, c], patches)
}

#[kernel(ExtractVolumePatches, T = [..])]
fn extract_volume_patches(
    #[state] VolumePatches(it): &VolumePatches,
    input: BytesIn<'_>,
    patches: BytesOut<'_>,
) -> Result<()> {
    it.write(
        to_dims("input", input.dims())?,
        &input,
        |dims| dims,
        patches,
    )
}

#[derive(Attributes)]
struct DilationAttributes {
    strides: Vec<i64>,
    rates: Vec<i64>,
    padding: PaddingKind,
}

/// The movement of the windows of a dilation.
struct DilationSlides([Slide; 2]);

impl Prepare for DilationSlides {
    type Attributes = DilationAttributes;

    fn prepare(it: DilationAttributes) -> Result<Self> {
        let format = DataFormat::ChannelsLast;
        let strides = spatial("strides", &it.strides, format)?;
        let rates = spatial("rates", &it.rates, format)?;
        let paddings: [Padding; 2] = paddings(it.padding, &[], format)?;
        Ok(Self(slides(strides, rates, paddings)))
    }
}

impl DilationSlides {
    fn plan(&self, input: &[usize], filter: &[usize]) -> Result<Dilation> {
        let input = to_dims::<4>("input", input)?;
        match *filter {
            [rows, columns, channels] if channels == input[3] => {
                Ok(Dilation::new(input, [rows, columns], self.0)?)
            }
            _ => invalid!(
                "filter must have rows, columns and the channels of the input {input:?}, not shape {filter:?}"
            ),
        }
    }

    fn gradient<T: Element + Precision<Compute: Number> + Extremes>(
        &self,
        operand: DilationOperand,
        [input, filter, gradient]: [In<'_, T>; 3],
        output: Out<'_, T>,
    ) -> Result<()> {
        let plan = self.plan(input.dims(), filter.dims())?;
        check_dims("out_backprop", gradient.dims(), &plan.output())?;
        let mut output = output.zeroed(match operand {
            DilationOperand::Input => input.dims(),
            DilationOperand::Filter => filter.dims(),
        })?;
        let [x, filter, dy] = [&input, &filter, &gradient].map(|it| T::widened(it.data()));
        T::update(&mut output, |out| {
            let lowest = T::LOWEST_FINITE.to_compute();
            add_gradient(&plan, lowest, operand, [&x, &filter, &dy], out)
        });
        Ok(())
    }
}

#[kernel(Dilation2D, T = [F16, Bf16, f32, f64])]
fn dilation<T: Element + Precision<Compute: Number> + Extremes>(
    #[state] it: &DilationSlides,
    input: In<'_, T>,
    filter: In<'_, T>,
    output: Out<'_, T>,
) -> Result<()> {
    let plan = it.plan(input.dims(), filter.dims())?;
    let mut output = output.unspecified(&plan.output())?;
    let [x, filter] = [&input, &filter].map(|it| T::widened(it.data()));
    T::overwrite(&mut output, |y| {
        dilate(&plan, T::LOWEST_FINITE.to_compute(), &x, &filter, y)
    });
    Ok(())
}

/// Kernels of the gradients of a dilation: `name: Op => operand, output`.
macro_rules! dilation_gradients {
    ($($name:ident: $op:ident => $operand:ident, $output:ident;)*) => {$(
        #[kernel($op, T = [F16, Bf16, f32, f64])]
        fn $name<T: Element + Precision<Compute: Number> + Extremes>(
            #[state] it: &DilationSlides,
            input: In<'_, T>,
            filter: In<'_, T>,
            out_backprop: In<'_, T>,
            $output: Out<'_, T>,
        ) -> Result<()> {
            it.gradient(DilationOperand::$operand, [input, filter, out_backprop], $output)
        }
    )*};
}

dilation_gradients! {
    dilation_grad_input: Dilation2DBackpropInput => Input, in_backprop;
    dilation_grad_filter: Dilation2DBackpropFilter => Filter, filter_backprop;
}

table! {
    extract_image_patches, extract_volume_patches, dilation, dilation_grad_input,
    dilation_grad_filter,
}
