//! A plugin that defines ops: a fused one, TensorFlow's Bitcast under another name, one with lists, and some whose
//! shape functions fail.

use sp_cpu::CpuDevice;
use sp_plugin::kernel::{
    DataType, HostIn, HostOut, In, InList, Kernel, Out, OutList, kernel, kernels,
};
use sp_plugin::{Bool, Element, Result};

mod ops {
    use super::DataType;
    use sp_plugin::op::{Dim, Shape, ShapeContext, op};
    use sp_plugin::{Error, Result};

    /// Adds `bias` to the last dimension of `value`, multiplies negative sums by `slope`.
    #[op(FusedBiasRelu(value: T, bias: T) -> (output: T), T: {f32, f64}, slope: float = 0.0)]
    pub fn fused_bias_relu(value: Shape, bias: Shape) -> Result<Shape> {
        let value = value.with_rank_at_least(1)?;
        let channels = value.dim(-1)?.merge(bias.with_rank(1)?.dim(0)?)?;
        value.with_dim(-1, channels)
    }

    /// The tutorial's example: reinterprets the bytes of a tensor as elements of another size.
    #[op(
        TutorialBitcast(input: T) -> (output: type),
        T: {bfloat16, half, float, double, int64, int32, uint8, uint16, int8, int16, complex64, complex128},
        type: {bfloat16, half, float, double, int64, int32, uint8, uint16, int8, int16, complex64, complex128},
    )]
    pub fn bitcast(
        input: Shape,
        #[op("T")] from: DataType,
        #[op("type")] to: DataType,
    ) -> Result<Shape> {
        let (from, to) = (size(from)?, size(to)?);
        if from > to {
            return Ok(input.concatenate(&Shape::new([from / to])));
        }
        if from == to {
            return Ok(input);
        }
        let input = input.with_rank_at_least(1)?;
        input.dim(-1)?.with_size(to / from)?;
        input.subshape(..-1)
    }

    fn size(ty: DataType) -> Result<u64> {
        match ty {
            DataType::TF_UINT8 | DataType::TF_INT8 => Ok(1),
            DataType::TF_HALF
            | DataType::TF_BFLOAT16
            | DataType::TF_UINT16
            | DataType::TF_INT16 => Ok(2),
            DataType::TF_FLOAT | DataType::TF_INT32 => Ok(4),
            DataType::TF_DOUBLE | DataType::TF_INT64 | DataType::TF_COMPLEX64 => Ok(8),
            DataType::TF_COMPLEX128 => Ok(16),
            _ => Err(Error::unimplemented(format!("elements of type {ty:?}"))),
        }
    }

    /// Returns each of `values` with the offset added, and their number.
    #[op(OffsetAll(offset: f32, values: N * f32) -> (results: N * f32, count: i64), N: int >= 1)]
    pub fn offset_all(offset: Shape, values: Vec<Shape>) -> Result<(Vec<Shape>, Shape)> {
        offset.with_rank_at_most(0)?;
        Ok((values, Shape::scalar()))
    }

    /// Returns shapes of every kind: `x` flattened, unknown dimensions, another input's dimension, and an unknown rank.
    #[op(ShapeKinds(x: f32, y: f32) -> (flat: f32, unknown: f32, mixed: f32, any: f32, same: f32))]
    pub fn shape_kinds(x: Shape, y: Shape) -> Result<(Shape, Shape, Shape, Shape, Shape)> {
        let flat = x.element_count().map_or(Dim::UNKNOWN, Dim::new);
        let mixed = Shape::new([Dim::new(7), y.dim(0)?, x.dim(0)?]);
        Ok((
            Shape::new([flat]),
            Shape::unknown_dims(2),
            mixed,
            Shape::unknown(),
            y,
        ))
    }

    /// Returns the sum, with each property that a definition can have.
    #[op(SumOfBoth(x: f32, y: f32) -> (z: f32), commutative, aggregate, stateful, allows_uninitialized_input, deprecated(99_999, "use AddV2"))]
    pub fn sum_of_both(x: Shape, y: Shape) -> Result<Shape> {
        x.merge(y)
    }

    /// Returns the numbers below `limit`, in memory of a driver, and those from `first` on in memory that is not aligned.
    #[op(MappedRange(limit: i64, first: i64) -> (range: i64, rest: i64), stateful)]
    pub fn mapped_range(limit: Shape, first: Shape) -> Result<(Shape, Shape)> {
        (limit.with_rank(0)?, first.with_rank(0)?);
        Ok((Shape::unknown_dims(1), Shape::unknown_dims(1)))
    }

    /// Returns how many blocks of the driver's memory exist, how many were freed, and true if the values are aligned.
    #[op(MappedBlocks(values: i64) -> (live: i64, freed: i64, is_aligned: bool), stateful)]
    pub fn mapped_blocks(values: Shape) -> Result<(Shape, Shape, Shape)> {
        values.with_rank_at_least(1)?;
        Ok((Shape::scalar(), Shape::scalar(), Shape::scalar()))
    }

    /// The shape function panics.
    #[op(PanicsInShapes(x: f32) -> (y: f32), stateful)]
    pub fn panics(#[context] context: &ShapeContext<'_>, x: Shape) -> Result<Shape> {
        assert_eq!(context.input_count()?, 2, "the shape of {x}");
        Ok(x)
    }
}

#[kernel(ops::FusedBiasRelu, T = [f32, f64])]
fn fused_bias_relu<T: Element + Into<f64> + FromF64>(
    value: In<'_, T>,
    bias: In<'_, T>,
    slope: f32,
    output: Out<'_, T>,
) -> Result<()> {
    // The shape function is a function like others: the kernel rejects what it rejects.
    ops::fused_bias_relu(value.dims().into(), bias.dims().into())?;
    let (values, bias) = (value.data(), bias.data());
    output.uninit(value.dims())?.write_with(|index| {
        let sum: f64 = values[index].into() + bias[index % bias.len()].into();
        T::from_f64(if sum < 0.0 {
            sum * f64::from(slope)
        } else {
            sum
        })
    });
    Ok(())
}

trait FromF64 {
    fn from_f64(value: f64) -> Self;
}

impl FromF64 for f32 {
    fn from_f64(value: f64) -> Self {
        value as f32
    }
}

impl FromF64 for f64 {
    fn from_f64(value: f64) -> Self {
        value
    }
}

#[kernel(ops::TutorialBitcast, T: I = [f32, i32, u8], type: O = [f32, i32, u8, i64])]
fn bitcast<I: Element, O: Element>(input: In<'_, I>, output: Out<'_, O>) -> Result<()> {
    let shape = ops::bitcast(input.dims().into(), I::DTYPE, O::DTYPE)?;
    let dims: Vec<usize> = shape.known_dims()?;
    let bytes = std::mem::size_of_val(input.data());
    let source: *const u8 = input.data().as_ptr().cast();
    let mut output = output.uninit(&dims)?;
    let target = output.as_uninit_slice();
    assert_eq!(std::mem::size_of_val(target), bytes);
    // SAFETY: both have so many bytes and do not overlap. An element has no padding, and any bytes are its value.
    unsafe {
        target
            .as_mut_ptr()
            .cast::<u8>()
            .copy_from_nonoverlapping(source, bytes)
    };
    Ok(())
}

#[kernel(ops::OffsetAll)]
fn offset_all(
    offset: In<'_, f32>,
    values: InList<'_, f32>,
    results: OutList<'_, f32>,
    count: Out<'_, i64>,
) -> Result<()> {
    let offset = offset.scalar()?;
    for (value, result) in values.iter().zip(results) {
        result.map_from(value?, |it| it + offset)?;
    }
    count.uninit(&[])?.fill(values.len() as i64);
    Ok(())
}

#[kernel(ops::ShapeKinds)]
fn shape_kinds(
    x: In<'_, f32>,
    y: In<'_, f32>,
    flat: Out<'_, f32>,
    unknown: Out<'_, f32>,
    mixed: Out<'_, f32>,
    any: Out<'_, f32>,
    same: Out<'_, f32>,
) -> Result<()> {
    flat.zeroed(&[x.len()])?;
    unknown.zeroed(&[1, 1])?;
    mixed.zeroed(&[7, y.dims()[0], x.dims()[0]])?;
    any.zeroed(&[])?;
    same.zeroed(y.dims()).map(drop)
}

#[kernel(ops::SumOfBoth)]
fn sum_of_both(x: In<'_, f32>, y: In<'_, f32>, z: Out<'_, f32>) -> Result<()> {
    let y = y.data().to_vec();
    z.uninit(x.dims())?
        .write_with(|index| x.data()[index] + y[index]);
    Ok(())
}

#[kernel(ops::PanicsInShapes)]
fn panics(x: In<'_, f32>, y: Out<'_, f32>) -> Result<()> {
    y.map_from(x, |it| it)
}

#[kernel(ops::MappedRange)]
fn mapped_range(
    limit: HostIn<'_, i64>,
    first: HostIn<'_, i64>,
    range: HostOut<'_, i64>,
    rest: HostOut<'_, i64>,
) -> Result<()> {
    let limit = limit.scalar()?.clamp(0, 1 << 20);
    let first = first.scalar()?.clamp(0, limit);
    range.set_memory(&[limit as usize], mapped_memory::of_numbers(0..limit, 0)?)?;
    let rest_memory = mapped_memory::of_numbers(first..limit, 8)?;
    rest.set_memory(&[(limit - first) as usize], rest_memory)
}

#[kernel(ops::MappedBlocks)]
fn mapped_blocks(
    values: HostIn<'_, i64>,
    live: HostOut<'_, i64>,
    freed: HostOut<'_, i64>,
    is_aligned: HostOut<'_, Bool>,
) -> Result<()> {
    let (found_live, found_freed) = mapped_memory::counts();
    live.uninit(&[])?.fill(found_live);
    freed.uninit(&[])?.fill(found_freed);
    is_aligned.uninit(&[])?.fill(values.is_aligned()?.into());
    Ok(())
}

/// Memory as a driver has it: pages of the system, to which an access is a fault once they are freed.
mod mapped_memory {
    use std::ops::Range;
    use std::ptr::{self, NonNull};
    use std::sync::atomic::{AtomicI64, Ordering};

    use sp_plugin::{Error, HostMemory, Result};

    static MAPPED: AtomicI64 = AtomicI64::new(0);
    static FREED: AtomicI64 = AtomicI64::new(0);

    /// A block of pages.
    struct Pages {
        start: usize,
        bytes: usize,
    }

    impl Drop for Pages {
        fn drop(&mut self) {
            // SAFETY: `map` has mapped the pages, to which nobody refers any more.
            unsafe { libc::munmap(self.start as *mut libc::c_void, self.bytes) };
            FREED.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Returns the numbers of blocks that exist, and that were freed.
    pub fn counts() -> (i64, i64) {
        let freed = FREED.load(Ordering::SeqCst);
        (MAPPED.load(Ordering::SeqCst) - freed, freed)
    }

    /// Returns a block with these numbers, `skipped` bytes behind the start of a page.
    pub fn of_numbers(numbers: Range<i64>, skipped: usize) -> Result<HostMemory> {
        let len = (numbers.end - numbers.start) as usize * size_of::<i64>();
        let mut memory = map(len, skipped)?;
        let places = memory.as_mut_bytes().chunks_exact_mut(size_of::<i64>());
        for (place, number) in places.zip(numbers) {
            place.copy_from_slice(&number.to_ne_bytes());
        }
        Ok(memory)
    }

    /// Maps pages with room for `len` bytes, which are zeros.
    fn map(len: usize, skipped: usize) -> Result<HostMemory> {
        let (bytes, access) = (len + skipped + 1, libc::PROT_READ | libc::PROT_WRITE);
        let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: without MAP_FIXED the call replaces no existing mapping.
        let start = unsafe { libc::mmap(ptr::null_mut(), bytes, access, kind, -1, 0) };
        if start == libc::MAP_FAILED {
            return Err(Error::resource_exhausted("no pages"));
        }
        MAPPED.fetch_add(1, Ordering::SeqCst);
        let owner = Box::new(Pages {
            start: start as usize,
            bytes,
        });
        // SAFETY: the pages have more bytes than `skipped`.
        let first = unsafe { start.cast::<u8>().add(skipped) };
        let first = NonNull::new(first).ok_or_else(|| Error::internal("a page at address 0"))?;
        // SAFETY: behind the first byte the pages have `len` bytes, which are zeros. The owner unmaps them.
        Ok(unsafe { HostMemory::from_raw_parts(first, len, owner) })
    }
}

/// Returns the kernels.
fn table() -> Vec<&'static Kernel> {
    kernels![
        fused_bias_relu,
        bitcast,
        offset_all,
        shape_kinds,
        sum_of_both,
        mapped_range,
        mapped_blocks,
        panics
    ]
}

sp_plugin::plugin! {
    device: CpuDevice,
    device_type: c"CUSTOM_OPS",
    platform_name: c"CUSTOM",
    kernels: [table, sp_cpu::kernels::table],
}
