//! Registration of kernels where TensorFlow does not cooperate, and what a registration allows its kernel.

use sp_host::{Host, ObjectKind, Op, PlayedRelease, Tensor};
use sp_tests::{alone, example, exports_without, snapshots};

/// Runs one op with `x` as its input and output.
fn run(host: &Host, op: &str, x: Tensor) -> Result<Vec<Tensor>, sp_host::Error> {
    let known = Op::new(op);
    let op = match op {
        "Mean" => known,
        _ => known.input("x", "T").output("y", "T"),
    };
    host.run(&op, &[x])
}

#[test]
fn deletes_kernel_builder_if_registration_fails() {
    alone("deletes_kernel_builder_if_registration_fails", || {
        let apis = snapshots("2.21");
        let exports = exports_without(&apis, "TF_KernelBuilder_TypeConstraint");
        let host = Host::open(
            PlayedRelease::new(&apis).with_exports(&exports),
            &example("rough"),
        );
        let tally = host.unwrap().close().unwrap();
        assert_eq!(tally.unreturned.get(&ObjectKind::KernelBuilder), None);
    });
}

#[test]
fn rejects_host_input_that_registration_has_in_device_memory() {
    alone(
        "rejects_host_input_that_registration_has_in_device_memory",
        || {
            let host = Host::open(&snapshots("2.21"), &example("rough")).unwrap();
            let error = run(&host, "NotOnHost", Tensor::from([2], &[1_f32, 2.0])).unwrap_err();
            assert!(error.to_string().contains("not in host memory"), "{error}");
        },
    );
}

fn rejects_device_argument_beside_a_host_argument(release: &str) {
    let host = Host::open(&snapshots(release), &example("rough")).unwrap();
    let (x, axes) = (
        Tensor::from([2], &[1_f32, 2.0]),
        Tensor::from([1], &[0_i32]),
    );
    let error = host.run(&Op::new("Mean"), &[x, axes]).unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("Input(0) of Mean is not in host memory"),
        "{text}"
    );
}

#[test]
fn asks_tensorflow_which_arguments_are_on_host() {
    alone("asks_tensorflow_which_arguments_are_on_host", || {
        rejects_device_argument_beside_a_host_argument("2.21");
    });
}

#[test]
fn reads_op_definition_if_release_cannot_answer() {
    alone("reads_op_definition_if_release_cannot_answer", || {
        rejects_device_argument_beside_a_host_argument("2.8");
    });
}

#[test]
fn output_is_zeros_until_written() {
    alone("output_is_zeros_until_written", || {
        let host = Host::open(&snapshots("2.21"), &example("rough")).unwrap();
        let found = run(&host, "PartlyWritten", Tensor::from([3], &[5_f32; 3])).unwrap();
        assert_eq!(found, [Tensor::from([3], &[1_f32, 0.0, 0.0])]);
    });
}
