//! Tensors of `TF_BOOL` with bytes other than 0 and 1, as `tf.io.decode_raw` returns them.

use sp_host::{DType, Host, Op, Tensor};
use sp_tests::{example, in_own_process, snapshots};

fn mask() -> Tensor {
    Tensor::from_bytes(DType::BOOL, [5], &[0, 1, 2, 128, 255])
}

#[test]
fn kernels_read_any_nonzero_byte_as_true() {
    in_own_process("kernels_read_any_nonzero_byte_as_true", || {
        let host = Host::open(&snapshots("2.21"), &example("author_errors")).unwrap();
        let run = |op: Op| host.run(&op, &[mask()]).unwrap().remove(0);
        let cast = |to: DType| run(Op::new("Cast").attr("DstT", to));
        assert_eq!(cast(DType::INT32), Tensor::from([5], &[0, 1, 1, 1, 1]));
        assert_eq!(cast(DType::UINT8), Tensor::from([5], &[0_u8, 1, 1, 1, 1]));
        let floats = [0_f32, 1.0, 1.0, 1.0, 1.0];
        assert_eq!(cast(DType::FLOAT), Tensor::from([5], &floats));
        let pick = Op::new("Where").input("input", "T");
        let picked = run(pick.output_with_dtype("index", DType::INT64));
        assert_eq!(picked.as_slice::<i64>(), [10, 20, 20, 20, 20]);
    });
}
