//! Time and C API calls of one call of a kernel, compared with the same kernel in C (`kernels.c`), in the test host.
//! `cargo bench -p sp-tests --bench kernel`; without a C compiler the kernels in C are skipped.
//!
//! With `SP_KERNEL_CALLS="Relu Rust 1000"` it only makes so many calls, for `tests/bench/instructions.py`. `SP_KERNEL_PLUGIN`
//! names another plugin in Rust, of which `Neg` is a kernel on the host.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use criterion::{Criterion, criterion_group, criterion_main};
use sp_host::{Host, Op, PreparedCall, Tensor, record_api_calls};
use sp_tests::{root, snapshots};

/// The ops with their inputs. `Neg` is a kernel of one device in the plugin in Rust.
fn cases() -> Vec<(&'static str, Vec<Tensor>)> {
    let scalar = || Tensor::from([1], &[-1_f32]);
    let matrix = || Tensor::from([2, 2], &[1_f32, 2.0, 3.0, 4.0]);
    let axis = Tensor::from([1], &[0_i32]);
    vec![
        ("Relu", vec![scalar()]),
        ("AddV2", vec![scalar(), scalar()]),
        ("MatMul", vec![matrix(), matrix()]),
        ("Sum", vec![Tensor::from([2], &[1_f32, 2.0]), axis]),
        ("Neg", vec![scalar()]),
    ]
}

/// Builds the plugin whose kernels are in Rust, in the profile of a scaffold.
fn build() -> PathBuf {
    if let Some(plugin) = std::env::var_os("SP_KERNEL_PLUGIN") {
        return plugin.into();
    }
    let target = root().join("target/cost");
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    cargo.args(["build", "--release", "--quiet", "--manifest-path"]);
    cargo.arg(root().join("tests/cost/Cargo.toml"));
    cargo.arg("--target-dir").arg(&target);
    let status = cargo.status().expect("cargo runs");
    assert!(status.success(), "{cargo:?} failed: {status}");
    target.join("release/libsp_cost.so")
}

/// Compiles the plugin whose kernels are in C, on the device of `plugin`.
///
/// # Errors
/// Returns the reason if there is no C compiler or it fails.
fn compile(folder: &Path, plugin: &Path, device_type: &str) -> Result<PathBuf, String> {
    let library = folder.join("kernels.so");
    let mut compiler = Command::new("cc");
    compiler
        .args(["-O2", "-shared", "-fPIC"])
        .arg(format!("-DDEVICE_TYPE=\"{}\"", device_type.trim()))
        .arg(format!("-DDEVICE_PLUGIN=\"{}\"", plugin.display()))
        .arg("-o")
        .arg(&library)
        .arg(root().join("tests/benches/kernels.c"))
        .arg("-ldl");
    match compiler.status() {
        Ok(status) if status.success() => Ok(library),
        failure => Err(format!("cc has failed: {failure:?}")),
    }
}

/// Prints the C functions that one call uses.
fn print_api_calls(name: &str, call: &PreparedCall<'_>) {
    let (computed, calls) = record_api_calls(|| call.compute());
    computed.expect("the kernel computes");
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    calls
        .iter()
        .for_each(|it| *counts.entry(it).or_default() += 1);
    let counts = counts.iter().map(|(name, n)| format!("{n} {name}"));
    let counts: Vec<String> = counts.collect();
    println!("{name}: {} C API calls: {}", calls.len(), counts.join(", "));
}

/// Opens the plugin in Rust, and the one in C on the same device.
fn hosts() -> Vec<(&'static str, Host)> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let apis = snapshots("2.21");
    let plugin = build();
    let open = |path: &Path| Host::open(&apis, path).expect("a plugin with a device");
    let mut hosts = vec![("Rust", open(&plugin))];
    match compile(folder.path(), &plugin, &hosts[0].1.device_type()) {
        Ok(library) => hosts.push(("C", open(&library))),
        Err(reason) => println!("skipped: the kernels in C: {reason}"),
    }
    hosts
}

/// Makes the calls that `SP_KERNEL_CALLS` names.
fn repeat(hosts: &[(&str, Host)], task: &str) {
    let [op, language, count] = task.split(' ').collect::<Vec<_>>()[..] else {
        panic!("SP_KERNEL_CALLS={task}: expected OP LANGUAGE COUNT");
    };
    let (_, inputs) = cases().into_iter().find(|it| it.0 == op).expect("an op");
    let (_, host) = hosts.iter().find(|it| it.0 == language).expect("Rust or C");
    let call = host.prepare(&Op::new(op), &inputs).expect("a kernel");
    for _ in 0..count.parse().expect("a number") {
        call.compute().expect("the kernel computes");
    }
}

fn kernels(bench: &mut Criterion) {
    let hosts = hosts();
    if let Ok(task) = std::env::var("SP_KERNEL_CALLS") {
        return repeat(&hosts, &task);
    }
    for (op, inputs) in cases() {
        for (language, host) in &hosts {
            let name = format!("{op}/{language}");
            let call = host.prepare(&Op::new(op), &inputs).expect("a kernel");
            print_api_calls(&name, &call);
            bench.bench_function(&name, |run| run.iter(|| call.compute()));
        }
    }
}

criterion_group!(benches, kernels);
criterion_main!(benches);
