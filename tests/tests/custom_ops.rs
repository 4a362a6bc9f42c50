//! Ops that a plugin defines, in sp-host: `examples/custom_ops.rs`.

use std::path::PathBuf;

use sp_host::{Host, Op, Tensor};

/// Unknown rank, and unknown dimension.
const ANY: Option<&[i64]> = None;

fn library() -> PathBuf {
    sp_tests::example("custom_ops")
}

/// Infers shapes, and formats them or the error.
fn infer(host: &Host, op: &Op, inputs: &[Option<&[i64]>]) -> String {
    let inputs: Vec<Option<Vec<i64>>> = inputs.iter().map(|it| it.map(<[i64]>::to_vec)).collect();
    match host.infer_shapes(op, &inputs) {
        Ok(shapes) => shapes
            .iter()
            .map(|it| {
                it.as_ref()
                    .map_or("?".to_owned(), |dims| format!("{dims:?}"))
            })
            .collect::<Vec<_>>()
            .join(" "),
        Err(error) => error.to_string(),
    }
}

/// Prints shapes and results in the release that CUSTOM_OPS_RELEASE names. A process identifies its host once, so
/// [`run`] starts one for each release.
#[test]
fn print_results() {
    let Ok(release) = std::env::var("CUSTOM_OPS_RELEASE") else {
        return;
    };
    let apis = sp_tests::snapshots(&release);
    let host = Host::open(&apis, &library()).unwrap();
    // The same library registers its ops once.
    drop(Host::open(&apis, &library()).unwrap());
    println!("ops {}", host.defined_ops().join(" "));
    let registered = host.kernels().filter(|it| it.op == "FusedBiasRelu").count();
    println!("kernels {registered}");
    print_shapes(&host);
    let value = Tensor::from([2, 2], &[1_f32, -1.0, 3.0, -4.0]);
    let inputs = [value, Tensor::from([2], &[1_f32, 2.0])];
    for slope in [None, Some(0.5_f32)] {
        let op = Op::new("FusedBiasRelu");
        let op = slope.map_or(op.clone(), |it| op.attr("slope", it));
        match host.run(&op, &inputs) {
            Ok(outputs) => println!("run {:?}", outputs[0].as_slice::<f32>()),
            Err(error) => println!("run {error}"),
        }
    }
    print_mapped(&host);
    let tally = host.close().unwrap();
    assert!(tally.is_clean(), "{tally}");
}

/// Runs the op whose outputs are in the plugin's memory, and prints how many blocks exist and were freed: while both outputs
/// are used, and after they are dropped.
fn print_mapped(host: &Host) {
    let blocks = |values: &Tensor| {
        let found = host.run(&Op::new("MappedBlocks"), std::slice::from_ref(values))?;
        let numbers: Vec<i64> = found[..2]
            .iter()
            .map(|it| it.as_slice::<i64>()[0])
            .collect();
        Ok::<_, sp_host::Error>((numbers, found[2].bytes()[0]))
    };
    let run = || -> Result<(), sp_host::Error> {
        for _ in 0..3 {
            let arguments = [5_i64, 2].map(Tensor::scalar);
            let outputs = host.run(&Op::new("MappedRange"), &arguments)?;
            let values = outputs.iter().map(|it| it.as_slice::<i64>().to_vec());
            let values: Vec<_> = values.collect();
            println!("mapped {values:?} {:?}", blocks(&outputs[0])?);
        }
        let empty = [0_i64, 0].map(Tensor::scalar);
        let outputs = host.run(&Op::new("MappedRange"), &empty)?;
        drop(outputs);
        println!("mapped after {:?}", blocks(&Tensor::from([1], &[0_i64]))?.0);
        Ok(())
    };
    if let Err(error) = run() {
        println!("mapped {error}");
    }
}

fn print_shapes(host: &Host) {
    let print = |case: &str, op: &Op, inputs: &[Option<&[i64]>]| {
        println!("{case}: {}", infer(host, op, inputs));
    };
    let fused = Op::new("FusedBiasRelu");
    print("equal", &fused, &[Some(&[-1, 3]), Some(&[3])]);
    print("merged", &fused, &[Some(&[2, -1]), Some(&[3])]);
    print("unknown", &fused, &[ANY, ANY]);
    print("different", &fused, &[Some(&[2, 4]), Some(&[3])]);
    print("scalar", &fused, &[Some(&[]), ANY]);
    let types = |from: sp_host::DType, to: sp_host::DType| {
        Op::new("TutorialBitcast").attr("T", from).attr("type", to)
    };
    let float = sp_host::DType::FLOAT;
    let byte = sp_host::DType::UINT8;
    let long = sp_host::DType::INT64;
    print("smaller", &types(float, byte), &[Some(&[-1])]);
    print("larger", &types(float, long), &[Some(&[5, 2])]);
    print("no multiple", &types(float, long), &[Some(&[5, 3])]);
    print("unknown larger", &types(float, long), &[ANY]);
    print(
        "list",
        &Op::new("OffsetAll"),
        &[Some(&[]), Some(&[2]), Some(&[-1, 3])],
    );
    print(
        "kinds",
        &Op::new("ShapeKinds"),
        &[Some(&[2, 3]), Some(&[-1])],
    );
    print("kinds of unknown", &Op::new("ShapeKinds"), &[ANY, ANY]);
    print("panic", &Op::new("PanicsInShapes"), &[Some(&[2])]);
}

fn run(release: &str) -> [String; 2] {
    let variables = [("CUSTOM_OPS_RELEASE", release), ("SP_LOG", "debug")];
    sp_tests::run_test("print_results", &variables)
}

/// Returns the line of a case.
fn line<'a>(printed: &'a str, case: &str) -> &'a str {
    let mut lines = printed.lines();
    let found = lines.find_map(|line| line.strip_prefix(case));
    found.unwrap_or_else(|| panic!("{case}: {printed}"))
}

#[test]
fn shapes_are_inferred_from_all_inputs_since_2_10() {
    for minor in sp_tests::minors(10) {
        let [printed, _] = run(&format!("2.{minor}"));
        for (case, expected) in [
            (
                "ops ",
                "FusedBiasRelu MappedBlocks MappedRange OffsetAll PanicsInShapes ShapeKinds SpElementwise SpElementwiseResults SpRandomBinomial SpReserveNumbers SumOfBoth TutorialBitcast",
            ),
            ("equal: ", "[-1, 3]"),
            ("merged: ", "[2, 3]"),
            ("unknown: ", "?"),
            ("smaller: ", "[-1, 4]"),
            ("larger: ", "[5]"),
            ("unknown larger: ", "?"),
            ("list: ", "[2] [-1, 3] []"),
            ("kinds: ", "[6] [-1, -1] [7, -1, 2] ? [-1]"),
            ("kinds of unknown: ", "[-1] [-1, -1] [7, -1, -1] ? ?"),
        ] {
            assert_eq!(line(&printed, case), expected, "2.{minor}: {case}");
        }
        for (case, expected) in [
            ("different: ", "dimensions must be equal, but are 4 and 3"),
            ("scalar: ", "shape [] has rank 0, expected at least 1"),
            ("no multiple: ", "the dimension must be 2, but is 3"),
            ("panic: ", "panic in a shape function"),
        ] {
            let found = line(&printed, case);
            assert!(found.contains(expected), "2.{minor}: {case}{found}");
        }
    }
}

#[test]
fn shapes_are_those_of_the_first_input_and_output_before_2_10() {
    for minor in 6..=9 {
        let [printed, _] = run(&format!("2.{minor}"));
        for (case, expected) in [
            ("equal: ", "[-1, 3]"),
            ("merged: ", "[2, -1]"),
            ("different: ", "[2, 4]"),
            ("larger: ", "[5]"),
            ("list: ", "? ? ?"),
            ("kinds: ", "[6] ? ? ? ?"),
        ] {
            assert_eq!(line(&printed, case), expected, "2.{minor}: {case}");
        }
        let found = line(&printed, "scalar: ");
        assert!(found.contains("has rank 0"), "2.{minor}: {found}");
    }
}

#[test]
fn kernels_of_custom_ops_run_in_all_releases_that_have_the_functions() {
    for minor in sp_tests::minors(6) {
        let [printed, _] = run(&format!("2.{minor}"));
        let runs = printed.lines().filter(|it| it.starts_with("run ["));
        let runs: Vec<&str> = runs.collect();
        let expected = ["run [2.0, 1.0, 4.0, -0.0]", "run [2.0, 1.0, 4.0, -1.0]"];
        assert_eq!(runs, expected, "2.{minor}: {printed}");
        assert_eq!(line(&printed, "kernels "), "2", "2.{minor}");
    }
}

#[test]
fn memory_of_the_plugin_is_freed_once_after_the_last_use() {
    for minor in sp_tests::minors(6) {
        let [printed, _] = run(&format!("2.{minor}"));
        let found: Vec<_> = printed
            .lines()
            .filter(|it| it.starts_with("mapped "))
            .collect();
        // The outputs of a run are copied out of it, so that both blocks of each run are freed.
        let values = "mapped [[0, 1, 2, 3, 4], [2, 3, 4]]";
        let expected: Vec<String> = (1..=3)
            .map(|it| format!("{values} ([0, {}], 1)", 2 * it))
            .chain(["mapped after [0, 8]".to_owned()])
            .collect();
        assert_eq!(found, expected, "2.{minor}: {printed}");
    }
}

#[test]
fn neither_ops_nor_their_kernels_are_registered_in_2_5() {
    let [printed, stderr] = run("2.5");
    assert_eq!(
        (line(&printed, "ops"), line(&printed, "kernels ")),
        (" ", "0")
    );
    let expected = "FusedBiasRelu, MappedBlocks, MappedRange, OffsetAll, PanicsInShapes, ShapeKinds, SumOfBoth, TutorialBitcast: not defined, since ops of plugins need TensorFlow 2.6";
    assert_eq!(stderr.matches(expected).count(), 2, "{stderr}");
}

/// Loads a copy of the library, whose ops are registered already, in a process of its own.
#[test]
fn load_copy() {
    let Ok(copy) = std::env::var("CUSTOM_OPS_COPY") else {
        return;
    };
    let apis = sp_tests::snapshots("2.21");
    let first = Host::open(&apis, &library()).unwrap();
    let second = Host::open(&apis, copy.as_ref()).unwrap();
    let kernels = |host: &Host| host.kernels().filter(|it| it.op == "FusedBiasRelu").count();
    assert_eq!((kernels(&first), kernels(&second)), (2, 0));
    assert!(second.kernels().any(|it| it.op == "Relu"));
}

#[test]
fn op_of_another_plugin_is_reported_and_its_kernels_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("libcopy.so");
    std::fs::copy(library(), &copy).unwrap();
    let variables = [("CUSTOM_OPS_COPY", copy.to_str().unwrap())];
    let [_, stderr] = sp_tests::run_test("load_copy", &variables);
    let expected = "FusedBiasRelu: TensorFlow or another plugin has an op of this name; neither the op nor its kernels are registered";
    assert_eq!(stderr.matches(expected).count(), 1, "{stderr}");
}
