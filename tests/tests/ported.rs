//! Skeletons of `sp-gen port`, compiled in `examples/ported.rs`, in sp-host.

use sp_host::{Host, Op, Tensor};
use sp_tests::{assert_contains, example, in_own_process, snapshots};

fn open() -> Host {
    Host::open(&snapshots("2.21"), &example("ported")).unwrap()
}

#[test]
fn skeletons_are_registered_with_their_types_and_host_arguments() {
    in_own_process(
        "skeletons_are_registered_with_their_types_and_host_arguments",
        || {
            let host = open();
            let count = |op: &str| host.kernels().filter(|it| it.op == op).count();
            let expected = [
                ("LeakyRelu", 4),
                ("Sum", 4),
                ("Sign", 3),
                ("MatMul", 2),
                ("ConcatV2", 2),
                ("Identity", 3),
                ("Cast", 2),
                ("ScaleRows", 2),
                ("JoinAll", 1),
            ];
            assert_eq!(expected.map(|(op, _)| (op, count(op))), expected);
            let ops = host.defined_ops();
            for op in ["CountRows", "JoinAll", "Notify", "ScaleRows"] {
                assert!(ops.iter().any(|it| it == op), "{op}: {ops:?}");
            }
        },
    );
}

#[test]
fn skeleton_returns_an_error_that_names_its_op() {
    in_own_process("skeleton_returns_an_error_that_names_its_op", || {
        let host = open();
        let rows = Tensor::from([2, 2], &[1_f32, 2.0, 3.0, 4.0]);
        for (op, inputs) in [
            ("LeakyRelu", vec![rows.clone()]),
            ("Sum", vec![rows.clone(), Tensor::from([1], &[0_i32])]),
            ("ScaleRows", vec![rows.clone(), rows.clone()]),
        ] {
            let error = host.run(&Op::new(op), &inputs).unwrap_err().to_string();
            assert_contains(&error, &format!("{op} is not ported"));
        }
    });
}

#[test]
fn shape_function_of_a_skeleton_is_that_of_the_op() {
    in_own_process("shape_function_of_a_skeleton_is_that_of_the_op", || {
        let host = open();
        let shape = Some(vec![2, -1]);
        let inferred = host.infer_shapes(&Op::new("ScaleRows"), &[shape.clone(), None]);
        assert_eq!(inferred.unwrap(), [shape]);
        let inferred = host.infer_shapes(&Op::new("CountRows"), &[None]);
        assert_eq!(inferred.unwrap(), [Some(Vec::new())]);
    });
}
