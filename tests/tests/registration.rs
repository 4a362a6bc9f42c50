//! Registration of kernels in releases whose op or functions differ, and the parameters of kernels.

use sp_host::{DType, EmulatedRelease, Host, ObjectKind, Op, Tensor};
use sp_tests::{example, exports_without, in_own_process, snapshots};

/// Runs an op with one input.
fn run(host: &Host, op: &str, x: Tensor) -> Result<Vec<Tensor>, sp_host::Error> {
    let op = Op::new(op)
        .input("features", "T")
        .output("activations", "T");
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

/// Returns the types of each kernel of TopKV2, and whether `k` is in host memory.
fn top_k_kernels(release: &str) -> Vec<(Vec<String>, Vec<String>)> {
    let host = Host::open(&snapshots(release), &example("author_errors")).unwrap();
    let kernels = host.kernels().filter(|it| it.op == "TopKV2");
    let types =
        |it: &[(String, DType)]| it.iter().map(|(name, it)| format!("{name}={it}")).collect();
    kernels
        .map(|it| (types(&it.constraints), it.host_memory))
        .filter(|(types, _): &(Vec<String>, _)| types[0] == "T=FLOAT")
        .collect()
}

/// A constraint that the op of a release lacks makes TensorFlow fail every lookup of the op. `index_type` exists from
/// 2.13 on; before, indices are int32.
#[test]
fn leaves_out_constraint_and_types_that_op_of_release_lacks() {
    in_own_process(
        "leaves_out_constraint_and_types_that_op_of_release_lacks",
        || {
            let expected = (vec!["T=FLOAT".to_owned()], vec!["k".to_owned()]);
            assert_eq!(top_k_kernels("2.12"), [expected]);
        },
    );
}

#[test]
fn registers_constraint_that_op_of_release_has() {
    in_own_process("registers_constraint_that_op_of_release_has", || {
        let kernels = top_k_kernels("2.13");
        let types: Vec<String> = kernels.iter().map(|(types, _)| types.join(" ")).collect();
        assert_eq!(
            types[..2],
            [
                "T=FLOAT Tk=INT32 index_type=INT32",
                "T=FLOAT Tk=INT32 index_type=INT64"
            ]
        );
    });
}

#[test]
fn reports_name_of_unset_output() {
    in_own_process("reports_name_of_unset_output", || {
        let host = Host::open(&snapshots("2.21"), &example("author_errors")).unwrap();
        let error = run(&host, "Softsign", Tensor::from([2], &[1_f32, 2.0])).unwrap_err();
        let message = error.to_string();
        assert!(
            message.contains("not set output 0, `activations`"),
            "{message}"
        );
    });
}

#[test]
fn forwards_buffer_of_input_that_nobody_else_uses() {
    in_own_process("forwards_buffer_of_input_that_nobody_else_uses", || {
        let host = Host::open(&snapshots("2.21"), &example("author_errors")).unwrap();
        let op = || {
            Op::new("Elu")
                .input("features", "T")
                .output("activations", "T")
        };
        let x = || [Tensor::from([2], &[1_f32, 2.0])];
        assert_eq!(
            host.run(&op(), &x()).unwrap(),
            [Tensor::from([2], &[2_f32, 3.0])]
        );
        let outputs = host.run(&op().keep_inputs(), &x()).unwrap();
        assert_eq!(outputs, [Tensor::from([2], &[3_f32, 4.0])]);
    });
}

/// Two slices of one buffer, of which one is writable, would be undefined behavior.
#[test]
fn rejects_fetch_of_forwarded_input() {
    in_own_process("rejects_fetch_of_forwarded_input", || {
        let host = Host::open(&snapshots("2.21"), &example("author_errors")).unwrap();
        let op = Op::new("AccumulateNV2").attr("N", 1_i64);
        let op = op.input("inputs", "T").output("sum", "T");
        let x = [Tensor::from([1], &[1_f32])];
        let error = host.run(&op, &x).unwrap_err();
        assert!(error.to_string().contains("was forwarded"), "{error}");
    });
}

#[test]
fn passes_on_tensors_of_any_type() {
    in_own_process("passes_on_tensors_of_any_type", || {
        let host = Host::open(&snapshots("2.21"), &example("author_errors")).unwrap();
        for x in [
            Tensor::from([2], &[1_f32, 2.0]),
            Tensor::from([2], &[3_i64, 4]),
        ] {
            let inputs = [x];
            assert_eq!(host.run(&Op::new("Identity"), &inputs).unwrap(), inputs);
        }
    });
}

#[test]
fn prepares_state_from_attributes_once_for_each_node() {
    in_own_process("prepares_state_from_attributes_once_for_each_node", || {
        let host = Host::open(&snapshots("2.21"), &example("author_errors")).unwrap();
        let op = |alpha: f32| {
            Op::new("LeakyRelu")
                .input("features", "T")
                .output("activations", "T")
                .attr("alpha", alpha)
        };
        let x = [Tensor::from([2], &[-2_f32, 3.0])];
        assert_eq!(
            host.run(&op(0.5), &x).unwrap(),
            [Tensor::from([2], &[-1_f32, 3.0])]
        );
        let error = host.run(&op(2.0), &x).unwrap_err();
        assert!(error.to_string().contains("alpha is above 1"), "{error}");
    });
}

#[test]
fn computes_on_lists_of_inputs_and_outputs() {
    in_own_process("computes_on_lists_of_inputs_and_outputs", || {
        let host = Host::open(&snapshots("2.21"), &example("author_errors")).unwrap();
        let vector = |values: &[f32]| Tensor::from([values.len() as i64], values);
        let add = (0..3).fold(Op::new("AddN").attr("N", 3_i64), |op, _| {
            op.input("inputs", "T")
        });
        let inputs = [
            vector(&[1.0, 2.0]),
            vector(&[10.0, 20.0]),
            vector(&[100.0, 200.0]),
        ];
        let sum = host.run(&add.output("sum", "T"), &inputs).unwrap();
        assert_eq!(sum, [vector(&[111.0, 222.0])]);
        let split = Op::new("Split").attr("num_split", 2_i64);
        let split = split
            .input_with_dtype("split_dim", DType::INT32)
            .input("value", "T");
        let split = split.output("output", "T").output("output", "T");
        let parts = host
            .run(&split, &[Tensor::scalar(0_i32), vector(&[1.0, 2.0])])
            .unwrap();
        assert_eq!(parts, [vector(&[1.0]), vector(&[2.0])]);
        let error = host
            .run(&split, &[Tensor::scalar(0_i32), vector(&[])])
            .unwrap_err();
        assert!(
            error.to_string().contains("not set output 0, `output`"),
            "{error}"
        );
    });
}

#[test]
fn unwritten_output_elements_are_zero() {
    in_own_process("unwritten_output_elements_are_zero", || {
        let host = Host::open(&snapshots("2.21"), &example("author_errors")).unwrap();
        let outputs = run(&host, "Relu6", Tensor::from([3], &[5_f32; 3])).unwrap();
        assert_eq!(outputs, [Tensor::from([3], &[1_f32, 0.0, 0.0])]);
    });
}
