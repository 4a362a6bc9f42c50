//! Which kernels run behind their calls.

use std::collections::BTreeSet;

use sp_cpu::kernels::known_shapes::OPS;
use sp_plugin::kernel::Kernel;

fn has_known_shapes(table: &[&'static Kernel], label: &str) -> bool {
    let kernel = table.iter().find(|it| it.label() == label);
    let kernel = kernel.unwrap_or_else(|| panic!("{label} has no kernel"));
    kernel.has_known_shapes()
}

#[test]
fn every_listed_op_has_a_kernel() {
    let table = sp_cpu::kernels::table();
    let ops: BTreeSet<_> = table.iter().map(|it| it.op().to_string_lossy()).collect();
    let without: Vec<_> = OPS.iter().filter(|op| !ops.contains(**op)).collect();
    assert!(without.is_empty(), "{without:?}");
    assert!(OPS.is_sorted());
}

#[test]
fn kernels_with_errors_for_values_wait() {
    let table = sp_cpu::kernels::table();
    for label in ["Conv2D T=TF_FLOAT", "FloorDiv T=TF_FLOAT", "Mul T=TF_INT64"] {
        assert!(has_known_shapes(&table, label), "{label}");
    }
    for label in [
        "FloorDiv T=TF_INT64",
        "Pow T=TF_INT8",
        "SparseSoftmaxCrossEntropyWithLogits T=TF_FLOAT Tlabels=TF_INT32",
    ] {
        assert!(!has_known_shapes(&table, label), "{label}");
    }
}
