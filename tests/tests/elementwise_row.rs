//! An elementwise op that a plugin adds by one row is computed in every type, fused with its neighbors, and compared:
//! `examples/elementwise_row.rs`.

use sp_host::{Attr, DType, Host, Op, Tensor};
use sp_plugin::graph::{Attribute, Graph, Node};
use sp_plugin::kernel::DataType;
use sp_plugin::{Bf16, F16};

const RELEASE: &str = "2.21";
const VALUES: [f32; 6] = [-100.0, -29.5, -0.25, 0.0, 3.0, 1e30];

fn open() -> Host {
    let apis = sp_tests::snapshots(RELEASE);
    Host::open(&apis, &sp_tests::example("elementwise_row")).unwrap()
}

fn close(host: Host) {
    let tally = host.close().unwrap();
    assert!(tally.is_clean(), "{tally}");
}

fn softcap(x: f64) -> f64 {
    30.0 * (x / 30.0).tanh()
}

fn run(host: &Host, op: &Op, input: &Tensor) -> Tensor {
    let mut outputs = host.run(op, std::slice::from_ref(input)).unwrap();
    outputs.remove(0)
}

/// Returns a tensor of two bytes for each value.
fn halves(dtype: DType, bits: impl Fn(f32) -> u16) -> Tensor {
    let bytes: Vec<u8> = VALUES
        .iter()
        .flat_map(|it| bits(*it).to_ne_bytes())
        .collect();
    Tensor::from_bytes(dtype, [6], &bytes)
}

/// Returns the numbers that the op computes in two bytes.
fn halves_of(host: &Host, dtype: DType, bits: fn(f32) -> u16, value: fn(u16) -> f32) -> Vec<f32> {
    let found = run(host, &Op::new("Softcap"), &halves(dtype, bits));
    let bits = found.bytes().chunks_exact(2);
    bits.map(|it| value(u16::from_ne_bytes([it[0], it[1]])))
        .collect()
}

#[track_caller]
fn assert_near(found: &[f32], units: f32) {
    for (found, x) in found.iter().zip(VALUES) {
        let expected = softcap(x.into()) as f32;
        let error = (found - expected).abs();
        assert!(error <= units * expected.abs(), "{x}: {found}, {expected}");
    }
}

#[test]
fn row_is_computed_in_every_type() {
    sp_tests::in_own_process("row_is_computed_in_every_type", || {
        let (host, op) = (open(), Op::new("Softcap"));
        let floats = run(&host, &op, &Tensor::from([6], &VALUES));
        assert_near(floats.as_slice(), 1e-6);
        let half = halves_of(
            &host,
            DType::HALF,
            |x| F16::from_f32(x.min(6e4)).0,
            |it| F16(it).to_f32(),
        );
        assert_near(&half, 1e-3);
        let bfloat = halves_of(
            &host,
            DType::BFLOAT16,
            |x| Bf16::from_f32(x).0,
            |it| Bf16(it).to_f32(),
        );
        assert_near(&bfloat, 1e-2);
        let integers = run(&host, &op, &Tensor::from([3], &[-31_i64, 7, 1 << 40]));
        assert_eq!(integers.as_slice::<i64>(), [-30, 7, 30]);
        let bytes = run(&host, &op, &Tensor::from([2], &[-128_i8, 5]));
        assert_eq!(bytes.as_slice::<i8>(), [-30, 5]);
        let number = [3_f32, 0.0].map(f32::to_ne_bytes).concat();
        let complex = run(
            &host,
            &op,
            &Tensor::from_bytes(DType::COMPLEX64, [1], &number),
        );
        let parts: Vec<f32> = complex
            .bytes()
            .chunks_exact(4)
            .map(|it| f32::from_ne_bytes(it.try_into().unwrap()))
            .collect();
        assert!(
            (parts[0] - softcap(3.0) as f32).abs() < 1e-6 && parts[1] == 0.0,
            "{parts:?}"
        );
        close(host);
    });
}

/// Returns a node on the device.
fn node(name: &str, op: &str, inputs: &[&str]) -> Node {
    let mut node = Node::new(name, op);
    node.device = "/job:localhost/replica:0/task:0/device:ELEMENTWISE_ROW:0".into();
    node.inputs = inputs.iter().map(|it| (*it).to_owned()).collect();
    node.attributes
        .push(("T".into(), DataType::TF_FLOAT.into()));
    node
}

#[test]
fn row_is_a_step_of_a_tree() {
    sp_tests::in_own_process("row_is_a_step_of_a_tree", || {
        let host = open();
        let mut graph = Graph::default();
        graph.nodes.extend([
            Node::new("x", "Placeholder"),
            node("square", "Square", &["x"]),
            node("capped", "Softcap", &["square"]),
            node("y", "Sub", &["capped", "x"]),
        ]);
        let bytes = host.optimize(&graph.to_bytes(), &["y"]).unwrap();
        let optimized = Graph::parse(&bytes).unwrap();
        let tree = optimized.node("y").unwrap();
        assert_eq!(
            (&*tree.op, &tree.inputs[..]),
            ("SpElementwise", &["x".to_owned()][..])
        );
        let steps = tree
            .attribute("steps")
            .and_then(Attribute::as_texts)
            .unwrap();
        assert_eq!(steps, ["Square 0", "Softcap 1", "Sub 2 0"]);
        let list = Attr::from(steps.clone());
        let fused = Op::new("SpElementwise")
            .attr("N", 1_i64)
            .attr("steps", list);
        let x: Vec<f32> = (0..3000).map(|i| i as f32 / 100.0 - 15.0).collect();
        let x = Tensor::from([3000], &x);
        let found = run(&host, &fused, &x);
        let capped = run(
            &host,
            &Op::new("Softcap"),
            &run(&host, &Op::new("Square"), &x),
        );
        let expected = host.run(&Op::new("Sub"), &[capped, x]).unwrap();
        assert_eq!(found.bytes(), expected[0].bytes());
        close(host);
    });
}

/// Runs the device's kernel for two inputs, of which it computes the second one wrong.
#[test]
fn run_compared() {
    if std::env::var_os("SP_COMPARE").is_none() {
        return;
    }
    let (host, op) = (open(), Op::new("Softcap"));
    assert!(host.run(&op, &[Tensor::from([1], &[0_f64])]).is_ok());
    let error = host.run(&op, &[Tensor::from([2], &[0_f64, 100.0])]);
    println!("{}", error.unwrap_err());
    close(host);
}

#[test]
fn row_is_compared_with_kernel_of_device() {
    let [stdout, _] = sp_tests::run_test("run_compared", &[("SP_COMPARE", "1")]);
    let expected = "Softcap T=TF_DOUBLE (node Softcap_under_test): output 0, `y`, TF_DOUBLE [2]: 1 of 2 elements differ";
    sp_tests::assert_contains(&stdout, expected);
}
