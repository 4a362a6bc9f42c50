//! A kernel's call makes no heap allocation of the plugin's: `examples/allocations.rs` counts them.

use std::ffi::CString;
use std::path::Path;

use sp_host::{Attr, DType, Host, Op, Tensor};
use sp_tests::{example, in_own_process, snapshots};

type Count = unsafe extern "C" fn() -> usize;

/// Returns the function that counts the plugin's allocations.
fn counter(plugin: &Path) -> Count {
    let path = CString::new(plugin.to_str().unwrap()).unwrap();
    // SAFETY: the plugin is loaded, stays loaded, and the function has this signature.
    unsafe {
        let library = libc::dlopen(path.as_ptr(), libc::RTLD_NOW);
        let symbol = libc::dlsym(library, c"sp_test_allocations".as_ptr());
        assert!(!symbol.is_null());
        std::mem::transmute::<*mut libc::c_void, Count>(symbol)
    }
}

/// The reference kernels that need no variable, with inputs for one call.
fn cases() -> Vec<(Op, Vec<Tensor>)> {
    let x = || Tensor::from([2, 2], &[1_f32, -2.0, 3.0, -4.0]);
    let cube = || Tensor::from([2, 2, 2], &[1_f32; 8]);
    let row = || Tensor::from([2], &[1_f32, 2.0]);
    let labels = Tensor::from([2], &[0_i32, 1]);
    let op = |name: &str, inputs: Vec<Tensor>| (Op::new(name), inputs);
    let unary = ["Relu", "Neg", "Square", "Sqrt"].map(|it| op(it, vec![x()]));
    let binary = ["AddV2", "Sub", "Mul", "RealDiv", "DivNoNan", "Pow"];
    let equal = binary.map(|it| op(it, vec![x(), x()]));
    let broadcast = binary.map(|it| op(it, vec![x(), row()]));
    let cast = Op::new("Cast").attr("DstT", Attr::Type(DType::INT32));
    let others = vec![
        op("ReluGrad", vec![x(), x()]),
        op("MatMul", vec![x(), x()]),
        op("BiasAdd", vec![x(), row()]),
        op("BiasAddGrad", vec![x()]),
        op("SparseSoftmaxCrossEntropyWithLogits", vec![x(), labels]),
        op("Sum", vec![x(), Tensor::from([1], &[1_i32])]),
        op("Sum", vec![x(), Tensor::from([1], &[-2_i64])]),
        op("Mean", vec![x(), Tensor::from([2], &[0_i32, 1])]),
        op("Sum", vec![cube(), Tensor::from([2], &[0_i32, 2])]),
        (cast, vec![x()]),
    ];
    let all = unary.into_iter().chain(equal).chain(broadcast);
    all.chain(others)
        .chain(cases_with_short_rows())
        .chain(cases_with_signature())
        .collect()
}

/// Kernels that copy repeated elements to a block.
fn cases_with_short_rows() -> Vec<(Op, Vec<Tensor>)> {
    let rows = || Tensor::from([40, 3], &[1_f32; 120]);
    let row = Tensor::from([3], &[1_f32; 3]);
    let column = Tensor::from([40, 1], &[1_f32; 40]);
    let condition = Tensor::from([40, 1], &[false; 40]);
    let select = Op::new("SelectV2").input_with_dtype("condition", DType::BOOL);
    let select = select.input("t", "T").input("e", "T");
    vec![
        (Op::new("Mul"), vec![rows(), row]),
        (Op::new("Mul"), vec![rows(), column]),
        (
            select.output("output", "T"),
            vec![condition, rows(), Tensor::scalar(1_f32)],
        ),
    ]
}

/// Returns an op with the arguments of a signature such as `x:T axis:Tidx -> y:T`. A type attribute of an output that no
/// input has is int32.
fn op(name: &str, signature: &str) -> Op {
    let (inputs, outputs) = signature.split_once(" -> ").unwrap();
    let op = inputs.split(' ').fold(Op::new(name), |op, argument| {
        let (name, attr) = argument.split_once(':').unwrap();
        op.input(name, attr)
    });
    outputs.split(' ').fold(op, |op, argument| {
        let (name, ty) = argument.split_once(':').unwrap();
        match ty {
            "bool" => op.output_with_dtype(name, DType::BOOL),
            "int64" => op.output_with_dtype(name, DType::INT64),
            attr if inputs.contains(attr) => op.output(name, attr),
            attr => op.output(name, attr).attr(attr, DType::INT32),
        }
    })
}

/// Returns an op whose first argument is a list of `len` tensors.
fn list_op(name: &str, len: usize, rest: &str) -> Op {
    let signature = ["values:T"].repeat(len).join(" ") + rest;
    op(name, &signature).attr("N", i64::try_from(len).unwrap())
}

/// Other reference kernels, whose ops sp-host does not know.
fn cases_with_signature() -> Vec<(Op, Vec<Tensor>)> {
    let x = || Tensor::from([2, 2], &[1_f32, -2.0, 3.0, -4.0]);
    let axis = || Tensor::scalar(0_i32);
    let pair = |value: i32| Tensor::from([2], &[value; 2]);
    let keys = || Tensor::from([4], &[3_i64, 1, 3, 2]);
    let mut cases = vec![
        (list_op("AddN", 3, " -> sum:T"), vec![x(); 3]),
        (
            list_op("ConcatV2", 2, " axis:Tidx -> output:T"),
            vec![x(), x(), axis()],
        ),
        (
            list_op("ConcatV2", 15, " axis:Tidx -> output:T"),
            [vec![x(); 15], vec![axis()]].concat(),
        ),
        (
            list_op("Pack", 3, " -> output:T").attr("axis", 0_i64),
            vec![x(); 3],
        ),
        (
            op("TopKV2", "input:T k:Tk -> values:T indices:index_type").attr("sorted", true),
            vec![x(), Tensor::scalar(1_i32)],
        ),
        (op("Unique", "x:T -> y:T idx:out_idx"), vec![keys()]),
        (
            op("UniqueWithCounts", "x:T -> y:T idx:out_idx count:out_idx"),
            vec![keys()],
        ),
    ];
    for equation in ["ij,jk->ik", "ij,kj->ki", "ij->ji", "bij,bjk->bik", "ii->i"] {
        let dims = match equation.starts_with('b') {
            true => vec![1, 2, 2],
            false => vec![2, 2],
        };
        let operand = Tensor::from(&dims[..], &[1_f32, 2.0, 3.0, 4.0]);
        let len = equation.split(',').count();
        let einsum = list_op("Einsum", len, " -> output:T").attr("equation", equation);
        cases.push((einsum, vec![operand; len]));
    }
    let index = Tensor::from([2], &[1_i32, 0]);
    cases.extend([
        (op("Transpose", "x:T perm:Tperm -> y:T"), vec![x(), index]),
        (
            op("Tile", "input:T multiples:Tmultiples -> output:T"),
            vec![x(), pair(2)],
        ),
        (
            op("Slice", "input:T begin:Index size:Index -> output:T"),
            vec![x(), pair(0), pair(1)],
        ),
        (
            op("ExpandDims", "input:T dim:Tdim -> output:T"),
            vec![x(), axis()],
        ),
        (
            op("Reshape", "tensor:T shape:Tshape -> output:T"),
            vec![x(), Tensor::from([1], &[4_i32])],
        ),
        (op("Shape", "input:T -> output:out_type"), vec![x()]),
        (
            op("Fill", "dims:index_type value:T -> output:T"),
            vec![pair(2), Tensor::scalar(1_f32)],
        ),
        (
            op("ArgMax", "input:T dimension:Tidx -> output:output_type"),
            vec![x(), axis()],
        ),
        (op("Where", "input:T -> index:int64"), vec![x()]),
        (
            op("Pad", "input:T paddings:Tpaddings -> output:T"),
            vec![x(), Tensor::from([2, 2], &[1_i32; 4])],
        ),
        (op("Softmax", "logits:T -> softmax:T"), vec![x()]),
        (op("Less", "x:T y:T -> z:bool"), vec![x(), x()]),
        (op("Exp", "x:T -> y:T"), vec![x()]),
    ]);
    cases
}

#[test]
fn call_allocates_nothing() {
    in_own_process("call_allocates_nothing", || {
        let plugin = example("allocations");
        let host = Host::open(&snapshots("2.21"), &plugin).unwrap();
        let count = counter(&plugin);
        let mut allocating = Vec::new();
        for (op, inputs) in cases() {
            let call = host.prepare(&op, &inputs).unwrap();
            // The first calls fill what the process or the thread keeps.
            (0..3).for_each(|_| call.compute().unwrap());
            // SAFETY: the function takes no arguments.
            let before = unsafe { count() };
            (0..10).for_each(|_| call.compute().unwrap());
            // SAFETY: as above.
            let allocations = unsafe { count() } - before;
            // The offsets of the products of a batch, or the copy of an operand.
            let allowed = if format!("{op:?}").contains("Einsum") {
                10
            } else {
                0
            };
            if allocations > allowed {
                allocating.push(format!("{op:?}: {allocations} allocations in 10 calls"));
            }
        }
        assert!(allocating.is_empty(), "{}", allocating.join("\n"));
    });
}

/// Kernels of variables. TensorFlow 2.18 exports the functions that they need, and 2.21 does not.
#[test]
fn update_of_variable_allocates_nothing() {
    in_own_process("update_of_variable_allocates_nothing", || {
        let plugin = example("allocations");
        let host = Host::open(&snapshots("2.18"), &plugin).unwrap();
        let count = counter(&plugin);
        let x = Tensor::from([2], &[1_f32, 2.0]);
        let variable = host.variable();
        let dtype = |op: &str| Op::new(op).attr("dtype", DType::FLOAT);
        variable.assign(&x).unwrap();
        for op in ["AssignAddVariableOp", "AssignSubVariableOp"] {
            let inputs = [variable.handle(), x.clone()];
            let call = host.prepare(&dtype(op), &inputs).unwrap();
            call.compute().unwrap();
            // SAFETY: the function takes no arguments.
            let before = unsafe { count() };
            (0..10).for_each(|_| call.compute().unwrap());
            // SAFETY: as above.
            assert_eq!(unsafe { count() } - before, 0, "{op}");
        }
    });
}
