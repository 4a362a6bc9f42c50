//! Registration of kernels if a function is absent or fails, and the access of a kernel to arguments in host
//! memory.

use sp_host::{EmulatedRelease, Host, ObjectKind, Op, Tensor};
use sp_tests::{example, exports_without, in_own_process, snapshots};

/// Runs an op whose input is `x`.
fn run(host: &Host, op: &str, x: Tensor) -> Result<Vec<Tensor>, sp_host::Error> {
    let op = Op::new(op).input("x", "T").output("y", "T");
    host.run(&op, &[x])
}

#[test]
fn deletes_kernel_builder_if_registration_fails() {
    in_own_process("deletes_kernel_builder_if_registration_fails", || {
        let apis = snapshots("2.21");
        let exports = exports_without(&apis, "TF_KernelBuilder_TypeConstraint");
        let host = Host::open(
            EmulatedRelease::new(&apis).with_exports(&exports),
            &example("author_errors"),
        );
        let tally = host.unwrap().close().unwrap();
        assert_eq!(tally.unreturned.get(&ObjectKind::KernelBuilder), None);
    });
}

#[test]
fn rejects_host_access_to_input_registered_in_device_memory() {
    in_own_process(
        "rejects_host_access_to_input_registered_in_device_memory",
        || {
            let host = Host::open(&snapshots("2.21"), &example("author_errors")).unwrap();
            let error = run(&host, "NotOnHost", Tensor::from([2], &[1_f32, 2.0])).unwrap_err();
            assert!(error.to_string().contains("not in host memory"), "{error}");
        },
    );
}

/// Checks that a kernel with an argument in host memory cannot read another one from device memory.
fn check_argument_in_device_memory(release: &str) {
    let host = Host::open(&snapshots(release), &example("author_errors")).unwrap();
    let (x, axes) = (
        Tensor::from([2], &[1_f32, 2.0]),
        Tensor::from([1], &[0_i32]),
    );
    let error = host.run(&Op::new("Mean"), &[x, axes]).unwrap_err();
    let message = error.to_string();
    assert!(
        message.contains("Input(0) of Mean is not in host memory"),
        "{message}"
    );
}

#[test]
fn finds_host_arguments_by_core_function() {
    in_own_process("finds_host_arguments_by_core_function", || {
        check_argument_in_device_memory("2.21");
    });
}

#[test]
fn finds_host_arguments_in_op_definition_if_core_function_is_absent() {
    in_own_process(
        "finds_host_arguments_in_op_definition_if_core_function_is_absent",
        || {
            check_argument_in_device_memory("2.8");
        },
    );
}

#[test]
fn unwritten_output_elements_are_zero() {
    in_own_process("unwritten_output_elements_are_zero", || {
        let host = Host::open(&snapshots("2.21"), &example("author_errors")).unwrap();
        let outputs = run(&host, "PartlyWritten", Tensor::from([3], &[5_f32; 3])).unwrap();
        assert_eq!(outputs, [Tensor::from([3], &[1_f32, 0.0, 0.0])]);
    });
}
