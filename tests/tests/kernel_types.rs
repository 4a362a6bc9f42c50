//! Attributes and arguments of every type, with `examples/kernel_types.rs`.

use sp_host::{Attr, DType, Host, Op, Tensor};
use sp_tests::{example, in_own_process, snapshots};

fn open(release: &str) -> Host {
    Host::open(&snapshots(release), &example("kernel_types")).unwrap()
}

fn run(host: &Host, op: Op, inputs: &[Tensor]) -> Tensor {
    let outputs = host.run(&op, inputs);
    outputs.unwrap_or_else(|error| panic!("{error}")).remove(0)
}

fn message(host: &Host, op: Op, inputs: &[Tensor]) -> String {
    host.run(&op, inputs).unwrap_err().to_string()
}

fn shape(sizes: &[i64]) -> Attr {
    Attr::Shape(Some(sizes.to_vec()))
}

fn placeholder(shape: Attr) -> Op {
    Op::new("Placeholder")
        .attr("dtype", DType::INT64)
        .attr("shape", shape)
}

/// An op whose kernel reads a shape that has to be known.
fn known_shape(shape: Attr) -> Op {
    let op = Op::new("PlaceholderWithDefault").attr("shape", shape);
    op.input("input", "dtype").output("output", "dtype")
}

#[test]
fn reads_shapes_from_node() {
    in_own_process("reads_shapes_from_node", || {
        let host = open("2.21");
        let sizes = |shape| {
            run(&host, placeholder(shape), &[])
                .as_slice::<i64>()
                .to_vec()
        };
        assert_eq!(sizes(shape(&[2, -1, 0])), [2, -1, 0]);
        assert_eq!(sizes(shape(&[])), [0_i64; 0]);
        assert_eq!(sizes(Attr::Shape(None)), [0_i64; 0]);
        let input = Tensor::scalar(1_i64);
        let known = run(
            &host,
            known_shape(shape(&[3, 4])),
            std::slice::from_ref(&input),
        );
        assert_eq!(known.as_slice::<i64>(), [3, 4]);
        let error = message(&host, known_shape(shape(&[3, -1])), &[input]);
        assert!(error.contains("needs a known shape, got [3,?]"), "{error}");
        let default = Op::new("Placeholder").attr("dtype", DType::INT64);
        assert_eq!(run(&host, default, &[]).as_slice::<i64>(), [0_i64; 0]);
        let absent = message(&host, Op::new("Placeholder"), &[]);
        assert!(absent.contains("dtype"), "{absent}");
    });
}

#[test]
fn reads_known_shapes_before_2_11() {
    in_own_process("reads_known_shapes_before_2_11", || {
        let host = open("2.8");
        let sizes = |shape| {
            run(&host, placeholder(shape), &[])
                .as_slice::<i64>()
                .to_vec()
        };
        assert_eq!(sizes(shape(&[2, 5])), [2, 5]);
        assert_eq!(sizes(Attr::Shape(None)), [0_i64; 0]);
    });
}

#[test]
fn kernel_with_unreadable_attribute_is_not_registered() {
    in_own_process("kernel_with_unreadable_attribute_is_not_registered", || {
        let host = open("2.5");
        let ops: Vec<String> = host.kernels().map(|it| it.op).collect();
        for absent in ["Const", "Placeholder", "OneShotIterator"] {
            assert!(!ops.iter().any(|it| it == absent), "{absent}");
        }
        assert!(ops.iter().any(|it| it == "Snapshot"));
    });
}

#[test]
fn reads_functions_and_lists_of_shapes() {
    in_own_process("reads_functions_and_lists_of_shapes", || {
        let host = open("2.21");
        let shapes = Attr::List(vec![shape(&[2, -1]), Attr::Shape(None)]);
        let op = Op::new("OneShotIterator")
            .output_with_dtype("handle", DType::RESOURCE)
            .attr("dataset_factory", Attr::Function("make".to_owned()))
            .attr("output_shapes", shapes);
        let error = message(&host, op, &[]);
        assert!(error.contains("make [[2,?], <unknown>]"), "{error}");
    });
}

#[test]
fn reads_tensors() {
    in_own_process("reads_tensors", || {
        let host = open("2.21");
        let constant = |value: &Tensor| {
            let op = Op::new("Const").output("output", "dtype");
            op.attr("dtype", value.dtype()).attr("value", value.clone())
        };
        for value in [
            Tensor::from([2, 2], &[1_i32, -2, 3, 4]),
            Tensor::from_bytes(DType::COMPLEX64, [1], &[1, 2, 3, 4, 5, 6, 7, 8]),
            Tensor::from::<i32>([0], &[]),
            Tensor::scalar(true),
        ] {
            assert_eq!(run(&host, constant(&value), &[]), value);
        }
        let other = constant(&Tensor::scalar(1_i32)).attr("value", Tensor::scalar(1_f32));
        let error = message(&host, other, &[]);
        assert!(error.contains("expected a tensor of TF_INT32"), "{error}");
    });
}

#[test]
fn reads_and_writes_strings() {
    in_own_process("reads_and_writes_strings", || {
        let host = open("2.21");
        let long = "a text of more than twenty-two bytes";
        let input = Tensor::from_strings([2, 2], &["", "short", long, "ü"]);
        let expected = ["", "SHORT", &long.to_ascii_uppercase(), "ü"];
        for encoding in ["", "utf-8"] {
            let op = Op::new("StringUpper")
                .input_with_dtype("input", DType::STRING)
                .output_with_dtype("output", DType::STRING)
                .attr("encoding", encoding);
            let output = run(&host, op, std::slice::from_ref(&input));
            assert_eq!(output, Tensor::from_strings([2, 2], &expected));
        }
    });
}

#[test]
fn copies_elements_of_any_type() {
    in_own_process("copies_elements_of_any_type", || {
        let host = open("2.21");
        let op = |name| Op::new(name).input("x", "T").output("y", "T");
        for (dtype, size) in [
            (DType::FLOAT, 4),
            (DType::HALF, 2),
            (DType::COMPLEX128, 16),
            (DType::FLOAT8_E5M2, 1),
            (DType::INT4, 1),
            (DType::QINT8, 1),
            (DType::BOOL, 1),
        ] {
            let bytes: Vec<u8> = (0..3 * size).collect();
            let input = Tensor::from_bytes(dtype, [3, 1], &bytes);
            assert_eq!(
                run(&host, op("DeepCopy"), std::slice::from_ref(&input)),
                input
            );
        }
        let text = message(
            &host,
            op("DeepCopy"),
            &[Tensor::from_strings([1], &["text"])],
        );
        assert!(
            text.contains("elements of TF_STRING cannot be used as bytes"),
            "{text}"
        );
    });
}

#[test]
fn kernels_of_types_without_constraints_are_not_registered() {
    let stderr = in_own_process(
        "kernels_of_types_without_constraints_are_not_registered",
        || {
            let host = open("2.21");
            let kernels: Vec<_> = host.kernels().filter(|it| it.op == "Snapshot").collect();
            assert_eq!(kernels.len(), 5);
            assert!(
                kernels.iter().all(|it| it.priority == 7),
                "set through the C object"
            );
        },
    );
    assert!(!stderr.contains("is not registered"), "{stderr}");
}

#[test]
fn computes_in_temporary_memory_and_with_complex_numbers() {
    in_own_process(
        "computes_in_temporary_memory_and_with_complex_numbers",
        || {
            let host = open("2.21");
            let x = Tensor::from([3], &[1_f32, -2.0, 3.0]);
            let squares = run(&host, Op::new("Square"), &[x]);
            assert_eq!(squares.as_slice::<f32>(), [1.0, 4.0, 9.0]);
            let bytes: Vec<u8> = [1_f32, 2.0, 3.0, -4.0]
                .iter()
                .flat_map(|it| it.to_le_bytes())
                .collect();
            let conj = Op::new("Conj").input("input", "T").output("output", "T");
            let output = run(
                &host,
                conj,
                &[Tensor::from_bytes(DType::COMPLEX64, [2], &bytes)],
            );
            let parts = output.bytes().chunks(4);
            let parts = parts.map(|it| f32::from_le_bytes(it.try_into().unwrap()));
            let parts: Vec<f32> = parts.collect();
            assert_eq!(parts, [1.0, -2.0, 3.0, 4.0]);
            let report = host.close().unwrap();
            assert!(
                report.unreturned.is_empty() && report.faults.is_empty(),
                "{report:?}"
            );
        },
    );
}

fn optional_attributes(release: &str) -> Vec<f32> {
    let x = || Tensor::from([1, 1], &[1_f32]);
    let flags = run(&open(release), Op::new("MatMul"), &[x(), x()]);
    flags.as_slice().to_vec()
}

#[test]
fn optional_attribute_is_some_if_release_has_it() {
    in_own_process("optional_attribute_is_some_if_release_has_it", || {
        assert_eq!(optional_attributes("2.21"), [1.0, 1.0]);
    });
}

#[test]
fn optional_attribute_is_none_if_release_lacks_it() {
    in_own_process("optional_attribute_is_none_if_release_lacks_it", || {
        assert_eq!(optional_attributes("2.12"), [0.0, 1.0]);
    });
}

#[test]
fn passes_on_strings_and_resources() {
    in_own_process("passes_on_strings_and_resources", || {
        let host = open("2.21");
        let input = Tensor::from_strings([2], &["a", "a longer text than fits inline"]);
        assert_eq!(
            run(&host, Op::new("Identity"), std::slice::from_ref(&input)),
            input
        );
    });
}

#[test]
fn inputs_are_leaked_and_dropped_in_any_order_and_number() {
    in_own_process(
        "inputs_are_leaked_and_dropped_in_any_order_and_number",
        || {
            let host = open("2.21");
            for len in [1_i64, 2, 4, 8, 9, 16, 17, 40] {
                let op = (0..len).fold(Op::new("AddN").attr("N", len), |op, _| {
                    op.input("inputs", "T")
                });
                let values: Vec<f32> = (0..len).map(|it| it as f32 + 0.5).collect();
                let inputs = values.iter().map(|it| Tensor::from([2], &[*it, -it]));
                let inputs: Vec<_> = inputs.collect();
                let call = host.prepare(&op.output("sum", "T"), &inputs).unwrap();
                let sum: f32 = values.iter().sum();
                // Each call of the instance has slots of its own, so that what the earlier one has leaked does not matter.
                for _ in 0..3 {
                    assert_eq!(call.outputs().unwrap(), [Tensor::from([2], &[sum, -sum])]);
                }
            }
        },
    );
}
