//! `SP_HOST_ASYNC=1` calls kernels before their inputs are on the device, which finds those that ignore their stream.

mod c;

use c::Compiler;
use sp_host::{CheckStatus, Host, Op, Suite, Tensor};

fn main() {
    let apis = c::apis();
    let Some(compiler) = Compiler::find(&apis) else {
        println!("skipped: this machine has no C compiler (cc)");
        return;
    };
    // SAFETY: no other thread runs yet.
    unsafe { std::env::set_var("SP_HOST_ASYNC", "1") };
    let status = |defect| {
        let suite = Suite::new(&apis, compiler.plugin(defect));
        let rows = suite.test("adds", adds).test("sums", sums).own_tests();
        rows.iter().for_each(|row| println!("{defect}: {row}"));
        rows.iter().map(|row| row.status).collect::<Vec<_>>()
    };
    let (pass, fail) = (CheckStatus::Pass, CheckStatus::Fail);
    assert_eq!(status("ASYNC"), [pass, pass]);
    assert_eq!(status("ASYNC USE_BFC"), [pass, pass]);
    // Its streams run work in the call.
    assert_eq!(status("GOOD"), [pass, pass]);
    assert_eq!(status("ASYNC KERNEL_EARLY"), [fail, pass]);
}

/// Its kernel enqueues work.
fn adds(host: &Host) {
    let x = Tensor::from([3], &[1f32, 2.0, 4.0]);
    let outputs = host.run(&Op::new("AddV2"), &[x.clone(), x]).unwrap();
    assert_eq!(outputs, [Tensor::from([3], &[2f32, 4.0, 8.0])]);
}

/// Its kernel waits for its stream.
fn sums(host: &Host) {
    let inputs = [
        Tensor::from([3], &[1f32, 2.0, 4.0]),
        Tensor::from([1], &[0i64]),
    ];
    let outputs = host.run(&Op::new("Sum"), &inputs).unwrap();
    assert_eq!(outputs, [Tensor::scalar(7f32)]);
}
