//! A kernel that breaks the rules of asynchronous kernels or of variables fails the test that runs it. A copy that runs after an
//! error has the memory that it was enqueued with.

mod c;
#[path = "../../../tests/src/rows.rs"]
mod rows;

use c::Compiler;
use sp_host::{CheckStatus, DType, Host, Op, Suite, Tensor};

/// A release, a defect, the test that runs it, and a part of the failed test's detail; empty if the release allows it.
const DEFECTS: &str = "
2.21 | DONE_NEVER | negates | did not call done before compute returned
2.22 | DONE_NEVER | negates | never called done
2.21 | DONE_TWICE | negates | which was called before
2.22 | DONE_TWICE | negates | which was called before
2.21 | DONE_LATE | negates | did not call done before compute returned
2.22 | DONE_LATE | negates |
2.22 | ASYNC LATE_COPY | fails | 
2.22 | VARIABLES=1 | reads | which the kernel has not locked
2.22 | VARIABLES=2 | reads | waits forever for a variable
2.22 | VARIABLES=3 | reads | 1 TF_VariableInputLockHolder was never deleted
";

fn main() {
    for [release, defect, test, words] in rows::rows(DEFECTS) {
        // A child has the plugin of its parent, and ends in `own_tests`.
        if sp_host::child_release().is_some_and(|it| it != release) {
            continue;
        }
        let apis = c::apis_of(release);
        let Some(compiler) = Compiler::find(&apis) else {
            println!("skipped: this machine has no C compiler (cc)");
            return;
        };
        let plugin = sp_host::child_plugin().unwrap_or_else(|| compiler.plugin(defect));
        let mut suite = Suite::new(&apis, plugin);
        if test == "negates" || sp_host::is_child() {
            suite = suite.test("negates", negates);
        }
        if test == "reads" || sp_host::is_child() {
            suite = suite.test("reads", reads);
        }
        if test == "fails" || sp_host::is_child() {
            suite = suite.test("fails", fails);
        }
        for row in suite.own_tests() {
            let expected = match words.is_empty() {
                true => CheckStatus::Pass,
                false => CheckStatus::Fail,
            };
            assert_eq!(row.status, expected, "{release} {defect}: {row}");
            assert!(row.detail.contains(words), "{release} {defect}: {row}");
            println!("{release} {defect}: {row}");
        }
    }
}

fn negates(host: &Host) {
    let inputs = [Tensor::from([2], &[1f32, -2.0])];
    let outputs = host.run(&Op::new("Neg"), &inputs).unwrap();
    assert_eq!(outputs, [Tensor::from([2], &[-1f32, 2.0])]);
}

/// The event behind the copy of the output fails while the copy waits.
fn fails(host: &Host) {
    let input = || Tensor::from([4], &[1f32; 4]);
    let result = host.run(&Op::new("AddV2"), &[input(), input()]);
    let error = result.unwrap_err().to_string();
    assert!(error.contains("Unexpected Event status: 1"), "{error}");
}

fn reads(host: &Host) {
    let (variable, value) = (host.variable(), Tensor::from([2], &[1f32, -2.0]));
    variable.assign(&value).unwrap();
    let read = Op::new("ReadVariable").input_with_dtype("resource", DType::RESOURCE);
    let read = read.output("value", "T").attr("T", DType::FLOAT);
    assert_eq!(host.run(&read, &[variable.handle()]).unwrap(), [value]);
}
