//! Rates of products of matrices and of elementwise loops, compared with those of the machine's multiply-adds and of
//! copies of memory. One thread. `cargo bench -p sp-tests --bench peak`
//!
//! A figure is the median of rounds in which all functions alternate, each after a call that is not counted.

use std::hint::black_box;
use std::time::Instant;

use sp_cpu::compute::matmul::{Product, matmul};
use sp_cpu::compute::shape::Broadcast;
use sp_cpu::compute::simd::Isa;
use sp_cpu::compute::steps::{Function, Steps};
use sp_cpu::compute::{arith, map, nn};

const ROUNDS: usize = 15;
const SIZES: [usize; 4] = [256, 512, 1024, 2048];
/// 64 MiB of `f32`, beyond the caches.
const STREAMED: usize = 16 << 20;
/// 40 kB of `f32`, of which some tensors are in the second cache.
const CACHED: usize = 10_000;

/// A function, the floating-point operations or bytes of a call, and the calls whose time is measured at once.
struct Measured<'a> {
    name: String,
    work: f64,
    calls: u32,
    run: Box<dyn FnMut() + 'a>,
}

/// Runs twelve independent chains of multiply-adds, more than their latency needs. All registers are zeros.
#[cfg(target_arch = "x86_64")]
macro_rules! sums {
    ($register:literal) => {
        // SAFETY: `multiply_adds` has checked that the machine has the instruction set. The registers are declared as
        // clobbered by their lower halves, and their upper halves are cleared.
        unsafe {
            std::arch::asm!(
                "vzeroall",
                "2:",
                ".irp chain, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11",
                concat!("vfmadd231ps ", $register, "\\chain, ", $register, "14, ", $register, "15"),
                ".endr",
                "dec {iterations}",
                "jnz 2b",
                "vzeroall",
                iterations = inout(reg) ITERATIONS => _,
                out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _, out("xmm4") _, out("xmm5") _,
                out("xmm6") _, out("xmm7") _, out("xmm8") _, out("xmm9") _, out("xmm10") _, out("xmm11") _,
                out("xmm12") _, out("xmm13") _, out("xmm14") _, out("xmm15") _,
                options(nomem, nostack),
            );
        }
    };
}

/// Returns the multiply-adds of registers, or `None` if the bench has no loop for the instruction set.
#[cfg(target_arch = "x86_64")]
fn multiply_adds() -> Option<Measured<'static>> {
    use sp_cpu::compute::simd::Level;
    /// The iterations of the loop, each with twelve multiply-adds.
    const ITERATIONS: u64 = 4_000_000;
    let (lanes, run): (u64, fn()) = match Isa::current().level() {
        Level::Avx512 => (16, || sums!("zmm")),
        Level::Avx2 => (8, || sums!("ymm")),
        _ => return None,
    };
    Some(Measured {
        name: "multiply-adds of registers".into(),
        work: (ITERATIONS * 12 * 2 * lanes) as f64,
        calls: 1,
        run: Box::new(run),
    })
}

#[cfg(not(target_arch = "x86_64"))]
fn multiply_adds() -> Option<Measured<'static>> {
    None
}

fn product(size: usize) -> Measured<'static> {
    let [a, b] = [1.0_f32, 0.5].map(|value| vec![value; size * size]);
    let mut c = vec![0.0; size * size];
    let shape = Product::new([size; 2], [size; 2], false, false).expect("the dims are equal");
    Measured {
        name: format!("MatMul {size}x{size}x{size}"),
        work: 2.0 * (size as f64).powi(3),
        calls: 1,
        run: Box::new(move || matmul(shape, &a, &b, black_box(&mut c))),
    }
}

/// Returns a copy and elementwise loops, with the bytes that they read and write.
fn loops(len: usize) -> [Measured<'static>; 4] {
    let new = || vec![1.0_f32; len];
    let measured = |name: &str, tensors: usize, run: Box<dyn FnMut()>| Measured {
        name: format!("{name} of {len} elements"),
        work: (tensors * len * size_of::<f32>()) as f64,
        calls: (STREAMED / len / 20).max(1) as u32,
        run,
    };
    let (from, mut to) = (new(), new());
    let copy = move || black_box(&mut to).copy_from_slice(&from);
    let (x, mut out) = (new(), new());
    let relu = move || map::map1(&x, black_box(&mut out), nn::relu::relu);
    let (x, y, mut out) = (new(), new(), new());
    let plan = Broadcast::new([&[len], &[len]]).expect("the shapes are equal");
    let add = move || map::map2(&plan, &x, &y, black_box(&mut out), arith::add);
    [
        measured("copy", 2, Box::new(copy)),
        measured("Relu", 2, Box::new(relu)),
        measured("AddV2", 3, Box::new(add)),
        measured("update of Adam", 7, Box::new(adam(len))),
    ]
}

/// Returns Adam's update as Keras computes it, of two moments, a gradient and a variable.
fn adam(len: usize) -> impl FnMut() {
    // The inputs are the moments, the gradient, the variable, and four numbers.
    let functions = [
        ("Sub", [2, 0]),
        ("Mul", [8, 4]),
        ("AddV2", [0, 9]),
        ("Square", [2, 2]),
        ("Sub", [11, 1]),
        ("Mul", [12, 5]),
        ("AddV2", [1, 13]),
        ("Mul", [10, 6]),
        ("Sqrt", [14, 14]),
        ("AddV2", [16, 7]),
        ("RealDiv", [15, 17]),
        ("Sub", [3, 18]),
    ];
    let functions =
        functions.map(|(op, operands)| (Function::of_op(op).expect("has a loop"), operands));
    let steps = Steps::new(8, &functions, &[2, 6, 11]).expect("the steps are valid");
    let tensors = [1.0_f32, 2.0, 3.0, 4.0].map(|value| vec![value; len]);
    let mut results = [(); 3].map(|()| vec![0.0_f32; len]);
    move || {
        let dims: [usize; 1] = [len];
        let numbers = [&[0.1_f32][..], &[0.001], &[0.01], &[1e-7]].map(|it| (&[][..], it));
        let tensors = tensors.iter().map(|it| (&dims[..], &it[..]));
        let inputs: Vec<(&[usize], &[f32])> = tensors.chain(numbers).collect();
        let mut outs = results.each_mut().map(|it| &mut it[..]);
        steps.run(&inputs, &dims, black_box(&mut outs));
    }
}

/// Prints the rates of the functions, and their ratios to the first one.
fn compare(unit: &str, functions: &mut [Measured<'_>]) {
    let mut seconds = vec![[0.0; ROUNDS]; functions.len()];
    for round in 0..ROUNDS {
        for (function, seconds) in functions.iter_mut().zip(&mut seconds) {
            (function.run)();
            let start = Instant::now();
            (0..function.calls).for_each(|_| (function.run)());
            seconds[round] = start.elapsed().as_secs_f64() / f64::from(function.calls);
        }
    }
    let median = |times: &mut [f64; ROUNDS]| {
        times.sort_unstable_by(f64::total_cmp);
        times[ROUNDS / 2]
    };
    let seconds = seconds.iter_mut().map(median);
    let rates = functions.iter().zip(seconds);
    let rates: Vec<f64> = rates.map(|(function, it)| function.work / it).collect();
    for (function, rate) in functions.iter().zip(&rates) {
        println!(
            "{:32} {:8.1} {unit}  {:5.2}",
            function.name,
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
            let mut functions = vec![peak];
            functions.extend(products);
            compare("GFLOP/s", &mut functions);
        }
        None => println!("skipped: no loop of multiply-adds for this instruction set"),
    }
    compare("GB/s", &mut loops(STREAMED));
    compare("GB/s", &mut loops(CACHED));
}
