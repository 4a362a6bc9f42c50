//! `SP_COMPARE`: the author's kernels beside those of the reference. The plugin is `examples/compare.rs`.

use sp_host::{DType, Host, Op, Tensor};

/// The examples are named after their package.
const PREFIX: &str = "plugin sp-tests: ";

/// The device's memory and streams.
const MODES: [[&str; 2]; 4] = [
    ["host", "inline"],
    ["opaque", "inline"],
    ["host", "async"],
    ["opaque", "async"],
];

fn unary(name: &str) -> Op {
    Op::new(name).input("x", "T").output("y", "T")
}

fn reshape() -> Op {
    let op = Op::new("Reshape").input("tensor", "T");
    op.input("shape", "Tshape").output("output", "T")
}

fn split() -> Op {
    let op = Op::new("Split").attr("num_split", 2_i64);
    let op = op.input_with_dtype("split_dim", DType::INT32);
    op.input("value", "T")
        .output("output", "T")
        .output("output", "T")
}

fn floats(values: &[f32]) -> Tensor {
    Tensor::from([values.len() as i64], values)
}

fn cases() -> Vec<(&'static str, Op, Vec<Tensor>)> {
    let x = || floats(&[-1.0, 0.5, 3.0]);
    let ints = Tensor::from([2, 2], &[1_i64, 2, -7, -7]);
    let matrix = Tensor::from([2, 2], &[1_f32, 2.0, 3.0, 4.0]);
    vec![
        ("Neg", Op::new("Neg"), vec![x()]),
        ("Exp", unary("Exp"), vec![x()]),
        ("Relu", Op::new("Relu"), vec![x()]),
        ("ReluPositive", Op::new("Relu"), vec![floats(&[1.0, 2.0])]),
        ("ReluEmpty", Op::new("Relu"), vec![floats(&[])]),
        ("SquareOfIntegers", Op::new("Square"), vec![ints]),
        ("Square", Op::new("Square"), vec![x()]),
        (
            "Split",
            split(),
            vec![Tensor::scalar(0_i32), floats(&[1.0, 2.0, 3.0, 4.0])],
        ),
        ("Reshape", reshape(), vec![x(), Tensor::from([1], &[3_i32])]),
        ("BiasAdd", Op::new("BiasAdd"), vec![matrix, x()]),
        ("Tanh", unary("Tanh"), vec![x()]),
        ("Sigmoid", unary("Sigmoid"), vec![x()]),
        ("Sin", unary("Sin"), vec![x()]),
        ("Cholesky", unary("Cholesky"), vec![x()]),
        ("Sqrt", Op::new("Sqrt"), vec![floats(&[4.0])]),
    ]
}

/// Prints the result of each case in the release that COMPARE_RELEASE names. The variables of a plugin are read once in a process, so [`run`]
/// starts one for each choice.
#[test]
fn print_results() {
    let Ok(release) = std::env::var("COMPARE_RELEASE") else {
        return;
    };
    let apis = sp_tests::snapshots(&release);
    let host = Host::open(&apis, &sp_tests::example("compare")).unwrap();
    for (name, op, inputs) in cases() {
        match host.run(&op, &inputs) {
            Ok(outputs) if name == "SquareOfIntegers" => {
                println!("{name}| {:?}", outputs[0].as_slice::<i64>())
            }
            Ok(outputs) => println!("{name}| {:?}", outputs[0].as_slice::<f32>()),
            Err(error) => println!("{name}| {error}"),
        }
    }
    let report = host.close().unwrap();
    println!("objects| {report:?}");
}

/// The output of a process.
struct Run {
    stdout: String,
    stderr: String,
}

impl Run {
    fn result(&self, name: &str) -> &str {
        let mut lines = self.stdout.lines().filter_map(|line| line.split_once("| "));
        let found = lines.find(|(it, _)| it.ends_with(name));
        found
            .unwrap_or_else(|| panic!("{name}: {}{}", self.stdout, self.stderr))
            .1
    }

    /// Returns the lines of the plugin that contain `text`.
    fn lines(&self, text: &str) -> Vec<&str> {
        let lines = self.stderr.lines().filter_map(|it| it.strip_prefix(PREFIX));
        lines.filter(|it| it.contains(text)).collect()
    }
}

fn run(release: &str, compare: &str, mode: [&str; 2]) -> Run {
    run_with_log("info", release, compare, mode)
}

fn run_with_log(log: &str, release: &str, compare: &str, [memory, streams]: [&str; 2]) -> Run {
    let variables = [
        ("COMPARE_RELEASE", release),
        ("SP_COMPARE", compare),
        ("SP_LOG", log),
        ("SP_CPU_MEMORY", memory),
        ("SP_CPU_STREAMS", streams),
        ("SP_FORBID_STAGED", "0"),
    ];
    let [stdout, stderr] = sp_tests::run_test("print_results", &variables);
    Run { stdout, stderr }
}

fn check_contains(run: &Run, name: &str, expected: &str) {
    let found = run.result(name);
    assert!(
        found.contains(expected),
        "{name}: {found}, expected {expected}"
    );
}

#[test]
fn without_variable_nothing_is_compared() {
    let run = run("2.21", "0", MODES[0]);
    assert_eq!(run.result("Relu"), "[-0.5, 0.5, 3.0]");
    assert_eq!(run.result("Reshape"), "[0.0, 1.5, 4.0]");
    assert!(run.lines("compare").is_empty(), "{}", run.stderr);
}

#[test]
fn wrong_kernels_fail_on_each_kind_of_device() {
    for mode in MODES {
        let run = run("2.21", "1", mode);
        let relu = "Relu T=TF_FLOAT (node Relu_under_test): output 0, `activations`, TF_FLOAT [3]: 1 of 3 elements differ from the \
                    reference kernel's, first element [0]: expected 0.0, got -0.5";
        check_contains(&run, "Relu", relu);
        let square = "`y`, TF_INT64 [2, 2]: 2 of 4 elements differ from the reference kernel's, first element [1, 0]: \
                   expected 49, got 8";
        check_contains(&run, "SquareOfIntegers", square);
        let shape = "output 0, `y`, TF_FLOAT [3, 1]: the shape differs from the reference kernel's, expected [3]";
        check_contains(&run, "Square", shape);
        check_contains(
            &run,
            "Split",
            "output 1, `output`, TF_FLOAT [2]: 2 of 2 elements differ",
        );
        check_contains(&run, "Reshape", "first element [0]: expected -1.0, got 0.0");
        check_contains(&run, "Tanh", "1 of 3 elements differ");
        check_contains(&run, "Tanh", "first element [2]: expected 0.99505");
        check_contains(&run, "Sigmoid", "3 of 3 elements differ");
    }
}

#[test]
fn right_kernels_give_no_report_on_any_kind_of_device() {
    for mode in MODES {
        let run = run("2.21", "1", mode);
        assert_eq!(run.result("Neg"), "[1.0, -0.5, -3.0]");
        assert!(
            run.result("Exp").starts_with("[0.3678"),
            "{}",
            run.result("Exp")
        );
        assert_eq!(run.result("ReluPositive"), "[1.0, 2.0]");
        assert_eq!(run.result("ReluEmpty"), "[]");
        // A kernel of the reference alone.
        assert_eq!(run.result("Sqrt"), "[2.0]");
        for op in ["Neg", "Exp"] {
            let lines = run.lines(op);
            let is_report = |it: &&str| !it.contains("on the host through copies");
            assert!(!lines.iter().any(is_report), "{lines:?}");
        }
    }
}

#[test]
fn kernels_that_are_not_compared_are_listed_once() {
    let count = "SP_COMPARE compares 11 kernels with reference kernels; 2 are not compared (SP_LOG=debug lists these)";
    let run = run("2.21", "1", MODES[0]);
    assert_eq!(run.lines("SP_COMPARE compares"), [count]);
    assert!(run.lines("not compared, since").is_empty());
    let run = run_with_log("debug", "2.21", "1", MODES[0]);
    assert_eq!(run.lines("SP_COMPARE compares"), [count]);
    let lines = run.lines("not compared, since");
    assert_eq!(
        lines,
        [
            "not compared, since an argument is a string, a variable or a variant: StringLength",
            "not compared, since the reference has no kernel of the op and types: Cholesky T=TF_FLOAT"
        ]
    );
    assert_eq!(run.result("Cholesky"), "[0.0, 0.0, 0.0]");
}

#[test]
fn failure_of_one_kernel_alone_is_no_difference() {
    let run = run("2.21", "1", MODES[0]);
    assert_eq!(run.result("BiasAdd"), "[1.0, 2.0, 3.0, 4.0]");
    let lines = run.lines("BiasAdd");
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(
        lines[0].contains("the reference kernel failed"),
        "{lines:?}"
    );
    check_contains(&run, "Sin", "expected");
    assert!(run.lines("Sin").is_empty(), "{}", run.stderr);
}

#[test]
fn warnings_leave_results_as_they_are() {
    let run = run("2.21", "warn", MODES[0]);
    assert_eq!(run.result("Relu"), "[-0.5, 0.5, 3.0]");
    assert_eq!(run.result("Reshape"), "[0.0, 1.5, 4.0]");
    let lines = run.lines("1 of 3 elements differ");
    assert!(lines[0].starts_with("Relu T=TF_FLOAT"), "{lines:?}");
}

#[test]
fn compares_in_oldest_and_newest_release() {
    for release in ["2.5", "2.12", "2.22"] {
        let run = run(release, "1", MODES[0]);
        check_contains(&run, "Relu", "expected 0.0, got -0.5");
        assert_eq!(run.result("Neg"), "[1.0, -0.5, -3.0]");
    }
}

#[test]
fn no_tensor_outlives_its_call() {
    for mode in MODES {
        let (off, on) = (run("2.21", "0", mode), run("2.21", "1", mode));
        assert_eq!(off.result("objects"), on.result("objects"));
    }
}
