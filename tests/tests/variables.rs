//! Variables and asynchronous kernels in each release: `examples/variables.rs` computes in place,
//! `examples/remote_memory.rs` on copies of memory that the host cannot address.

use std::collections::{BTreeMap, BTreeSet};
use std::process::{Command, Stdio};
use std::thread;

use sp_host::{
    DType, EmulatedRelease, Error, Host, ObjectReport, Op, StatusCode, Tensor, Variable,
};
use sp_ir::{Api, Item};
use sp_tests::{example, snapshots};

/// The releases that export no function of variables.
const WITHOUT_VARIABLES: std::ops::RangeInclusive<u32> = 19..=21;

/// Returns the functions of the release. The libraries of some do not export what their headers declare.
fn exports(apis: &[Api], minor: u32) -> BTreeMap<String, BTreeSet<String>> {
    let is_exported =
        |api: &&Api| api.name != "kernels_experimental" || !WITHOUT_VARIABLES.contains(&minor);
    let items = apis.iter().filter(is_exported);
    let items = items.flat_map(|api| api.items.values());
    let symbols = items.filter_map(|item| match item {
        Item::Function(function) => Some(function.symbol.clone()),
        _ => None,
    });
    let framework = BTreeSet::from(["libtensorflow_framework.so.2".to_owned()]);
    let symbols = symbols.chain(["TF_Version".to_owned()]);
    symbols.map(|symbol| (symbol, framework.clone())).collect()
}

/// Runs `body` of the test called `test` with a plugin in each release, in a process for each. Returns what the
/// processes wrote to stderr, by release.
fn in_each_release(
    test: &str,
    plugin: &str,
    body: impl FnOnce(u32, &Host),
) -> BTreeMap<u32, String> {
    if let Ok(minor) = std::env::var("SP_TEST_MINOR") {
        if std::env::var("SP_TEST_PLUGIN").is_ok_and(|it| it != plugin) {
            return BTreeMap::new();
        }
        let minor = minor.parse().unwrap();
        let apis = snapshots(&format!("2.{minor}"));
        let exports = exports(&apis, minor);
        let release = EmulatedRelease::new(&apis).with_exports(&exports);
        body(minor, &Host::open(release, &example(plugin)).unwrap());
        return BTreeMap::new();
    }
    // Built once, not by all processes.
    example(plugin);
    let start = |minor: u32| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", test, "--nocapture"]);
        command.env("SP_TEST_MINOR", minor.to_string());
        command.env("SP_TEST_PLUGIN", plugin);
        let child = command.stdout(Stdio::null()).stderr(Stdio::piped());
        (minor, child.spawn().unwrap())
    };
    let finish = |(minor, child): (u32, std::process::Child)| {
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "2.{minor}: {stderr}");
        (minor, stderr)
    };
    sp_tests::minors(6).map(start).map(finish).collect()
}

fn has_variables(minor: u32) -> bool {
    !WITHOUT_VARIABLES.contains(&minor)
}

fn floats(values: &[f32]) -> Tensor {
    Tensor::from([values.len() as i64], values)
}

/// Creates a variable with this value.
fn variable<'a>(host: &'a Host, value: &Tensor) -> Variable<'a> {
    let variable = host.variable();
    variable.assign(value).unwrap();
    variable
}

fn value(variable: &Variable<'_>) -> Tensor {
    variable.value().unwrap().unwrap()
}

fn adam() -> Op {
    let op = ["var", "m", "v"]
        .iter()
        .fold(Op::new("ResourceApplyAdam"), |op, name| {
            op.input_with_dtype(name, DType::RESOURCE)
        });
    let scalars = [
        "beta1_power",
        "beta2_power",
        "lr",
        "beta1",
        "beta2",
        "epsilon",
        "grad",
    ];
    let op = scalars.iter().fold(op, |op, name| op.input(name, "T"));
    op.attr("use_locking", false).attr("use_nesterov", false)
}

fn run_adam(
    host: &Host,
    variables: [&Variable<'_>; 3],
    grad: &[f32],
) -> Result<Vec<Tensor>, Error> {
    let scalars = [0.9_f32, 0.999, 0.1, 0.9, 0.999, 1e-7].map(Tensor::scalar);
    let inputs = variables.iter().map(|it| it.handle()).chain(scalars);
    host.run(&adam(), &inputs.chain([floats(grad)]).collect::<Vec<_>>())
}

/// Adds `grad` to the second variable; the learning rate is 0.
fn run_momentum(
    host: &Host,
    variables: [&Variable<'_>; 2],
    grad: &[f32],
) -> Result<Vec<Tensor>, Error> {
    let op = Op::new("ResourceApplyMomentum");
    let op = ["var", "accum"]
        .iter()
        .fold(op, |op, it| op.input_with_dtype(it, DType::RESOURCE));
    let op = ["lr", "grad", "momentum"]
        .iter()
        .fold(op, |op, it| op.input(it, "T"));
    let op = op.attr("use_locking", false).attr("use_nesterov", false);
    let inputs = variables.map(Variable::handle).into_iter();
    let inputs = inputs.chain([Tensor::scalar(0_f32), floats(grad), Tensor::scalar(1_f32)]);
    host.run(&op, &inputs.collect::<Vec<_>>())
}

fn rows_op(name: &str) -> Op {
    let op = Op::new(name).input_with_dtype("resource", DType::RESOURCE);
    let op = op.input("indices", "Tindices");
    match name {
        "ResourceGather" => op
            .output("output", "dtype")
            .attr("dtype", DType::FLOAT)
            .attr("batch_dims", 0_i64),
        _ => op.input("updates", "dtype"),
    }
}

/// Checks each kernel of variables of sp-cpu with the variable's memory of this host.
fn check_reference_kernels(host: &Host) {
    let [var, m, v] = [[1_f32, 2.0], [0.0; 2], [0.0; 2]].map(|it| variable(host, &floats(&it)));
    run_adam(host, [&var, &m, &v], &[1.0, -1.0]).unwrap();
    let moved = value(&var);
    let moved = moved.as_slice::<f32>();
    assert!(
        (moved[0] - 0.9).abs() < 1e-5 && (moved[1] - 2.1).abs() < 1e-5,
        "{moved:?}"
    );
    let moment = value(&m);
    let moment = moment.as_slice::<f32>();
    assert!((moment[0] - 0.1).abs() < 1e-6, "{moment:?}");
    let error = run_adam(host, [&var, &m, &v], &[1.0]).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("var and grad do not have the same shape"),
        "{error}"
    );

    let table = Tensor::from([3, 2], &[1_f32, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let table = variable(host, &table);
    let gather = |indices: &[i64]| {
        let indices = Tensor::from([indices.len() as i64], indices);
        host.run(&rows_op("ResourceGather"), &[table.handle(), indices])
    };
    assert_eq!(
        gather(&[2, 0]).unwrap(),
        [Tensor::from([2, 2], &[5_f32, 6.0, 1.0, 2.0])]
    );
    let error = gather(&[0, 3]).unwrap_err();
    assert_eq!(error.code(), Some(StatusCode::INVALID_ARGUMENT), "{error}");
    assert!(
        error
            .to_string()
            .contains("indices[1] = 3 is not in [0, 3)"),
        "{error}"
    );
    for (op, expected) in [
        ("Add", [21_f32, 42.0, 3.0, 4.0]),
        ("Sub", [1.0, 2.0, 3.0, 4.0]),
        ("Mul", [100.0, 800.0, 3.0, 4.0]),
        ("Div", [1.0, 2.0, 3.0, 4.0]),
        ("Max", [10.0, 20.0, 3.0, 4.0]),
        ("Min", [10.0, 20.0, 3.0, 4.0]),
        ("Update", [10.0, 20.0, 3.0, 4.0]),
    ] {
        let indices = Tensor::from([2], &[0_i32, 0]);
        let updates = Tensor::from([2, 2], &[10_f32, 20.0, 10.0, 20.0]);
        let op = rows_op(&format!("ResourceScatter{op}"));
        host.run(&op, &[table.handle(), indices, updates]).unwrap();
        assert_eq!(value(&table).as_slice::<f32>()[..4], expected, "{op:?}");
    }
}

#[test]
fn reference_kernels_change_variables_in_place() {
    let test = "reference_kernels_change_variables_in_place";
    let stderr = in_each_release(test, "variables", |minor, host| {
        if has_variables(minor) {
            check_reference_kernels(host);
            let report = ObjectReport::now();
            assert!(report.is_clean(), "{report}");
        } else {
            let none = host.run(&adam(), &vec![Tensor::scalar(0_f32); 10]);
            assert!(none.is_err());
        }
    });
    for (minor, stderr) in stderr {
        // Ops without a kernel are normal for a release: they give no line.
        assert!(
            !stderr.contains("ops have no kernel"),
            "2.{minor}: {stderr}"
        );
    }
}

#[test]
fn reference_kernels_change_copies_of_remote_variables() {
    let test = "reference_kernels_change_copies_of_remote_variables";
    in_each_release(test, "remote_memory", |minor, host| {
        if has_variables(minor) {
            check_reference_kernels(host);
            let report = ObjectReport::now();
            assert!(report.is_clean(), "{report}");
        }
    });
}

/// A reader holds the value before each change: core requests a copy on the device.
fn check_device_variables(host: &Host) {
    let [var, accum] = [[0_f32; 2], [10.0, 20.0]].map(|it| variable(host, &floats(&it)));
    let op = Op::new("ResourceApplyAdagrad");
    let op = ["var", "accum"]
        .iter()
        .fold(op, |op, it| op.input_with_dtype(it, DType::RESOURCE));
    let op = op.input("lr", "T").input("grad", "T");
    let assign = Op::new("AssignVariableOp").attr("dtype", DType::FLOAT);
    host.run(&assign, &[var.handle(), floats(&[1.0, 2.0])])
        .unwrap();
    let reader = var.read().unwrap();
    for _ in 0..2 {
        let inputs = [
            var.handle(),
            accum.handle(),
            Tensor::scalar(0_f32),
            floats(&[1.0, 2.0]),
        ];
        host.run(&op, &inputs).unwrap();
    }
    assert_eq!(value(&var), floats(&[24.0, 48.0]));
    assert_eq!(value(&accum), floats(&[12.0, 24.0]));
    assert_eq!(reader.value().unwrap(), floats(&[1.0, 2.0]));
}

/// Errors of an author: a lock on the second input, a panic with a lock.
fn check_author_errors(minor: u32, host: &Host) {
    let var = variable(host, &floats(&[1.0]));
    let inputs = |op: Op, scalars: &[&str]| scalars.iter().fold(op, |op, name| op.input(name, "T"));
    let op = Op::new("ResourceApplyProximalAdagrad").input_with_dtype("var", DType::RESOURCE);
    let op = inputs(
        op.input_with_dtype("accum", DType::RESOURCE),
        &["lr", "l1", "l2", "grad"],
    );
    let zeros = [0_f32; 4].map(Tensor::scalar);
    let error = host
        .run(&op, &[&[var.handle(), var.handle()], &zeros[..]].concat())
        .unwrap_err();
    assert!(
        error.to_string().contains("have to be the first inputs"),
        "{error}"
    );
    let op = Op::new("ResourceApplyPowerSign").input_with_dtype("var", DType::RESOURCE);
    let op = op.input_with_dtype("m", DType::RESOURCE);
    let op = inputs(op, &["lr", "logbase", "sign_decay", "beta", "grad"]);
    let zeros = [0_f32; 5].map(Tensor::scalar);
    let error = host
        .run(&op, &[&[var.handle(), var.handle()], &zeros[..]].concat())
        .unwrap_err();
    assert!(error.to_string().contains("expected"), "{error}");
    // The lock is free again.
    let add = Op::new("ResourceApplyGradientDescent");
    host.run(&add, &[var.handle(), Tensor::scalar(1_f32), floats(&[1.0])])
        .unwrap();
    assert_eq!(value(&var), floats(&[6.0]));
    // One variable in two places: each place has a value of its own.
    if minor > 10 {
        run_momentum(host, [&var, &var], &[1.0]).unwrap();
    }
    let no_variable = host.variable().handle();
    assert!(
        host.run(&add, &[no_variable, Tensor::scalar(1_f32), floats(&[1.0])])
            .is_err()
    );
}

#[test]
fn device_variables_are_copied_for_readers_and_unlocked_after_errors() {
    let test = "device_variables_are_copied_for_readers_and_unlocked_after_errors";
    in_each_release(test, "variables", |minor, host| {
        if has_variables(minor) {
            check_device_variables(host);
            check_author_errors(minor, host);
            let report = ObjectReport::now();
            assert!(report.is_clean(), "{report}");
        }
    });
}

#[test]
fn two_threads_lose_no_update() {
    let test = "two_threads_lose_no_update";
    in_each_release(test, "variables", |minor, host| {
        if !has_variables(minor) {
            return;
        }
        let [var, other] = [[0_f32; 3]; 2].map(|it| variable(host, &floats(&it)));
        let add = |table: &Variable<'_>| {
            let (indices, updates) = (Tensor::from([2], &[0_i32, 2]), floats(&[1.0; 2]));
            host.run(
                &rows_op("ResourceScatterAdd"),
                &[table.handle(), indices, updates],
            )
            .unwrap();
        };
        let momentum = |variables| run_momentum(host, variables, &[0.0; 3]);
        thread::scope(|scope| {
            // In opposite orders, which must not deadlock.
            for variables in [[&var, &other], [&other, &var]] {
                let (add, momentum) = (&add, &momentum);
                scope.spawn(move || {
                    for _ in 0..50 {
                        add(variables[0]);
                        momentum(variables).unwrap();
                        add(variables[1]);
                    }
                });
            }
        });
        for table in [&var, &other] {
            assert_eq!(value(table).as_slice::<f32>(), [100.0, 0.0, 100.0]);
        }
    });
}

/// Checks kernels whose inputs have the buffer of the variable that they change.
fn check_reference_in_several_inputs(host: &Host) {
    let inputs = |op: Op, names: &[&str]| names.iter().fold(op, |op, name| op.input(name, "T"));
    let op = Op::new("ApplyMomentum").share_equal_inputs();
    let op = inputs(op, &["var", "accum", "lr", "grad", "momentum"]).output("out", "T");
    let [value, scalar] = [&[1_f32, 2.0][..], &[0.0]].map(floats);
    let tensors = [&value, &value, &scalar, &value, &scalar].map(Clone::clone);
    // Values and gradient are copies of their own: in one buffer the result would be 4 and 8.
    assert_eq!(host.run(&op, &tensors).unwrap(), [floats(&[2.0, 4.0])]);
    let op = Op::new("ScatterAdd")
        .input("ref", "T")
        .input("indices", "Tindices");
    let op = op.input("updates", "T").output("output_ref", "T");
    let tensors = [value.clone(), Tensor::from([1], &[0_i32]), value];
    let error = host.run(&op, &tensors).unwrap_err().to_string();
    assert!(error.contains("has to be a parameter before"), "{error}");
}

#[test]
fn reference_variables_are_assigned_and_changed_in_place() {
    let test = "reference_variables_are_assigned_and_changed_in_place";
    in_each_release(test, "variables", |minor, host| {
        if !has_variables(minor) {
            return;
        }
        let op = |name: &str| {
            Op::new(name)
                .input("ref", "T")
                .input("value", "T")
                .output("output_ref", "T")
        };
        let [old, new] = [[1_f32, 2.0], [3.0, 4.0]].map(|it| floats(&it));
        let added = host
            .run(&op("AssignAdd"), &[old.clone(), new.clone()])
            .unwrap();
        assert_eq!(added, [floats(&[4.0, 6.0])]);
        check_reference_in_several_inputs(host);
        let error = host
            .run(&op("AssignSub"), &[old.clone(), new.clone()])
            .unwrap_err();
        assert!(
            error.to_string().contains("the variable is a reference"),
            "{error}"
        );
        let assign = op("Assign")
            .attr("use_locking", true)
            .attr("validate_shape", true);
        let assigned = host.run(&assign, &[old.clone(), new.clone()]);
        if minor >= 10 {
            assert_eq!(assigned.unwrap(), [new]);
            assert!(host.run(&assign, &[old, floats(&[1.0])]).is_err());
        } else {
            assert!(assigned.is_err(), "the release has no TF_AssignRefVariable");
        }
        let report = ObjectReport::now();
        assert!(report.is_clean(), "{report}");
    });
}

#[test]
fn temporary_variables_are_assigned_and_taken() {
    let test = "temporary_variables_are_assigned_and_taken";
    in_each_release(test, "variables", |minor, host| {
        if !has_variables(minor) || minor < 15 {
            return;
        }
        let create = Op::new("TemporaryVariable").output("ref", "dtype");
        let create = create.attr("dtype", DType::FLOAT).attr("var_name", "step");
        let [created] = &host.run(&create, &[]).unwrap()[..] else {
            panic!("one output")
        };
        assert_eq!(created.dims(), [2]);
        let assign = Op::new("Assign")
            .input("ref", "T")
            .input("value", "T")
            .output("output_ref", "T");
        let assign = assign
            .attr("use_locking", false)
            .attr("validate_shape", true);
        let assigned = host
            .run(&assign, &[created.clone(), floats(&[1.0, 2.0])])
            .unwrap();
        let switch = Op::new("RefSwitch").input("data", "T");
        let switch = switch.input_with_dtype("pred", DType::BOOL);
        let switch = switch
            .output("output_false", "T")
            .output("output_true", "T");
        let pred = Tensor::scalar(true);
        let error = host.run(&switch, &[created.clone(), pred]).unwrap_err();
        assert!(error.to_string().contains("for output 0 only"), "{error}");
        let take = Op::new("DestroyTemporaryVariable")
            .input("ref", "T")
            .output("value", "T");
        let take = take.attr("var_name", "step");
        assert_eq!(host.run(&take, &assigned).unwrap(), [floats(&[1.0, 2.0])]);
        assert_eq!(
            host.run(&take, &assigned).unwrap_err().code(),
            Some(StatusCode::NOT_FOUND)
        );
        let report = ObjectReport::now();
        assert!(report.is_clean(), "{report}");
    });
}

/// Checks zeros and sums of lists of tensors.
fn check_variants(host: &Host) {
    let list = |values: &[f32]| {
        let [floats, integers] = [floats(values), Tensor::from([1], &[values[0] as i64])];
        host.tensor_list(&[floats, integers]).unwrap()
    };
    let zeros_like = Op::new("ZerosLike").input("x", "T").output("y", "T");
    let zeros = host.run(&zeros_like, &[list(&[1.0, 2.0])]).unwrap();
    let expected = [floats(&[0.0, 0.0]), Tensor::from([1], &[0_i64])];
    assert_eq!(host.listed_tensors(&zeros[0]).unwrap(), expected);
    let add_n = ["a", "b", "c"]
        .iter()
        .fold(Op::new("AddN"), |op, name| op.input(name, "T"));
    let add_n = add_n.output("sum", "T").attr("N", 3_i64);
    let sum = host
        .run(
            &add_n,
            &[list(&[1.0, 2.0]), list(&[3.0, 4.0]), list(&[5.0, 6.0])],
        )
        .unwrap();
    let expected = [floats(&[9.0, 12.0]), Tensor::from([1], &[9_i64])];
    assert_eq!(host.listed_tensors(&sum[0]).unwrap(), expected);
    let error = host
        .run(&add_n, &[list(&[1.0, 2.0]), list(&[3.0]), list(&[5.0])])
        .unwrap_err();
    assert!(
        error.to_string().contains("variants of different shapes"),
        "{error}"
    );
}

#[test]
fn variants_have_zeros_and_sums() {
    let test = "variants_have_zeros_and_sums";
    for plugin in ["variables", "remote_memory"] {
        in_each_release(test, plugin, |minor, host| {
            if has_variables(minor) && minor >= 10 {
                check_variants(host);
                let report = ObjectReport::now();
                assert!(report.is_clean(), "{report}");
            }
        });
    }
}

#[test]
fn asynchronous_kernels_end_once_on_every_path() {
    let test = "asynchronous_kernels_end_once_on_every_path";
    in_each_release(test, "variables", |minor, host| {
        let op = |name: &str| Op::new(name).input("x", "T").output("y", "T");
        let run = |name: &str| host.run(&op(name), &[floats(&[1.0, 2.0])]);
        let is_later = f32::from(u8::from(minor >= 22));
        thread::scope(|scope| {
            let calls: Vec<_> = (0..4)
                .map(|_| scope.spawn(|| run("Sigmoid").unwrap()))
                .collect();
            for call in calls {
                assert_eq!(call.join().unwrap(), [floats(&[is_later; 2])]);
            }
        });
        assert!(run("Tanh").unwrap_err().to_string().contains("panic"));
        assert_eq!(
            run("Sin").unwrap_err().code(),
            Some(StatusCode::UNIMPLEMENTED)
        );
        assert!(
            run("Cos")
                .unwrap_err()
                .to_string()
                .contains("has not set output 0")
        );
        let report = ObjectReport::now();
        assert!(report.is_clean(), "{report}");
    });
}

#[test]
fn call_info_states_node_step_and_memory() {
    let test = "call_info_states_node_step_and_memory";
    in_each_release(test, "variables", |minor, host| {
        let op = Op::new("Tan").input("x", "T").output("y", "T");
        let described = host.run(&op, &[Tensor::scalar(0_f32)]).unwrap();
        let has_name = f32::from(u8::from(minor >= 10));
        assert_eq!(described, [Tensor::scalar(100.0 + has_name)]);
    });
}

#[test]
fn rejects_input_of_another_memory_space_as_output() {
    let test = "rejects_input_of_another_memory_space_as_output";
    in_each_release(test, "variables", |_, host| {
        let run = |name: &str| {
            let op = Op::new(name).input("x", "T").output("y", "T");
            host.run(&op, &[Tensor::from([1], &[1_i32])])
                .unwrap_err()
                .to_string()
        };
        let error = run("Sign");
        assert!(
            error.contains("an input in host memory cannot become"),
            "{error}"
        );
        // The kernel ignores the error.
        let error = run("Abs");
        assert!(error.contains("has not set output 0"), "{error}");
    });
}

#[test]
fn waits_for_stream_before_host_writes_new_memory() {
    let test = "waits_for_stream_before_host_writes_new_memory";
    in_each_release(test, "variables", |_, host| {
        for name in ["Exp", "Log"] {
            let op = Op::new(name).input("x", "T").output("y", "T").keep_inputs();
            let waits = host.run(&op, &[floats(&[0.0])]).unwrap();
            assert_eq!(waits, [floats(&[1.0])], "{name}");
        }
    });
}
