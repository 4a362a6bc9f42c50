//! Casts from one element type to another: one kernel for all pairs of types.
//!
//! Common pairs have a loop of their own. The others go through int64, float or double, in chunks that fit in the first
//! cache: loops for all pairs would be the largest part of the library.

use super::prelude::*;
use crate::compute::cast::cast_slice;
use crate::compute::parallel::for_each_row_chunk;
use sp_plugin::kernel::DataType;
use sp_plugin::{F8E4M3FN, F8E5M2}; // since 2.12
use sp_plugin::{Int4, Uint4}; // since 2.15
use std::mem::MaybeUninit;

/// Converts elements, of which both slices have the same number.
type Step = fn(&[u8], &mut [MaybeUninit<u8>]);

#[derive(Attributes)]
struct CastAttributes {
    #[attribute("SrcT")]
    from: DataType,
    #[attribute("DstT")]
    to: DataType,
    #[attribute("Truncate")]
    truncate: bool,
}

/// The loops that convert one type to another.
struct Route {
    /// None for equal types.
    steps: Vec<Step>,
    /// The sizes of elements: of the input, and after each step.
    sizes: Vec<usize>,
}

impl Prepare for Route {
    type Attributes = CastAttributes;

    fn prepare(attributes: CastAttributes) -> Result<Self> {
        let CastAttributes { from, to, truncate } = attributes;
        let unsupported = || {
            let kind = if truncate { "truncating " } else { "" };
            let [from, to] = [from, to].map(type_name);
            Error::unimplemented(format!("{kind}Cast from {from} to {to} is not supported"))
        };
        let stops = match from == to {
            true => vec![from],
            false => route(integer(from), integer(to)),
        };
        if truncate && is_float(from) && is_float(to) && from != to {
            return Err(unsupported());
        }
        let steps = stops.windows(2).map(|it| step(it[0], it[1]));
        let steps = steps.collect::<Option<_>>().ok_or_else(unsupported)?;
        let sizes = stops.iter().map(|it| size_of_element(*it)).collect();
        Ok(Self { steps, sizes })
    }
}

#[kernel(Cast)]
fn cast(x: BytesIn<'_>, y: BytesOut<'_>, #[state] route: &Route) -> Result<()> {
    if route.steps.is_empty() {
        return y.set(&x);
    }
    route.convert(x.bytes(), y.uninit(x.dims())?.as_uninit_slice());
    Ok(())
}

/// Returns the name of a type as programs write it, such as `int64`.
fn type_name(dtype: DataType) -> String {
    let name = format!("{dtype:?}");
    name.trim_start_matches("TF_").to_lowercase()
}

/// Number of elements that are converted in several steps at a time.
const CHUNK: usize = 512;

/// Memory for the elements between two steps: the largest have 16 bytes.
#[repr(align(64))]
struct Between([MaybeUninit<u8>; CHUNK * 16]);

impl Route {
    fn convert(&self, x: &[u8], out: &mut [MaybeUninit<u8>]) {
        match &self.steps[..] {
            [single] => single(x, out),
            [first, rest @ ..] => {
                let (from, to) = (self.sizes[0], self.sizes[self.steps.len()]);
                for_each_row_chunk(out, to, cost::Cheap.grain() * to, |start, out| {
                    let x = &x[start * from..][..out.len() / to * from];
                    let chunks = x.chunks(CHUNK * from).zip(out.chunks_mut(CHUNK * to));
                    chunks.for_each(|(x, out)| self.convert_chunk(*first, rest, x, out));
                });
            }
            [] => {}
        }
    }

    fn convert_chunk(&self, first: Step, rest: &[Step], x: &[u8], out: &mut [MaybeUninit<u8>]) {
        let len = x.len() / self.sizes[0];
        let mut memory = [const { Between([MaybeUninit::uninit(); CHUNK * 16]) }; 2];
        let [source, target] = &mut memory;
        let (mut source, mut target) = (source, target);
        first(x, &mut source.0[..len * self.sizes[1]]);
        for (index, step) in rest.iter().enumerate() {
            let elements = &source.0[..len * self.sizes[index + 1]];
            // SAFETY: the step before has written as many elements of this size.
            let elements = unsafe {
                std::slice::from_raw_parts(elements.as_ptr().cast::<u8>(), elements.len())
            };
            match index + 1 == rest.len() {
                true => step(elements, out),
                false => step(elements, &mut target.0[..len * self.sizes[index + 2]]),
            }
            std::mem::swap(&mut source, &mut target);
        }
    }
}

/// Returns the types that a cast goes through, the first and the last included.
fn route(from: DataType, to: DataType) -> Vec<DataType> {
    if step(from, to).is_some() {
        return vec![from, to];
    }
    let wide = wide(from);
    let last = match to {
        DataType::TF_COMPLEX128 => DataType::TF_DOUBLE,
        DataType::TF_COMPLEX64 | DataType::TF_HALF | DataType::TF_BFLOAT16 => DataType::TF_FLOAT,
        // since 2.12
        it if it == F8E5M2::DTYPE || it == F8E4M3FN::DTYPE => DataType::TF_FLOAT,
        _ if is_float(wide) || is_float(to) => wide,
        _ => DataType::TF_INT64,
    };
    // An integer is rounded to the same float with int64 between them or without, so that step is left out.
    let mut stops = match step(from, last) {
        Some(_) => vec![from, last, to],
        None => vec![from, wide, last, to],
    };
    stops.dedup();
    stops
}

/// Returns the type of 64 bits, or the float, that has all values of a type.
fn wide(from: DataType) -> DataType {
    match from {
        DataType::TF_UINT64 | DataType::TF_DOUBLE | DataType::TF_FLOAT => from,
        DataType::TF_COMPLEX128 => DataType::TF_DOUBLE,
        _ if is_float(from) => DataType::TF_FLOAT,
        _ => DataType::TF_INT64,
    }
}

/// Returns true for floats and complex numbers.
fn is_float(ty: DataType) -> bool {
    let known = [
        DataType::TF_HALF,
        DataType::TF_BFLOAT16,
        DataType::TF_FLOAT,
        DataType::TF_DOUBLE,
        DataType::TF_COMPLEX64,
        DataType::TF_COMPLEX128,
        F8E5M2::DTYPE,   // since 2.12
        F8E4M3FN::DTYPE, // since 2.12
    ];
    known.contains(&ty)
}

/// Returns the bytes of an element.
pub fn width(ty: DataType) -> usize {
    size_of_element(integer(ty))
}

/// Returns the integer that a quantized type is, and any other type as it is.
fn integer(ty: DataType) -> DataType {
    match ty {
        DataType::TF_QINT8 => DataType::TF_INT8,
        DataType::TF_QUINT8 => DataType::TF_UINT8,
        DataType::TF_QINT16 => DataType::TF_INT16,
        DataType::TF_QUINT16 => DataType::TF_UINT16,
        DataType::TF_QINT32 => DataType::TF_INT32,
        other => other,
    }
}

/// Converts the elements of `x`.
fn convert<S: Element + Cast<D>, D: Element>(x: &[u8], out: &mut [MaybeUninit<u8>]) {
    let (x_start, out_start) = (
        x.as_ptr().cast::<S>(),
        out.as_mut_ptr().cast::<MaybeUninit<D>>(),
    );
    assert!(x_start.is_aligned() && out_start.is_aligned());
    // SAFETY: both are aligned, and have as many elements as fit in their bytes. Any bytes are values of an `Element`,
    // and only values of `D` are written.
    unsafe {
        let x = std::slice::from_raw_parts(x_start, x.len() / size_of::<S>());
        let out = std::slice::from_raw_parts_mut(out_start, out.len() / size_of::<D>());
        cast_slice(x, out);
    }
}

macro_rules! steps {
    ($($($from:ident)+ => $($to:ident)+;)*) => {
        steps! { @ [] $([$($from)+] [$($to)+])* }
    };
    (@ [$($done:tt)*] [$from:ident $($more:ident)*] [$($to:ident)+] $($rest:tt)*) => {
        steps! { @ [$($done)* $([$from $to])+] [$($more)*] [$($to)+] $($rest)* }
    };
    (@ [$($done:tt)*] [] [$($to:ident)+] $($rest:tt)*) => {
        steps! { @ [$($done)*] $($rest)* }
    };
    (@ [$([$from:ident $to:ident])*]) => {
        /// Returns the loop that converts one type to another, if the pair has one.
        fn step(from: DataType, to: DataType) -> Option<Step> {
            let steps: &[(DataType, DataType, Step)] = &[$(($from::DTYPE, $to::DTYPE, convert::<$from, $to>)),*];
            let found = steps.iter().find(|it| (it.0, it.1) == (from, to));
            found.map(|it| it.2)
        }
    };
}

steps! {
    Bool u8 i8 i32 i64 f32 f64 => Bool u8 i8 i32 i64 f32 f64;
    i16 u16 u32 u64 => i64;
    i16 u16 => i16 u16;
    u64 => f32 f64;
    i64 f32 f64 => i16 u16 u32 u64;
    F16 Bf16 Complex64 => f32;
    f32 => F16 Bf16 Complex64;
    Bool => F16 Bf16;
    Complex128 => f64 Complex64;
    f64 => Complex128;
    Complex64 => Complex128;
    F8E5M2 F8E4M3FN => f32; // since 2.12
    f32 f64 => F8E5M2 F8E4M3FN; // since 2.12
    Int4 Uint4 => i64; // since 2.15
    i64 => Int4 Uint4; // since 2.15
}

macro_rules! sizes {
    ($($ty:ident)*) => {
        /// Returns the bytes of an element that is no quantized number.
        fn size_of_element(ty: DataType) -> usize {
            let sizes = [$(($ty::DTYPE, size_of::<$ty>())),*];
            let found = sizes.iter().find(|it| it.0 == ty);
            found.map_or(1, |it| it.1)
        }
    };
}

sizes!(i16 u16 i32 u32 i64 u64 F16 Bf16 f32 f64 Complex64 Complex128);
