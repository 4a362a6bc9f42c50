//! `Kernel::overlaps` of sp-plugin on the pairs of `kernel_overlap.txt`, which sp-host's rule is tested against too.

use std::ffi::CStr;

use sp_abi::tf_datatype::TF_DataType;
use sp_plugin::__private::{
    Call, Constraint, Construction, KernelTable, OpSpec, Options, Releases, State,
};
use sp_plugin::Result;
use sp_plugin::kernel::Kernel;

struct Empty;

impl KernelTable for Empty {
    fn kernels() -> &'static [Kernel] {
        &KERNELS
    }
}

fn prepare(_: &Construction<'_>) -> Result<State> {
    Ok(Box::new(()))
}

fn compute(_: &Call<'_>) -> Result<()> {
    Ok(())
}

static RELU: OpSpec = OpSpec {
    name: c"Relu",
    releases: &[Releases::ALL],
    attributes: &[],
    definition: None,
};

// SAFETY: the op has one input and one output, of which `Empty` uses none.
static KERNELS: [Kernel; 1] = unsafe {
    [Kernel::new::<Empty, 0>(
        &RELU,
        &[],
        [&[], &[]],
        &OPTIONS,
        (prepare, compute),
    )]
};

static OPTIONS: Options = Options::new("sp_tests");

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
fn parse_kernel(text: &str) -> Kernel {
    let mut words = text.split_whitespace();
    let name = c_name(words.next().expect("a kernel has an op"));
    let op = OpSpec {
        name,
        releases: &[Releases::ALL],
        attributes: &[],
        definition: None,
    };
    let constraints: Vec<Constraint> = words.map(parse_constraint).collect();
    let op = Box::leak(Box::new(op));
    // SAFETY: the kernel is never registered, and `Empty` reads no argument.
    unsafe {
        Kernel::new::<Empty, 0>(
            op,
            constraints.leak(),
            [&[], &[]],
            &OPTIONS,
            (prepare, compute),
        )
    }
}

fn parse_constraint(text: &str) -> Constraint {
    let (name, dtype) = text.split_once('=').expect("NAME=TYPE");
    let dtype = match dtype {
        "FLOAT" => TF_DataType::TF_FLOAT,
        "DOUBLE" => TF_DataType::TF_DOUBLE,
        "INT32" => TF_DataType::TF_INT32,
        "INT64" => TF_DataType::TF_INT64,
        _ => panic!("{dtype} is a new type in the table: add it here"),
    };
    Constraint {
        attribute: c_name(name),
        dtype,
        attribute_releases: &[Releases::ALL],
        type_releases: &[Releases::ALL],
    }
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
