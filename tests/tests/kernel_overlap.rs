//! `Entry::overlaps` of sp-plugin on the pairs of `kernel_overlap.txt`, which sp-host's rule is tested against too.

use std::ffi::CStr;

use sp_cpu::CpuDevice;
use sp_plugin::Result;
use sp_plugin::kernel::{Entry, Kernel, OnDevice};

struct NoOutput;

impl Kernel<CpuDevice> for NoOutput {
    type Attributes = ();

    fn compute(_: &OnDevice<'_, CpuDevice>, (): &()) -> Result<()> {
        Ok(())
    }
}

/// Returns the names of the table as C strings.
fn c_name(name: &str) -> &'static CStr {
    match name {
        "Relu" => c"Relu",
        "Neg" => c"Neg",
        "Sum" => c"Sum",
        "Cast" => c"Cast",
        "T" => c"T",
        "Tidx" => c"Tidx",
        "SrcT" => c"SrcT",
        "DstT" => c"DstT",
        _ => panic!("{name} is a new name in the table: add it here"),
    }
}

/// Parses `Sum T=FLOAT Tidx=INT32`.
fn parse_kernel(text: &str) -> Entry<CpuDevice> {
    let mut words = text.split_whitespace();
    let op = c_name(words.next().expect("a kernel has an op"));
    words.fold(Entry::new::<NoOutput>(op), |entry, constraint| {
        let (name, dtype) = constraint.split_once('=').expect("NAME=TYPE");
        match dtype {
            "FLOAT" => entry.constrain::<f32>(c_name(name)),
            "DOUBLE" => entry.constrain::<f64>(c_name(name)),
            "INT32" => entry.constrain::<i32>(c_name(name)),
            "INT64" => entry.constrain::<i64>(c_name(name)),
            _ => panic!("{dtype} is a new type in the table: add it here"),
        }
    })
}

#[test]
fn overlap_is_that_of_the_table_in_both_orders() {
    let table = include_str!("../kernel_overlap.txt");
    let rows = table.lines().filter(|line| !line.starts_with('#'));
    for row in rows.clone() {
        let [first, second, result] = row.split(" | ").collect::<Vec<_>>()[..] else {
            panic!("{row}");
        };
        let (first, second) = (parse_kernel(first), parse_kernel(second));
        let expected = result == "overlap";
        assert_eq!(first.overlaps(&second), expected, "{row}");
        assert_eq!(second.overlaps(&first), expected, "{row}");
    }
    assert!(rows.count() > 10);
}
