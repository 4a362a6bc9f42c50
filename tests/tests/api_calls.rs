//! The C functions that one call of a kernel uses. `benches/kernel.rs` compares them and their time with kernels in C.

use sp_host::{Host, Op, Tensor, record_api_calls};
use sp_tests::{example, in_own_process, snapshots};

/// Returns the C functions of the second call of the op's kernel, without those that only debug builds call.
fn api_calls(host: &Host, op: &str, inputs: &[Tensor]) -> Vec<&'static str> {
    let call = host.prepare(&Op::new(op), inputs).unwrap();
    // The thread's first call creates its status.
    call.compute().unwrap();
    let (computed, calls) = record_api_calls(|| call.compute());
    computed.unwrap();
    assert_eq!(call.outputs().unwrap().len(), 1, "{op}");
    let checks_type = |it: &&str| *it == "TF_TensorType";
    calls.into_iter().filter(|it| !checks_type(it)).collect()
}

const INPUT: [&str; 4] = ["TF_GetInput", "TF_NumDims", "TF_Dim", "TF_TensorData"];
const OUTPUT: [&str; 2] = ["TF_AllocateOutput", "TF_TensorData"];
const DELETE: [&str; 1] = ["TF_DeleteTensor"];

#[test]
fn call_asks_nothing_twice() {
    in_own_process("call_asks_nothing_twice", || {
        let host = Host::open(&snapshots("2.21"), &example("kernel_cost")).unwrap();
        let x = || Tensor::from([1], &[-1_f32]);
        let axis = Tensor::from([1], &[0_i32]);
        let unary = [&INPUT[..], &OUTPUT, &DELETE, &DELETE].concat();
        let binary = [&INPUT[..], &INPUT, &OUTPUT, &DELETE, &DELETE, &DELETE].concat();
        assert_eq!(api_calls(&host, "Relu", &[x()]), unary);
        assert_eq!(api_calls(&host, "AddV2", &[x(), x()]), binary);
        assert_eq!(api_calls(&host, "Sum", &[x(), axis]), binary);
    });
}

/// TensorFlow passes no device to a kernel: a kernel of one device finds it through the stream.
#[test]
fn kernel_of_one_device_asks_for_its_stream_once() {
    in_own_process("kernel_of_one_device_asks_for_its_stream_once", || {
        let host = Host::open(&snapshots("2.21"), &example("kernel_cost")).unwrap();
        let calls = api_calls(&host, "Neg", &[Tensor::from([1], &[-1_f32])]);
        let mut streams = calls.iter().filter(|it| **it == "TF_GetStream");
        assert_eq!(streams.by_ref().count(), 1, "{calls:?}");
        assert!(calls.iter().all(|it| *it != "TF_GetCode"), "{calls:?}");
    });
}
