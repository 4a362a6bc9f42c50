//! The choice of a kernel if an author's table and the reference's have one for the same op:
//! `examples/tables.rs`.

use sp_host::{Host, Op, Tensor};

fn vector() -> Tensor {
    Tensor::from([2], &[1_f32, 2.0])
}

/// Prints the results in the release that TABLES_RELEASE names. A process identifies its host once, so
/// [`results`] starts one for each release.
#[test]
fn print_results() {
    let Ok(release) = std::env::var("TABLES_RELEASE") else {
        return;
    };
    let apis = sp_tests::snapshots(&release);
    let host = Host::open(&apis, &sp_tests::example("tables")).unwrap();
    // A second device with ordinal 0.
    let second = Host::open(&apis, &sp_tests::example("tables")).unwrap();
    match second.run(&Op::new("Relu"), &[vector()]) {
        Ok(outputs) => println!("second {:?}", outputs[0].as_slice::<f32>()),
        Err(error) => println!("second {error}"),
    }
    let print = |op: &str, inputs: &[Tensor]| match host.run(&Op::new(op), inputs) {
        Ok(outputs) => println!("{op} {} {:?}", inputs.len(), outputs[0].as_slice::<f32>()),
        Err(error) => println!("{op} {error}"),
    };
    print("Neg", &[vector()]);
    print("Relu", &[vector()]);
    print("Sum", &[vector(), Tensor::from([1], &[0_i64])]);
    print("Sum", &[vector(), Tensor::from([1], &[0_i32])]);
    println!(
        "kernels {}",
        host.kernels().filter(|kernel| kernel.op == "Relu").count()
    );
}

fn results(release: &str) -> String {
    let [stdout, _] = sp_tests::run_test("print_results", &[("TABLES_RELEASE", release)]);
    stdout
}

#[test]
fn kernel_of_other_releases_does_not_replace_reference_kernel() {
    assert!(
        results("2.8").contains("Neg 1 [41.0, 41.0]"),
        "{}",
        results("2.8")
    );
    assert!(
        results("2.9").contains("Neg 1 [-1.0, -2.0]"),
        "{}",
        results("2.9")
    );
}

#[test]
fn reference_kernel_remains_for_types_that_author_does_not_cover() {
    let printed = results("2.21");
    let sums = printed.lines().filter(|line| line.starts_with("Sum"));
    let sums: Vec<&str> = sums.collect();
    assert_eq!(sums, ["Sum 2 [43.0]", "Sum 2 [3.0]"], "{printed}");
}

#[test]
fn reference_kernel_covered_by_author_is_not_registered() {
    let printed = results("2.21");
    assert!(printed.contains("Relu 1 [42.0, 42.0]"), "{printed}");
    // Those of the reference for the seven other types, and that of the author for f32.
    assert!(printed.contains("kernels 8"), "{printed}");
}

/// TF_GetDeviceId exists from 2.12 on.
#[test]
fn kernels_find_their_device_without_device_ordinal() {
    for release in ["2.6", "2.21"] {
        let printed = results(release);
        assert!(
            printed.contains("second [42.0, 42.0]"),
            "{release}: {printed}"
        );
        assert!(
            printed.contains("Relu 1 [42.0, 42.0]"),
            "{release}: {printed}"
        );
    }
}
