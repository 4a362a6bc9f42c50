//! An elementwise op that a plugin adds by one row is computed in every type, fused with its neighbors, and compared:
//! `examples/elementwise_row.rs`.

use sp_host::{Attr, DType, Host, Op, Tensor};
use sp_plugin::graph::{Attribute, Graph, Node, TypeNumber};
use sp_plugin::kernel::DataType;

fn run(host: &Host, op: &Op, input: &Tensor) -> Tensor {
    let mut outputs = host.run(op, std::slice::from_ref(input)).unwrap();
    outputs.remove(0)
}

/// Returns what the op computes in a type, of floats and as floats.
fn softcap(host: &Host, dtype: DType, values: &[f32]) -> Vec<f32> {
    let cast = |to: DType| Op::new("Cast").attr("DstT", to);
    let x = Tensor::from([values.len() as i64], values);
    let y = run(host, &Op::new("Softcap"), &run(host, &cast(dtype), &x));
    assert_eq!(y.dtype(), dtype);
    run(host, &cast(DType::FLOAT), &y).as_slice().to_vec()
}

fn check_types(host: &Host) {
    let values = [-100.0, -7.0, 0.0, 3.0, 100.0];
    let expected = values.map(|x| 30.0 * (x / 30.0_f32).tanh());
    for (dtype, error) in [
        (DType::FLOAT, 1e-6),
        (DType::HALF, 1e-3),
        (DType::BFLOAT16, 1e-2),
        (DType::COMPLEX64, 1e-6),
    ] {
        let found = softcap(host, dtype, &values);
        let is_near = |(x, y): (&f32, &f32)| (x - y).abs() <= error * y.abs();
        assert!(
            found.iter().zip(&expected).all(is_near),
            "{dtype}: {found:?}, {expected:?}"
        );
    }
    for dtype in [DType::INT8, DType::INT64] {
        assert_eq!(softcap(host, dtype, &values), [-30.0, -7.0, 0.0, 3.0, 30.0]);
    }
}

/// Returns a node on the device.
fn node(name: &str, op: &str, inputs: &[&str]) -> Node {
    let mut node = Node::new(name, op);
    node.device = "/job:localhost/replica:0/task:0/device:ELEMENTWISE_ROW:0".into();
    node.inputs = inputs.iter().map(|it| (*it).to_owned()).collect();
    let dtype = Attribute::from(TypeNumber(DataType::TF_FLOAT.0));
    node.attributes.push(("T".into(), dtype));
    node
}

fn check_fused(host: &Host) {
    let mut graph = Graph::default();
    graph.nodes.extend([
        Node::new("x", "Placeholder"),
        node("square", "Square", &["x"]),
        node("capped", "Softcap", &["square"]),
        node("y", "Sub", &["capped", "x"]),
    ]);
    let optimized = host.optimize(&graph.to_bytes(), &["y"]).unwrap();
    let optimized = Graph::parse(&optimized).unwrap();
    let tree = optimized.node("y").unwrap();
    assert_eq!((&*tree.op, &*tree.inputs.concat()), ("SpElementwise", "x"));
    let steps = tree.attribute("steps").unwrap().as_texts().unwrap();
    assert_eq!(steps, ["Square 0", "Softcap 1", "Sub 2 0"]);
    let fused = Op::new("SpElementwise").attr("N", 1_i64);
    let fused = fused.attr("steps", Attr::from(steps));
    let x: Vec<f32> = (0..3000).map(|i| i as f32 / 100.0 - 15.0).collect();
    let x = Tensor::from([3000], &x);
    let found = run(host, &fused, &x);
    let capped = run(
        host,
        &Op::new("Softcap"),
        &run(host, &Op::new("Square"), &x),
    );
    let expected = host.run(&Op::new("Sub"), &[capped, x]).unwrap();
    assert_eq!(found.bytes(), expected[0].bytes());
}

/// The kernel of the device is wrong for the second number only.
fn check_compared(host: &Host) {
    let op = Op::new("Softcap");
    assert!(host.run(&op, &[Tensor::from([1], &[0_f64])]).is_ok());
    let error = host.run(&op, &[Tensor::from([2], &[0_f64, 100.0])]);
    let expected =
        "output 0, `y`, TF_DOUBLE [2]: 1 of 2 elements differ from the reference kernel's";
    sp_tests::assert_contains(&error.unwrap_err().to_string(), expected);
}

#[test]
fn row_is_computed_in_every_type_fused_and_compared() {
    let name = "row_is_computed_in_every_type_fused_and_compared";
    if std::env::var_os("SP_COMPARE").is_none() {
        sp_tests::run_test(name, &[("SP_COMPARE", "1")]);
        return;
    }
    let plugin = sp_tests::example("elementwise_row");
    let host = Host::open(&sp_tests::snapshots("2.21"), &plugin).unwrap();
    check_types(&host);
    check_fused(&host);
    check_compared(&host);
    let tally = host.close().unwrap();
    assert!(tally.is_clean(), "{tally}");
}
