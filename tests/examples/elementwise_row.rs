//! A plugin with an elementwise op of its own, which is one row: `Softcap`, `30 * tanh(x / 30)`.

use sp_cpu::CpuDevice;
use sp_cpu::compute::complex;
use sp_cpu::compute::elementary::Elementary;
use sp_plugin::graph::Item;
use sp_plugin::kernel::{In, Kernel, Out, kernel, kernels};
use sp_plugin::{Complex64, Optimizer, Result};

mod ops {
    use sp_plugin::Result;
    use sp_plugin::op::{Shape, op};

    /// Limits numbers to those between -30 and 30.
    #[op(Softcap(x: T) -> (y: T), T: {half, bfloat16, float, double, int8, int64, complex64})]
    pub fn softcap(x: Shape) -> Result<Shape> {
        Ok(x)
    }
}

#[inline(always)]
fn softcap<T: Elementary>(x: T) -> T {
    let cap = T::constant(30.0);
    x.over(cap).hyperbolic_tangent().times(cap)
}

fn softcap_of_integer(x: i64) -> i64 {
    x.clamp(-30, 30)
}

fn softcap_of_complex(x: Complex64) -> Complex64 {
    let cap = Complex64::new(30.0, 0.0);
    complex::mul(complex::tanh(complex::div(x, cap)), cap)
}

/// Returns the reference kernels: those of sp-cpu, and of one row.
fn reference() -> Vec<&'static Kernel> {
    let mut table = sp_cpu::kernels::table();
    table.extend(sp_cpu::elementwise! {
        ops: One {
            Softcap(x) -> y: Moderate, step(f32) {
                floats => softcap, integers(i8, i64) => softcap_of_integer, complex => softcap_of_complex
            }
        }
    });
    table
}

/// Wrong for large numbers.
#[kernel(ops::Softcap, T = [f64])]
fn wrong_softcap(x: In<'_, f64>, y: Out<'_, f64>) -> Result<()> {
    y.map_from(x, |x| x.min(30.0))
}

/// Returns the kernels of the device, which are compared with those of the reference.
fn table() -> Vec<&'static Kernel> {
    kernels![wrong_softcap]
}

#[derive(Default)]
struct Unchanged;

impl Optimizer for Unchanged {
    fn optimize(&mut self, _: &Item<'_>) -> Result<Option<Vec<u8>>> {
        Ok(None)
    }
}

sp_plugin::plugin! {
    device: CpuDevice,
    device_type: c"ELEMENTWISE_ROW",
    platform_name: c"ELEMENTWISE_ROW",
    kernels: [table, reference],
    optimizer: Unchanged,
}
