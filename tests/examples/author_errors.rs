//! A plugin whose kernels have errors that an author can make in safe code. Each must end in a status or in
//! defined values. New device memory is filled with a pattern.

use std::ffi::c_void;
use std::panic::panic_any;

use sp_abi::stream_executor::{DeviceFns, SP_DeviceMemoryBase, StreamExecutor, TimerFns};
use sp_cpu::CpuDevice;
use sp_plugin::graph::Item;
use sp_plugin::kernel::{
    AnyIn, AnyOut, Attributes, Context, Forwarded, HostIn, In, InList, Kernel, Out, OutList,
    Prepare, kernel, kernels,
};
use sp_plugin::profiler::Space;
use sp_plugin::{
    Bool, Device, Element, Error, HostAddressable, InPlace, Optimizer, Profiler, Result, vtable,
};
use sp_runtime::PrefixMut;

const POISON: u8 = 0xA5;

struct FaultyDevice {
    reference: CpuDevice,
}

// SAFETY: the slots are those of the reference device, or fail.
unsafe impl Device for FaultyDevice {
    type Access = InPlace;

    fn open(_: usize) -> Result<Self> {
        Ok(Self {
            reference: CpuDevice::new(),
        })
    }
}

// SAFETY: all memory is the reference device's, which is the host's own.
unsafe impl HostAddressable for FaultyDevice {}

#[vtable(fallback = self.reference: CpuDevice)]
impl StreamExecutor for FaultyDevice {
    unsafe fn allocate(&self, size: u64, space: i64, mut mem: PrefixMut<'_, SP_DeviceMemoryBase>) {
        let own = PrefixMut::fixed_fields(&mut mem);
        // SAFETY: the caller has the same obligations.
        unsafe { self.reference.allocate(size, space, own) };
        poison(mem.get(SP_DeviceMemoryBase::opaque), size);
    }
}

/// Fills a new block of `size` bytes.
fn poison(start: Option<*mut c_void>, size: u64) {
    if let Some(start) = start.filter(|start| !start.is_null()) {
        // SAFETY: `allocate` has just returned the block, with this size.
        unsafe { start.cast::<u8>().write_bytes(POISON, size as usize) };
    }
}

#[vtable(fallback = self.reference: CpuDevice)]
impl DeviceFns for FaultyDevice {}

#[vtable(fallback = self.reference: CpuDevice)]
impl TimerFns for FaultyDevice {}

/// Writes one element of its output.
#[kernel(Relu6, T = [f32])]
fn partly_written(features: In<'_, f32>, activations: Out<'_, f32>) -> Result<()> {
    let mut out = activations.zeroed(features.dims())?;
    let before: f32 = out.iter().sum();
    out[0] = 1.0 + before;
    Ok(())
}

/// Sets no output.
#[kernel(Softsign, T = [f32])]
fn unset(features: In<'_, f32>, activations: Out<'_, f32>) -> Result<()> {
    drop((features, activations));
    Ok(())
}

/// Uses a boolean as an index, which is safe only if it is 0 or 1.
#[kernel(Where, T = [Bool])]
fn pick(input: In<'_, Bool>, index: Out<'_, i64>) -> Result<()> {
    let picked = index.uninit(input.dims())?;
    picked.write_with(|at| [10, 20][usize::from(bool::from(input.data()[at]))]);
    Ok(())
}

/// Writes in the input's buffer if nobody else uses it: 1 is added in place, 2 in a new buffer.
#[kernel(Elu, T = [f32])]
fn forwards(features: In<'_, f32>, activations: Out<'_, f32>) -> Result<()> {
    match activations.forward(features)? {
        Forwarded::InPlace(mut data) => data.iter_mut().for_each(|it| *it += 1.0),
        Forwarded::Fresh { input, output } => {
            output.write_with(|index| input.data()[index] + 2.0);
        }
    }
    Ok(())
}

/// Fetches an input again that is an output by now.
#[kernel(AccumulateNV2, T = [f32])]
fn fetches_forwarded_input(inputs: InList<'_, f32>, sum: Out<'_, f32>) -> Result<()> {
    let first = || inputs.iter().next().ok_or(Error::internal("no input"))?;
    let Forwarded::InPlace(mut data) = sum.forward(first()?)? else {
        return Err(Error::internal("the input has another user"));
    };
    let again = first()?;
    data[0] = again.data()[0] + 1.0;
    Ok(())
}

struct PanicsOnDrop(u32);

impl Drop for PanicsOnDrop {
    fn drop(&mut self) {
        match self.0 {
            0 => panic!("dropped"),
            depth => panic_any(PanicsOnDrop(depth - 1)),
        }
    }
}

/// Panics. The input selects the payload: 0 is a text, and `n` is an object whose drop panics, `n` objects
/// deep.
#[kernel(Softplus, T = [f32])]
fn panics(features: In<'_, f32>, _activations: Out<'_, f32>) -> Result<()> {
    match features.scalar()? as u32 {
        0 => panic!("expected"),
        depth => panic_any(PanicsOnDrop(depth - 1)),
    }
}

/// The sum of several inputs.
#[kernel(AddN, T = [f32])]
fn add_n(inputs: InList<'_, f32>, sum: Out<'_, f32>) -> Result<()> {
    let inputs = inputs.iter().collect::<Result<Vec<_>>>()?;
    let dims = inputs.first().map_or(&[][..], |it| it.dims());
    sum.uninit(dims)?
        .write_with(|index| inputs.iter().map(|it| it.data()[index]).sum());
    Ok(())
}

/// Several outputs, and an input in host memory. The last output is not set.
#[kernel(Split, T = [f32])]
fn split(split_dim: HostIn<'_, i32>, value: In<'_, f32>, output: OutList<'_, f32>) -> Result<()> {
    split_dim.scalar()?;
    let len = value.len() / output.len();
    let parts = output.len() - usize::from(value.is_empty());
    for (output, part) in output.take(parts).zip(value.data().chunks(len.max(1))) {
        output.uninit(&[len])?.copy_from_slice(part)?;
    }
    Ok(())
}

/// The first elements. The attributes `Tk` and `index_type` exist from 2.13 on.
#[kernel(TopKV2, T = [f32], Tk = [i32], index_type: I = [i32, i64])]
fn top_k<I: Element + Default>(
    input: In<'_, f32>,
    k: HostIn<'_, i32>,
    values: Out<'_, f32>,
    indices: Out<'_, I>,
) -> Result<()> {
    let k = k.scalar()?.unsigned_abs() as usize;
    values.uninit(&[k])?.write_with(|index| input.data()[index]);
    indices.uninit(&[k])?.fill(I::default());
    Ok(())
}

/// Passes a tensor of any type on.
#[kernel(Identity, T: any = [f32, i64])]
fn identity(input: AnyIn<'_>, output: AnyOut<'_>) -> Result<()> {
    output.set(input)
}

#[derive(Attributes)]
struct LeakyAttributes {
    alpha: f32,
}

/// State that is prepared once for each node.
struct Slope(f32);

impl Prepare for Slope {
    type Attributes = LeakyAttributes;

    fn prepare(attributes: LeakyAttributes) -> Result<Self> {
        match attributes.alpha > 1.0 {
            true => Err(Error::unimplemented("alpha is above 1")),
            false => Ok(Self(attributes.alpha)),
        }
    }
}

/// A kernel of one device, with its state, and names that differ from the op's.
#[kernel(LeakyRelu, T = [f32], device = FaultyDevice)]
fn leaky_relu(
    #[context] context: &Context<'_, FaultyDevice>,
    #[state] slope: &Slope,
    #[op("features")] x: In<'_, f32, FaultyDevice>,
    #[op("activations")] y: Out<'_, f32, FaultyDevice>,
) -> Result<()> {
    let (mut y, _) = (y.uninit(x.dims())?, context.device());
    // SAFETY: work on the reference device's streams is complete when it is enqueued.
    let (x, y) = unsafe { (x.as_slice()?, y.as_uninit_slice()?) };
    for (x, y) in x.iter().zip(y) {
        y.write(if *x < 0.0 { slope.0 * *x } else { *x });
    }
    Ok(())
}

fn table() -> Vec<&'static Kernel> {
    kernels![
        partly_written,
        unset,
        pick,
        forwards,
        fetches_forwarded_input,
        panics,
        add_n,
        split,
        top_k,
        identity,
        leaky_relu,
    ]
}

/// Panics in every call that returns data.
#[derive(Default)]
struct Panicking;

impl Optimizer for Panicking {
    fn optimize(&mut self, _: &Item<'_>) -> Result<Option<Vec<u8>>> {
        panic!("expected")
    }
}

impl Profiler for Panicking {
    fn start(&mut self) -> Result<()> {
        Ok(())
    }

    fn stop(&mut self) -> Result<()> {
        Ok(())
    }

    fn collect(&mut self) -> Result<Space> {
        panic!("expected")
    }
}

sp_plugin::plugin! {
    device: FaultyDevice,
    device_type: c"AUTHOR_ERRORS",
    platform_name: c"AUTHOR_ERRORS",
    kernels: [table, sp_cpu::kernels::table],
    optimizer: Panicking,
    profiler: Panicking,
    min_release: "2.8",
}
