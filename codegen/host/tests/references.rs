//! Temporary and reference variables of kernels in 2.15 to 2.18.

mod c;

use c::Compiler;
use sp_host::{CheckStatus, DType, Host, Op, StatusCode, Suite, Tensor};

fn main() {
    let apis = c::apis_of("2.18");
    let Some(compiler) = Compiler::find(&apis) else {
        println!("skipped: this machine has no C compiler (cc)");
        return;
    };
    let suite = Suite::new(&apis, compiler.plugin("REFERENCES"));
    let suite = suite
        .test("assigns_temporary_variable", assigns_temporary_variable)
        .test(
            "rejects_unknown_variable_and_other_shape",
            rejects_unknown_variable_and_other_shape,
        );
    for row in suite.own_tests() {
        assert_eq!(row.status, CheckStatus::Pass, "{row}");
        println!("{row}");
    }
}

fn temporary_variable() -> Op {
    let op = Op::new("TemporaryVariable").output("ref", "T");
    op.attr("T", DType::FLOAT)
}

fn assign() -> Op {
    let op = Op::new("Assign").input("ref", "T").input("value", "T");
    op.output("output_ref", "T")
}

fn destroy_temporary_variable() -> Op {
    let op = Op::new("DestroyTemporaryVariable").input("ref", "T");
    op.output("value", "T")
}

fn assigns_temporary_variable(host: &Host) {
    let [variable] = &host.run(&temporary_variable(), &[]).unwrap()[..] else {
        panic!("one output")
    };
    assert_eq!(variable.dims(), [3]);
    let value = Tensor::from([3], &[1f32, 2.0, 3.0]);
    let assigned = host.run(&assign(), &[variable.clone(), value.clone()]);
    let last = host.run(&destroy_temporary_variable(), &assigned.unwrap());
    assert_eq!(last.unwrap(), [value]);
}

fn rejects_unknown_variable_and_other_shape(host: &Host) {
    let tensor = |len: i64| Tensor::from([len], &vec![0f32; len as usize]);
    let error = host
        .run(&destroy_temporary_variable(), &[tensor(3)])
        .unwrap_err();
    assert_eq!(error.code(), Some(StatusCode::NOT_FOUND), "{error}");
    let error = host.run(&assign(), &[tensor(3), tensor(2)]).unwrap_err();
    assert_eq!(error.code(), Some(StatusCode::INVALID_ARGUMENT), "{error}");
}
