//! Rates of large products and of streaming loops, compared with those that the machine has: fused multiply-adds of
//! registers, and copies of memory. One thread. `cargo bench -p sp-tests --bench peak`
//!
//! A figure is the median of rounds in which all functions alternate, each after a call that is not counted.

use std::hint::black_box;
use std::time::Instant;

use sp_cpu::compute::matmul::{Product, matmul};
use sp_cpu::compute::shape::Broadcast;
use sp_cpu::compute::simd::{Isa, Level};
use sp_cpu::compute::{arith, map, nn};

const ROUNDS: usize = 15;
const SIZES: [usize; 4] = [256, 512, 1024, 2048];
/// 64 MiB of `f32`, beyond the caches.
const STREAMED: usize = 16 << 20;
/// The iterations of a loop over registers, each with twelve multiply-adds.
const ITERATIONS: u64 = 4_000_000;

/// A function to measure, and the floating-point operations or bytes of a call.
struct Task<'a> {
    name: String,
    work: f64,
    run: Box<dyn FnMut() + 'a>,
}

/// Twelve independent sums, more than the latency of a multiply-add needs.
#[cfg(target_arch = "x86_64")]
macro_rules! sums {
    ($register:literal, $iterations:expr) => {
        // SAFETY: the caller has the instruction set; only registers are written, which are declared.
        unsafe {
            std::arch::asm!(
                "2:",
                concat!("vfmadd231ps ", $register, "0, ", $register, "14, ", $register, "15"),
                concat!("vfmadd231ps ", $register, "1, ", $register, "14, ", $register, "15"),
                concat!("vfmadd231ps ", $register, "2, ", $register, "14, ", $register, "15"),
                concat!("vfmadd231ps ", $register, "3, ", $register, "14, ", $register, "15"),
                concat!("vfmadd231ps ", $register, "4, ", $register, "14, ", $register, "15"),
                concat!("vfmadd231ps ", $register, "5, ", $register, "14, ", $register, "15"),
                concat!("vfmadd231ps ", $register, "6, ", $register, "14, ", $register, "15"),
                concat!("vfmadd231ps ", $register, "7, ", $register, "14, ", $register, "15"),
                concat!("vfmadd231ps ", $register, "8, ", $register, "14, ", $register, "15"),
                concat!("vfmadd231ps ", $register, "9, ", $register, "14, ", $register, "15"),
                concat!("vfmadd231ps ", $register, "10, ", $register, "14, ", $register, "15"),
                concat!("vfmadd231ps ", $register, "11, ", $register, "14, ", $register, "15"),
                "dec {iterations}",
                "jnz 2b",
                iterations = inout(reg) $iterations => _,
                out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _, out("xmm4") _, out("xmm5") _,
                out("xmm6") _, out("xmm7") _, out("xmm8") _, out("xmm9") _, out("xmm10") _, out("xmm11") _,
                options(nomem, nostack),
            );
        }
    };
}

/// Returns the multiply-adds of registers, or `None` if this machine has none that the bench knows.
#[cfg(target_arch = "x86_64")]
fn multiply_adds() -> Option<Task<'static>> {
    let (lanes, run): (u32, fn()) = match Isa::current().level() {
        Level::Avx512 => (16, || sums!("zmm", ITERATIONS)),
        Level::Avx2 => (8, || sums!("ymm", ITERATIONS)),
        _ => return None,
    };
    Some(Task {
        name: "multiply-adds of registers".into(),
        work: (ITERATIONS * 12 * 2) as f64 * f64::from(lanes),
        run: Box::new(run),
    })
}

#[cfg(not(target_arch = "x86_64"))]
fn multiply_adds() -> Option<Task<'static>> {
    None
}

fn product(size: usize) -> Task<'static> {
    let [a, b] = [1.0_f32, 0.5].map(|value| vec![value; size * size]);
    let mut c = vec![0.0; size * size];
    let shape = Product::new([size; 2], [size; 2], false, false).expect("the dims are equal");
    Task {
        name: format!("MatMul {size}x{size}x{size}"),
        work: 2.0 * (size as f64).powi(3),
        run: Box::new(move || matmul(shape, &a, &b, black_box(&mut c))),
    }
}

/// Returns a copy and two elementwise loops, with the bytes that they read and write.
fn streams() -> [Task<'static>; 3] {
    let new = || vec![1.0_f32; STREAMED];
    let task = |name: &str, tensors: usize, run: Box<dyn FnMut()>| Task {
        name: format!("{name} of {STREAMED} elements"),
        work: (tensors * STREAMED * size_of::<f32>()) as f64,
        run,
    };
    let (from, mut to) = (new(), new());
    let copy = move || black_box(&mut to).copy_from_slice(&from);
    let (x, mut out) = (new(), new());
    let relu = move || map::map1(&x, black_box(&mut out), nn::relu::relu);
    let (x, y, mut out) = (new(), new(), new());
    let plan = Broadcast::new([&[STREAMED], &[STREAMED]]).expect("the shapes are equal");
    let add = move || map::map2(&plan, &x, &y, black_box(&mut out), arith::add);
    [
        task("copy", 2, Box::new(copy)),
        task("Relu", 2, Box::new(relu)),
        task("AddV2", 3, Box::new(add)),
    ]
}

/// Prints the rates of the tasks, and their ratios to the first one.
fn compare(unit: &str, tasks: &mut [Task<'_>]) {
    let mut seconds = vec![[0.0; ROUNDS]; tasks.len()];
    for round in 0..ROUNDS {
        for (task, seconds) in tasks.iter_mut().zip(&mut seconds) {
            (task.run)();
            let start = Instant::now();
            (task.run)();
            seconds[round] = start.elapsed().as_secs_f64();
        }
    }
    let median = |times: &mut [f64; ROUNDS]| {
        times.sort_unstable_by(f64::total_cmp);
        times[ROUNDS / 2]
    };
    let seconds = seconds.iter_mut().map(median);
    let rates: Vec<f64> = tasks
        .iter()
        .zip(seconds)
        .map(|(task, it)| task.work / it)
        .collect();
    for (task, rate) in tasks.iter().zip(&rates) {
        println!(
            "{:32} {:8.1} {unit}  {:5.2}",
            task.name,
            rate / 1e9,
            rate / rates[0]
        );
    }
}

fn main() {
    // SAFETY: no other thread exists, and nothing has read the variable.
    unsafe { std::env::set_var("SP_CPU_THREADS", "1") };
    println!("one thread, {}", Isa::current().level().name());
    let products = SIZES.map(product);
    match multiply_adds() {
        Some(peak) => {
            let mut tasks = vec![peak];
            tasks.extend(products);
            compare("GFLOP/s", &mut tasks);
        }
        None => println!("skipped: no loop of multiply-adds for this instruction set"),
    }
    compare("GB/s", &mut streams());
}
