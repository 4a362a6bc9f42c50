//! Reference kernels on a device whose memory the host cannot address: `examples/remote_memory.rs`.

use sp_host::{Host, Op, Tensor};
use sp_tests::{example, run_test};

fn add(host: &Host) -> Result<Vec<Tensor>, sp_host::Error> {
    let x = Tensor::from([2, 2], &[1_f32, 2.0, 3.0, 4.0]);
    let y = Tensor::from([2], &[10_f32, 20.0]);
    host.run(&Op::new("AddV2"), &[x, y])
}

#[test]
fn kernels_compute_on_staging_copies() {
    let apis = sp_tests::snapshots("2.21");
    let host = Host::open(&apis, &example("remote_memory")).unwrap();
    assert_eq!(
        add(&host).unwrap(),
        [Tensor::from([2, 2], &[11_f32, 22.0, 13.0, 24.0])]
    );
    let empty = Tensor::from([0, 3], &[0_f32; 0]);
    assert_eq!(
        host.run(&Op::new("Neg"), std::slice::from_ref(&empty))
            .unwrap(),
        [empty]
    );
}

#[test]
fn host_argument_is_not_copied_from_the_device() {
    let apis = sp_tests::snapshots("2.21");
    let host = Host::open(&apis, &example("remote_memory")).unwrap();
    let dims = Tensor::from([2], &[3_i32, 4]);
    let op = Op::new("Fill")
        .input("dims", "index_type")
        .input("value", "T")
        .output("output", "T");
    let outputs = host.run(&op, &[dims.clone(), Tensor::scalar(7_i32)]);
    assert_eq!(outputs.unwrap(), [dims]);
}

/// Prints the result of an addition. `sp_forbid_staged_rejects_staged_kernels` starts this test in a process
/// of its own, since the variable is read once.
#[test]
fn print_result_of_add() {
    let apis = sp_tests::snapshots("2.21");
    match add(&Host::open(&apis, &example("remote_memory")).unwrap()) {
        Ok(_) => println!("added"),
        Err(error) => println!("rejected: {error}"),
    }
}

#[test]
fn sp_forbid_staged_rejects_staged_kernels() {
    let run = |forbid: &str| {
        let variables = [("SP_FORBID_STAGED", forbid), ("SP_LOG", "debug")];
        run_test("print_result_of_add", &variables).concat()
    };
    let allowed = run("0");
    assert!(allowed.contains("added"), "{allowed}");
    assert!(
        allowed.contains("AddV2 T=TF_FLOAT runs on the host through copies"),
        "{allowed}"
    );
    let forbidden = run("1");
    assert!(
        forbidden.contains("rejected") && forbidden.contains("SP_FORBID_STAGED"),
        "{forbidden}"
    );
}
