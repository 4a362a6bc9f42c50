//! Checks of numbers, approximate equality, histograms and buckets.

use super::elementwise::{check_same, map_two};
use super::prelude::*;
use crate::compute::checks::{NotFinite, bucket, histogram, is_near};

/// Kernels that reject numbers that are not finite: `name: Op => true if infinities have a sign in the message`.
macro_rules! checks {
    ($($name:ident: $op:ident => $signed:expr;)*) => {$(
        #[kernel($op, T = [F16, Bf16, f32, f64])]
        fn $name<T: Element + Precision<Compute: Float>>(
            tensor: In<'_, T>,
            output: Out<'_, T>,
            message: &str,
        ) -> Result<()> {
            check(&NotFinite::find(&T::widened(tensor.data())), message, $signed)?;
            output.set(tensor)
        }
    )*};
}

checks! {
    check_numerics: CheckNumerics => false;
    check_numerics_v2: CheckNumericsV2 => true;
}

fn check(found: &NotFinite, message: &str, signed: bool) -> Result<()> {
    match found.names(signed) {
        None => Ok(()),
        Some(names) => invalid!("{message} : Tensor had {names} values"),
    }
}

#[kernel(ApproximateEqual, T = [f32, f64])]
fn approximate_equal<T: Element + Precision<Compute = T> + Number>(
    x: In<'_, T>,
    y: In<'_, T>,
    z: Out<'_, Bool>,
    tolerance: f32,
) -> Result<()>
where
    f32: Cast<T>,
{
    check_same((x.dims(), "x"), (y.dims(), "y"))?;
    let tolerance: T = tolerance.cast();
    map_two(cost::Cheap, x, y, z, move |x, y| {
        Bool::from(is_near(x, y, tolerance))
    })
}

#[kernel(HistogramFixedWidth, T = [i32, i64, f32, f64], dtype: C = [i32, i64])]
fn histogram_fixed_width<T: Element + Number + Cast<f64>, C: Element + Number>(
    values: In<'_, T>,
    value_range: HostIn<'_, T>,
    nbins: HostIn<'_, i32>,
    out: Out<'_, C>,
) -> Result<()> {
    let &[first, end] = value_range.data() else {
        return invalid!(
            "value_range must have 2 elements, not shape {:?}",
            value_range.dims()
        );
    };
    let mut out = out.zeroed(&[bin_count(&nbins)?])?;
    histogram(values.data(), [first, end], &mut out)?;
    Ok(())
}

/// Returns the number of bins.
fn bin_count(nbins: &HostIn<'_, i32>) -> Result<usize> {
    match read_scalar("nbins", nbins)? {
        count @ 1.. => Ok(count as usize),
        count => invalid!("nbins must be above 0, not {count}"),
    }
}

#[derive(sp_plugin::kernel::Attributes)]
struct BucketAttributes {
    boundaries: Vec<f32>,
}

/// The boundaries of buckets, in ascending order.
struct Boundaries {
    singles: Vec<f32>,
    doubles: Vec<f64>,
}

impl Prepare for Boundaries {
    type Attributes = BucketAttributes;

    fn prepare(BucketAttributes { boundaries }: BucketAttributes) -> Result<Self> {
        match boundaries.is_sorted() {
            true => Ok(Self {
                doubles: boundaries.iter().map(|it| (*it).into()).collect(),
                singles: boundaries,
            }),
            false => invalid!("boundaries must be in ascending order"),
        }
    }
}

#[kernel(Bucketize, T = [i32, i64, f32])]
fn bucketize<T: Element + Cast<f32>>(
    #[state] it: &Boundaries,
    input: In<'_, T>,
    output: Out<'_, i32>,
) -> Result<()> {
    let x = input.data();
    let output = output.uninit(input.dims())?;
    output.write_with(|at| bucket(&it.singles, x[at].cast()) as i32);
    Ok(())
}

#[kernel(Bucketize, T = [f64])]
fn bucketize_double<T: Element + Cast<f64>>(
    #[state] it: &Boundaries,
    input: In<'_, T>,
    output: Out<'_, i32>,
) -> Result<()> {
    let x = input.data();
    let output = output.uninit(input.dims())?;
    output.write_with(|at| bucket(&it.doubles, x[at].cast()) as i32);
    Ok(())
}

table! {
    check_numerics, check_numerics_v2, approximate_equal, histogram_fixed_width, bucketize,
    bucketize_double,
}
