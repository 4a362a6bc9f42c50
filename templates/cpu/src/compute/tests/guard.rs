//! Every function of the compute layer on memory between two inaccessible pages: a load or store outside of a
//! slice ends the test with a signal.

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ops::{Deref, DerefMut};
use std::ptr;

use super::*;
use crate::compute::cast::cast;
use crate::compute::map::{map1, map2, update};
use crate::compute::matmul::{Factor, Product, matmul, matmul_int};
use crate::compute::nn::bias::{ChannelLayout, bias_add, bias_add_grad};
use crate::compute::nn::conv::{Convolution, backprop_filter, backprop_input, convolve};
use crate::compute::nn::cross_entropy::sparse_softmax_cross_entropy;
use crate::compute::nn::relu::{relu, relu_grad};
use crate::compute::nn::window::{Padding, Slide};
use crate::compute::reduce::{Mean, Reduction, Sum, reduce};
use crate::compute::simd::{half, stream};
use crate::compute::{Broadcast, arith};
use sp_plugin::{Bf16, F16};

const PAGE: usize = 4096;

/// Position of a slice between the guard pages.
#[derive(Clone, Copy)]
enum SlicePosition {
    /// The slice begins where the first page ends.
    Start,
    /// The slice ends where the second page begins.
    End,
}

const SLICE_POSITIONS: [SlicePosition; 2] = [SlicePosition::Start, SlicePosition::End];

/// A slice in a mapping of its own, with an inaccessible page on either side.
struct Guarded<T> {
    mapping: *mut c_void,
    bytes: usize,
    data: *mut T,
    len: usize,
}

impl<T: Copy> Guarded<T> {
    fn new(values: &[T], position: SlicePosition) -> Self {
        let used = size_of_val(values).next_multiple_of(PAGE);
        let bytes = used + 2 * PAGE;
        let (read_write, private) = (
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
        );
        // SAFETY: a new mapping, of which the pages in the middle are made accessible.
        let mapping =
            unsafe { libc::mmap(ptr::null_mut(), bytes, libc::PROT_NONE, private, -1, 0) };
        assert_ne!(mapping, libc::MAP_FAILED);
        // SAFETY: the page after the first is inside of the mapping, or its second guard page.
        let first = unsafe { mapping.byte_add(PAGE) };
        if used > 0 {
            // SAFETY: these pages are the mapping's own.
            assert_eq!(unsafe { libc::mprotect(first, used, read_write) }, 0);
        }
        let offset = match position {
            SlicePosition::Start => 0,
            SlicePosition::End => used - size_of_val(values),
        };
        // SAFETY: the offset is at most `used`; a page's size is a multiple of every element's alignment.
        let data: *mut T = unsafe { first.byte_add(offset) }.cast();
        // SAFETY: the accessible pages have room for the values, and only this object has the mapping.
        unsafe { ptr::copy_nonoverlapping(values.as_ptr(), data, values.len()) };
        let len = values.len();
        Self {
            mapping,
            bytes,
            data,
            len,
        }
    }
}

impl<T> Deref for Guarded<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: `new` initialized this many elements in pages that live as long as `self`.
        unsafe { std::slice::from_raw_parts(self.data, self.len) }
    }
}

impl<T> DerefMut for Guarded<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and `self` is borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.data, self.len) }
    }
}

impl<T> Drop for Guarded<T> {
    fn drop(&mut self) {
        // SAFETY: `new` mapped it, and no borrow of it is left.
        assert_eq!(unsafe { libc::munmap(self.mapping, self.bytes) }, 0);
    }
}

/// Runs `f` on guarded copies, at both positions and on every instruction set, and compares with the same on
/// vectors.
fn check2<A: Copy, B: Copy, T: SameBits + Default>(
    x: &[A],
    y: &[B],
    len: usize,
    f: impl Fn(&[A], &[B], &mut [T]),
) {
    on_every_isa(|isa| {
        let mut expected = vec![T::default(); len];
        f(x, y, &mut expected);
        for position in SLICE_POSITIONS {
            let (x, y) = (Guarded::new(x, position), Guarded::new(y, position));
            let mut out = Guarded::new(&vec![T::default(); len], position);
            f(&x, &y, &mut out);
            assert_same(isa, &out, &expected);
        }
    });
}

fn check1<A: Copy, T: SameBits + Default>(x: &[A], len: usize, f: impl Fn(&[A], &mut [T])) {
    check2(x, &[0_u8; 0], len, |x, _, out| f(x, out));
}

/// Returns lengths around the widths of vectors, and some that are split into chunks.
fn lengths() -> impl Iterator<Item = usize> {
    (0..70).chain([127, 128, 129, 1000, 4097])
}

fn floats<T>(len: usize, from: impl Fn(f64) -> T) -> Vec<T> {
    (0..len).map(|i| from((i % 23) as f64 - 7.5)).collect()
}

#[test]
fn maps_stay_within_slices() {
    for len in lengths() {
        let (x, y) = (floats(len, |x| x as f32), floats(len, |x| x * 0.5));
        check1(&x, len, |x, out: &mut [f32]| map1(x, out, arith::neg));
        check1(&x, len, |x, out: &mut [f32]| map1(x, out, relu));
        check1(&y, len, |x, out: &mut [f64]| map1(x, out, arith::sqrt));
        check2(&x, &x, len, |x, y, out: &mut [f32]| {
            map2(
                &Broadcast::new([&[len], &[len]]).unwrap(),
                x,
                y,
                out,
                relu_grad,
            );
        });
        check2(&y, &[3.0], len, |x, y, out: &mut [f64]| {
            map2(
                &Broadcast::new([&[len], &[1]]).unwrap(),
                x,
                y,
                out,
                arith::real_div,
            );
        });
        check1(&x, len, |x, out: &mut [f32]| {
            update(out, x, |out, x| out + x);
        });
    }
}

#[test]
fn broadcasts_stay_within_slices() {
    for (rows, columns) in [(1, 1), (3, 5), (7, 8), (5, 33), (64, 3), (2, 1025)] {
        let (x, y) = (
            floats(rows * columns, |x| x as i32),
            floats(columns, |x| x as i32),
        );
        check2(&x, &y, rows * columns, |x, y, out: &mut [i32]| {
            map2(
                &Broadcast::new([&[rows, columns], &[columns]]).unwrap(),
                x,
                y,
                out,
                arith::mul,
            );
        });
        let column = floats(rows, |x| x as i32);
        check2(&column, &y, rows * columns, |x, y, out: &mut [i32]| {
            map2(
                &Broadcast::new([&[rows, 1], &[1, columns]]).unwrap(),
                x,
                y,
                out,
                arith::sub,
            );
        });
    }
}

macro_rules! casts {
    ($x:expr => $($to:ty),*) => {
        $(check1($x, $x.len(), |x, out: &mut [$to]| cast(x, out));)*
    };
}

#[test]
fn casts_stay_within_slices() {
    for len in lengths() {
        casts!(&floats(len, |x| x as f32) => Bool, u8, i16, i32, i64, f64, F16, Bf16);
        casts!(&floats(len, |x| x) => Bool, u8, i16, i32, i64, f32, F16, Bf16);
        casts!(&floats(len, |x| x as i64) => Bool, u8, i32, f32, f64);
        casts!(&floats(len, |x| F16::from_f32(x as f32)) => f32, f64, i32, Bf16);
        casts!(&floats(len, |x| Bf16::from_f32(x as f32)) => f32, f64, i32, F16);
        casts!(&floats(len, |x| x as u8) => Bool, i32, f32, F16);
    }
}

#[test]
fn reductions_stay_within_slices() {
    for dims in [
        [1, 1, 1],
        [3, 5, 7],
        [2, 33, 9],
        [17, 1, 65],
        [4, 128, 3],
        [0, 3, 2],
    ] {
        let len = dims.iter().product();
        let (x, whole) = (floats(len, |x| x as f32), floats(len, |x| x as i64));
        for axes in [
            &[][..],
            &[0],
            &[1],
            &[2],
            &[0, 1],
            &[1, 2],
            &[0, 2],
            &[0, 1, 2],
        ] {
            let plan = Reduction::new(&dims, axes).unwrap();
            check1(&x, plan.len(), |x, out: &mut [f32]| {
                reduce::<f32, Mean>(&plan, x, out)
            });
            check1(&whole, plan.len(), |x, out: &mut [i64]| {
                reduce::<i64, Sum>(&plan, x, out)
            });
        }
    }
}

#[test]
fn products_stay_within_slices() {
    let sizes = [1, 2, 3, 7, 8, 9, 15, 17, 33, 64, 67];
    let cases = sizes
        .iter()
        .flat_map(|m| sizes.iter().map(move |n| (*m, *n)));
    for ((m, n), k) in cases.flat_map(|mn| [1, 5, 16, 31, 65].map(|k| (mn, k))) {
        let (a, b) = (floats(m * k, |x| x as f32), floats(k * n, |x| x as f32));
        for (transpose_a, transpose_b) in
            [(false, false), (true, false), (false, true), (true, true)]
        {
            let product = Product {
                m,
                k,
                n,
                transpose_a,
                transpose_b,
            };
            check2(&a, &b, m * n, |a, b, c: &mut [f32]| {
                matmul(product, a, b, c)
            });
            let [a, b] =
                [&a, &b].map(|it| it.iter().map(|x| Bf16::from_f32(*x)).collect::<Vec<_>>());
            check2(&a, &b, m * n, |a, b, c: &mut [f32]| {
                Bf16::multiply(product, a, b, c, None)
            });
        }
        if k <= 16 {
            let product = Product {
                m,
                k,
                n,
                transpose_a: false,
                transpose_b: true,
            };
            let (a, b) = (floats(m * k, |x| x), floats(k * n, |x| x));
            check2(&a, &b, m * n, |a, b, c: &mut [f64]| {
                matmul(product, a, b, c)
            });
            let (a, b) = (floats(m * k, |x| x as i32), floats(k * n, |x| x as i32));
            check2(&a, &b, m * n, |a, b, c: &mut [i32]| {
                matmul_int(product, a, b, c)
            });
        }
    }
}

/// The filters are general, of groups and depthwise; the windows reach into the padding, or not.
#[test]
fn convolutions_stay_within_slices() {
    let slide = |stride, padding| Slide {
        stride,
        dilation: 1,
        padding,
    };
    let same = slide(1, Padding::Same);
    for (channels, depth, filters) in [(3, 3, 5), (8, 4, 34), (17, 1, 17), (64, 1, 64)] {
        for slide in [same, slide(1, Padding::Valid), slide(2, Padding::Same)] {
            let filter = [3, 2, depth, filters];
            let plan = Convolution::new([2, 6, 9, channels], filter, [slide; 2]).unwrap();
            let (x, weights, dy) = (
                floats(len(&plan.input()), |x| x as f32),
                floats(len(&filter), |x| x as f32),
                floats(len(&plan.output()), |x| x as f32),
            );
            check2(&x, &weights, dy.len(), |x, weights, y: &mut [f32]| {
                convolve(&plan, x, weights, y)
            });
            check2(&weights, &dy, x.len(), |weights, dy, dx: &mut [f32]| {
                backprop_input(&plan, weights, dy, dx)
            });
            check2(&x, &dy, weights.len(), |x, dy, df: &mut [f32]| {
                backprop_filter(&plan, x, dy, df)
            });
        }
    }
}

#[test]
fn bias_and_cross_entropy_stay_within_slices() {
    for (rows, channels) in [(1, 1), (3, 5), (9, 8), (33, 17), (2, 129)] {
        let dims = [rows, channels];
        let (x, bias) = (
            floats(rows * channels, |x| x as f32),
            floats(channels, |x| x as f32),
        );
        check2(&x, &bias, x.len(), |x, bias, out: &mut [f32]| {
            bias_add(&dims, ChannelLayout::ChannelsLast, x, bias, out).unwrap();
        });
        check1(&x, channels, |x, out: &mut [f32]| {
            bias_add_grad(&dims, ChannelLayout::ChannelsLast, x, out).unwrap();
        });
        let labels: Vec<i32> = (0..rows).map(|row| (row % channels) as i32).collect();
        check2(&x, &labels, x.len(), |x, labels, gradient: &mut [f32]| {
            let mut loss = Guarded::new(&vec![0.0; rows], SlicePosition::End);
            sparse_softmax_cross_entropy(x, labels, channels, &mut loss, gradient).unwrap();
        });
    }
}

#[test]
fn streamed_copies_stay_within_slices() {
    for len in [0, 1, 15, 16, 17, 64, 1000, 1024, 4096] {
        let from = floats(len, |x| x as f32);
        for isa in Isa::available() {
            for position in SLICE_POSITIONS {
                let (source, mut target) = (
                    Guarded::new(&from, position),
                    Guarded::new(&vec![0.0; len], position),
                );
                stream::with_streams(isa, |it| it.copy(&source, &mut target));
                assert_same(isa.level().name(), &target, &from);
            }
        }
    }
}

#[test]
fn conversions_of_halves_stay_inside() {
    for (isa, len) in Isa::available().flat_map(|isa| [0, 1, 7, 8, 9, 1000].map(|len| (isa, len))) {
        let halves: Vec<F16> = (0..len).map(|i| F16(i as u16)).collect();
        for position in SLICE_POSITIONS {
            let x = Guarded::new(&halves, position);
            let mut wide = Guarded::new(&vec![MaybeUninit::new(f32::NAN); len], position);
            half::widen(isa, &x, &mut wide);
            // SAFETY: all elements were initialized when the slice was made.
            let wide: Vec<f32> = wide.iter().map(|x| unsafe { x.assume_init() }).collect();
            let wide = Guarded::new(&wide, position);
            let mut narrow = Guarded::new(&vec![MaybeUninit::new(F16::NAN); len], position);
            half::narrow(isa, &wide, &mut narrow);
            // SAFETY: all elements were initialized when the slice was made.
            let narrow = narrow.iter().map(|x| unsafe { x.assume_init() }.0);
            assert!(narrow.eq(halves.iter().map(|x| x.0)), "{isa:?} {len}");
        }
    }
}
