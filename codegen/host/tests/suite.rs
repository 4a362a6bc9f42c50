//! Runs kernels of a plugin in C with the suite, as tests of a plugin's author do.

mod c;

use std::process::ExitCode;

use c::Compiler;
use sp_host::{DType, Error, Host, Op, StatusCode, Suite, Tensor};

fn main() -> ExitCode {
    let apis = c::apis();
    let Some(compiler) = Compiler::find(&apis) else {
        println!("skipped: this machine has no C compiler (cc)");
        return ExitCode::SUCCESS;
    };
    let plugin = compiler.plugin("USE_BFC");
    let failing = Suite::new(&apis, &plugin).test("panics", panics);
    // Each child process runs `main` to the suite that has its test.
    if sp_host::is_child() && std::env::var("SP_HOST_CHECK").is_ok_and(|test| test == "panics") {
        return failing.run();
    }
    if !sp_host::is_child() {
        let row = &failing.own_tests()[0];
        let expected = format!("{}:{PANIC_LINE}: not what was expected", file!());
        assert_eq!(row.detail, expected, "{row}");
    }
    Suite::new(&apis, plugin)
        .test("adds", adds)
        .test("adds_empty_tensors", adds_empty_tensors)
        .test("adds_on_threads", adds_on_threads)
        .test(
            "kernel_fails_with_its_message",
            kernel_fails_with_its_message,
        )
        .test(
            "construction_fails_with_its_message",
            construction_fails_with_its_message,
        )
        .test(
            "host_memory_arguments_are_in_host_memory",
            host_memory_arguments_are_in_host_memory,
        )
        .test(
            "async_kernel_runs_with_and_without_forwarding",
            async_kernel_runs_with_and_without_forwarding,
        )
        .test(
            "error_lists_registered_kernels",
            error_lists_registered_kernels,
        )
        .test(
            "rejects_wrong_number_of_inputs",
            rejects_wrong_number_of_inputs,
        )
        .run()
}

const PANIC_LINE: u32 = line!() + 2;
fn panics(_host: &Host) {
    panic!("not what was expected");
}

fn floats(values: &[f32]) -> Tensor {
    Tensor::from([values.len() as i64], values)
}

fn adds(host: &Host) {
    let inputs = [
        Tensor::from([2, 2], &[1f32, 2.0, 3.0, 4.0]),
        Tensor::from([2, 2], &[10f32; 4]),
    ];
    let outputs = host.run(&Op::new("AddV2"), &inputs).unwrap();
    assert_eq!(outputs, [Tensor::from([2, 2], &[11f32, 12.0, 13.0, 14.0])]);
}

fn adds_empty_tensors(host: &Host) {
    let empty = || Tensor::from::<f32>([0, 3], &[]);
    let outputs = host.run(&Op::new("AddV2"), &[empty(), empty()]).unwrap();
    assert_eq!(outputs[0].dims(), [0, 3]);
}

fn adds_on_threads(host: &Host) {
    std::thread::scope(|scope| {
        for seed in 0..8 {
            scope.spawn(move || {
                let values: Vec<f32> = (0..1000).map(|at| (at * seed) as f32).collect();
                let outputs = host
                    .run(&Op::new("AddV2"), &[floats(&values), floats(&values)])
                    .unwrap();
                assert!(
                    outputs[0]
                        .as_slice::<f32>()
                        .iter()
                        .zip(&values)
                        .all(|(z, x)| *z == x + x)
                );
            });
        }
    });
}

fn kernel_fails_with_its_message(host: &Host) {
    let error = host
        .run(&Op::new("AddV2"), &[floats(&[1.0]), floats(&[1.0, 2.0])])
        .unwrap_err();
    assert_eq!(error.code(), Some(StatusCode::INVALID_ARGUMENT));
    let expected = "AddV2: INVALID_ARGUMENT: the shapes differ";
    assert_eq!(error.to_string(), expected);
}

fn construction_fails_with_its_message(host: &Host) {
    let op = Op::new("Sum").attr("keep_dims", true);
    let error = host
        .run(&op, &[floats(&[1.0]), Tensor::from([1], &[0i32])])
        .unwrap_err();
    assert_eq!(error.code(), Some(StatusCode::UNIMPLEMENTED));
}

fn host_memory_arguments_are_in_host_memory(host: &Host) {
    let outputs = host
        .run(
            &Op::new("Sum"),
            &[floats(&[1.0, 2.0, 4.0]), Tensor::from([1], &[0i64])],
        )
        .unwrap();
    assert_eq!(outputs, [Tensor::scalar(7f32)]);
}

fn async_kernel_runs_with_and_without_forwarding(host: &Host) {
    for op in [Op::new("Neg"), Op::new("Neg").keep_inputs()] {
        let outputs = host.run(&op, &[floats(&[1.0, -2.0])]).unwrap();
        assert_eq!(outputs[0].as_slice::<f32>(), [-1.0, 2.0]);
    }
}

fn error_lists_registered_kernels(host: &Host) {
    let doubles = || Tensor::from([1], &[1f64]);
    let error = host
        .run(&Op::new("AddV2"), &[doubles(), doubles()])
        .unwrap_err();
    assert!(
        matches!(&error, Error::NoKernel(text) if text.contains("FLOAT")),
        "{error}"
    );
    let error = host
        .run(&Op::new("Mul"), &[doubles(), doubles()])
        .unwrap_err();
    assert!(error.to_string().contains("no kernel for Mul"), "{error}");
    let kernel = host.kernels().find(|kernel| kernel.op == "Sum").unwrap();
    assert_eq!(kernel.constraints, [("T".to_owned(), DType::FLOAT)]);
    assert_eq!(kernel.host_memory, ["reduction_indices"]);
}

fn rejects_wrong_number_of_inputs(host: &Host) {
    let error = host.run(&Op::new("AddV2"), &[floats(&[1.0])]).unwrap_err();
    assert!(matches!(error, Error::Misuse(_)), "{error}");
}
