//! Prints the CPU time that the expansion of `#[kernel(..)]` adds to a plugin's build, for a number of kernels:
//! `cargo run -p sp-expand --example expansion_time`. Cargo compiles macros without optimization, as this program.

use std::fs;

use proc_macro2::TokenStream;

/// Kernels of different sizes: arguments of the attribute, and the function.
const KERNELS: [(&str, &str); 4] = [
    (
        "Relu, T = [f32, f64, i64]",
        "fn relu<T: Number>(features: In<'_, T>, activations: Out<'_, T>) -> Result<()> { Ok(()) }",
    ),
    (
        "AddV2, T = [f32, f64, i32, i64]",
        "fn add<T: Number>(x: In<'_, T>, y: In<'_, T>, z: Out<'_, T>) -> Result<()> { Ok(()) }",
    ),
    (
        "MatMul, T = [f32, f64]",
        "fn mat_mul<T: Number>(a: In<'_, T>, b: In<'_, T>, product: Out<'_, T>, transpose_a: bool, transpose_b: bool) \
         -> Result<()> { Ok(()) }",
    ),
    (
        "Sum, T = [f32, f64, i64]",
        "fn sum<T: Number>(input: In<'_, T>, reduction_indices: HostIn<'_, Integer>, output: Out<'_, T>, keep_dims: bool) \
         -> Result<()> { Ok(()) }",
    ),
];

fn main() {
    for count in [1, 24, 100, 250] {
        let before = cpu_milliseconds();
        let tokens: usize = (0..count).map(|n| expand(n % KERNELS.len())).sum();
        let time = cpu_milliseconds() - before;
        println!("{count:4} kernels: {time:5} ms of CPU time, {tokens} tokens");
    }
}

/// Expands one kernel and returns the number of its tokens.
fn expand(kernel: usize) -> usize {
    let (arguments, function) = KERNELS[kernel];
    let parse = |text: &str| text.parse::<TokenStream>().expect("tokens");
    let expanded = sp_expand::kernel(parse(arguments), parse(function));
    expanded.expect("a valid kernel").into_iter().count()
}

/// Returns the CPU time of this process in user mode.
fn cpu_milliseconds() -> u64 {
    let stat = fs::read_to_string("/proc/self/stat").expect("Linux");
    let fields = stat.rsplit(") ").next().expect("fields after the name");
    let ticks: u64 = fields
        .split(' ')
        .nth(11)
        .and_then(|it| it.parse().ok())
        .expect("a time");
    ticks * 10
}
