//! A kernel that leaks an object or deletes it twice fails the test that runs it.

mod c;

use c::Compiler;
use sp_host::{CheckOutcome, CheckStatus, Host, Op, Suite, Tensor};

/// A defect, and a part of the detail of the failed test.
const DEFECTS: [(&str, &str); 2] = [
    ("LEAK_TENSOR", "1 TF_Tensor was never deleted"),
    ("DOUBLE_DELETE", "TF_DeleteTensor got"),
];

fn main() {
    let apis = c::apis();
    let suite = |plugin| Suite::new(&apis, plugin).test("adds", adds);
    let Some(compiler) = Compiler::find(&apis) else {
        println!("skipped: this machine has no C compiler (cc)");
        return;
    };
    let row = first_outcome(suite(compiler.plugin("GOOD")).own_tests());
    assert_eq!(row.status, CheckStatus::Pass, "{row}");
    for (defect, words) in DEFECTS {
        let row = first_outcome(suite(compiler.plugin(defect)).own_tests());
        assert_eq!(row.status, CheckStatus::Fail, "{defect}: {row}");
        assert!(row.detail.contains(words), "{defect}: {row}");
        println!("{defect}: {row}");
    }
}

fn adds(host: &Host) {
    let scalar_one = || Tensor::from([1], &[1f32]);
    assert_eq!(
        host.run(&Op::new("AddV2"), &[scalar_one(), scalar_one()])
            .unwrap(),
        [Tensor::from([1], &[2f32])]
    );
}

fn first_outcome(rows: Vec<CheckOutcome>) -> CheckOutcome {
    rows.into_iter().next().expect("there is one test")
}
