//! Temporary and reference variables, as kernels of 2.15 to 2.18 have them.

mod c;

use c::Compiler;
use sp_host::{Code, DType, Host, Op, Suite, Tensor, Verdict};

fn main() {
    let apis = c::apis_of("2.18");
    let Some(compiler) = Compiler::find(&apis) else {
        println!("skipped: this machine has no C compiler (cc)");
        return;
    };
    let suite = Suite::new(&apis, compiler.plugin("REFERENCES"));
    let suite = suite.test("a_step", a_step).test("refused", refused);
    for row in suite.own_tests() {
        assert_eq!(row.status, Verdict::Pass, "{row}");
        println!("{row}");
    }
}

fn made() -> Op {
    let op = Op::new("TemporaryVariable").output("ref", "T");
    op.attr("T", DType::FLOAT)
}

fn assigned() -> Op {
    let op = Op::new("Assign").input("ref", "T").input("value", "T");
    op.output("output_ref", "T")
}

fn destroyed() -> Op {
    let op = Op::new("DestroyTemporaryVariable").input("ref", "T");
    op.output("value", "T")
}

fn a_step(host: &Host) {
    let [variable] = &host.run(&made(), &[]).unwrap()[..] else {
        panic!("one output")
    };
    assert_eq!(variable.dims(), [3]);
    let value = Tensor::from([3], &[1f32, 2.0, 3.0]);
    let assigned = host.run(&assigned(), &[variable.clone(), value.clone()]);
    let last = host.run(&destroyed(), &assigned.unwrap());
    assert_eq!(last.unwrap(), [value]);
}

fn refused(host: &Host) {
    let tensor = |len: i64| Tensor::from([len], &vec![0f32; len as usize]);
    let error = host.run(&destroyed(), &[tensor(3)]).unwrap_err();
    assert_eq!(error.code(), Some(Code::NOT_FOUND), "{error}");
    let error = host.run(&assigned(), &[tensor(3), tensor(2)]).unwrap_err();
    assert_eq!(error.code(), Some(Code::INVALID_ARGUMENT), "{error}");
}
