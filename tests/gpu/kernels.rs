//! Every kernel of the OpenCL table beside the reference kernel, on the device that OpenCL lists first: `kernels kernel:`.
//! `kernels failure:` has failures of the device.
//!
//! `tests/gpu/pack` builds it as a test of a scaffold over OpenCL, and `tests/gpu/run` sets the variables. With `SP_COMPARE=1` the
//! plugin compares each call with its reference kernel, and a difference is an error of the call. The reference kernels do not change
//! variables, so the tests of updates have the expected values.

#[allow(dead_code, reason = "each program uses a part of it")]
mod inputs;

use std::process::ExitCode;

use inputs::Random;
use sp_host::{Host, Op, Suite, Tensor};

/// More elements than a kernel has work items.
const LARGE: [i64; 2] = [257, 1031];

fn main() -> ExitCode {
    let apis = inputs::apis();
    let plugin = sp_host::plugin_beside_exe(env!("CARGO_PKG_NAME")).expect("the plugin is built");
    let mut suite = Suite::new(&apis, plugin);
    for (name, test) in tests() {
        suite = suite.test(&name, test);
    }
    suite.run()
}

type Test = Box<dyn Fn(&Host)>;

fn tests() -> Vec<(String, Test)> {
    let kernels = [
        unary_tests(),
        binary_tests(),
        reduction_tests(),
        product_tests(),
        row_tests(),
        image_tests(),
        update_tests(),
    ];
    let named = |kind: &'static str| move |(name, test)| (format!("{kind}:{name}"), test);
    let kernels = kernels.into_iter().flatten().map(named("kernel"));
    kernels
        .chain(failure_tests().into_iter().map(named("failure")))
        .collect()
}

/// Returns the test that runs an op on each list of inputs.
fn test_calls(name: &str, calls: Vec<(Op, Vec<Tensor>)>) -> (String, Test) {
    let test = move |host: &Host| {
        for (op, inputs) in &calls {
            host.run(op, inputs).unwrap_or_else(|error| {
                let dims: Vec<_> = inputs.iter().map(Tensor::dims).collect();
                panic!("{op:?} of {dims:?}: {error}")
            });
        }
    };
    (name.to_owned(), Box::new(test))
}

fn unary_tests() -> Vec<(String, Test)> {
    const ANY: [&str; 14] = [
        "Abs", "Cos", "Elu", "Erf", "Exp", "Floor", "Neg", "Relu", "Relu6", "Sigmoid", "Sin",
        "Softplus", "Square", "Tanh",
    ];
    const POSITIVE: [&str; 5] = ["Log", "Log1p", "Reciprocal", "Rsqrt", "Sqrt"];
    let mut random = Random::new();
    let (x, positive) = (random.floats(&LARGE), random.positive(&LARGE));
    let special = [f32::NAN, f32::INFINITY, -0.0, 100.0].map(|it| Tensor::from([1], &[it]));
    let none = Tensor::from::<f32>([0, 3], &[]);
    let test = |name: &&str, x: &Tensor| {
        let inputs = [x, &none].into_iter().chain(&special);
        test_calls(
            name,
            inputs.map(|it| (Op::new(name), vec![it.clone()])).collect(),
        )
    };
    let floats = ANY.iter().map(|name| test(name, &x));
    let floats = floats.chain(POSITIVE.iter().map(|name| test(name, &positive)));
    let integers = random.integers(&LARGE);
    let integers = ["Neg", "Square"].map(|name| {
        let call = (Op::new(name), vec![integers.clone()]);
        test_calls(&format!("{name}_int64"), vec![call])
    });
    floats.chain(integers).collect()
}

fn binary_tests() -> Vec<(String, Test)> {
    const BROADCAST: [&str; 9] = [
        "Add",
        "AddV2",
        "DivNoNan",
        "Maximum",
        "Minimum",
        "Mul",
        "RealDiv",
        "SquaredDifference",
        "Sub",
    ];
    const INTEGERS: [&str; 7] = [
        "Add",
        "AddV2",
        "Maximum",
        "Minimum",
        "Mul",
        "SquaredDifference",
        "Sub",
    ];
    const GRADIENTS: [&str; 7] = [
        "EluGrad",
        "Relu6Grad",
        "ReluGrad",
        "RsqrtGrad",
        "SigmoidGrad",
        "SqrtGrad",
        "TanhGrad",
    ];
    const BROADCAST_DIMS: [(&[i64], &[i64]); 5] = [
        (&LARGE, &LARGE),
        (&[3, 1, 5, 1], &[4, 1, 6]),
        (&[300, 1], &[1, 700]),
        (&[], &[7]),
        (&[0, 3], &[3]),
    ];
    let mut random = Random::new();
    let mut pairs = |new: fn(&mut Random, &[i64]) -> Tensor| {
        BROADCAST_DIMS.map(|(x, y)| vec![new(&mut random, x), new(&mut random, y)])
    };
    let (floats, positive, integers) = (
        pairs(Random::floats),
        pairs(Random::positive),
        pairs(Random::integers),
    );
    let test = |op: &str, name: &str, pairs: &[Vec<Tensor>]| {
        let pairs = pairs.iter().map(|inputs| (Op::new(op), inputs.clone()));
        test_calls(name, pairs.collect())
    };
    let mut tests: Vec<_> = BROADCAST.map(|op| test(op, op, &floats)).into();
    tests.push(test("Pow", "Pow", &positive));
    tests.extend(INTEGERS.map(|op| test(op, &format!("{op}_int64"), &integers)));
    tests.extend(GRADIENTS.map(|op| test(op, op, &positive[..1])));
    tests
}

fn reduction_tests() -> Vec<(String, Test)> {
    const AXES: [&[i32]; 7] = [&[], &[0], &[-1], &[0, 2], &[1, 3], &[2, 1], &[0, 1, 2, 3]];
    let mut random = Random::new();
    let x = random.floats(&[4, 5, 6, 7]);
    let large = random.map(&LARGE, |x| 1.0 + x / 1000.0);
    let none = Tensor::from::<f32>([0, 3], &[]);
    let axes = |axes: &[i32]| Tensor::from([axes.len() as i64], axes);
    let mut inputs: Vec<_> = AXES.iter().map(|it| vec![x.clone(), axes(it)]).collect();
    inputs.extend([[0], [1]].map(|it| vec![large.clone(), axes(&it)]));
    inputs.push(vec![none, axes(&[0])]);
    ["Max", "Mean", "Min", "Prod", "Sum"]
        .map(|name| {
            let both = inputs.iter().flat_map(|inputs| {
                [false, true].map(|keep| (Op::new(name).attr("keep_dims", keep), inputs.clone()))
            });
            test_calls(name, both.collect())
        })
        .into()
}

fn product_tests() -> Vec<(String, Test)> {
    let mut random = Random::new();
    let mut products = Vec::new();
    for [rows, inner, columns] in [[130, 70, 129], [1, 300, 1], [64, 64, 64], [2, 0, 3]] {
        for (transpose_a, transpose_b) in
            [(false, false), (true, false), (false, true), (true, true)]
        {
            let mut matrix = |dims: [i64; 2], is_transposed| match is_transposed {
                true => random.floats(&[dims[1], dims[0]]),
                false => random.floats(&dims),
            };
            let inputs = vec![
                matrix([rows, inner], transpose_a),
                matrix([inner, columns], transpose_b),
            ];
            let op = Op::new("MatMul").attr("transpose_a", transpose_a);
            products.push((op.attr("transpose_b", transpose_b), inputs));
        }
    }
    vec![test_calls("MatMul", products)]
}

fn row_tests() -> Vec<(String, Test)> {
    let mut random = Random::new();
    let mut tests = Vec::new();
    let logits = [random.floats(&[9, 70]), random.floats(&[300, 1000])];
    for name in ["Softmax", "LogSoftmax"] {
        let inputs = logits.iter().map(|x| (Op::new(name), vec![x.clone()]));
        tests.push(test_calls(name, inputs.collect()));
    }
    let labels: Vec<i64> = (0..9).map(|_| random.below(70) as i64).collect();
    let narrow: Vec<i32> = labels.iter().map(|it| *it as i32).collect();
    let sparse = "SparseSoftmaxCrossEntropyWithLogits";
    for (ty, labels) in [
        ("int32", Tensor::from([9], &narrow)),
        ("int64", Tensor::from([9], &labels)),
    ] {
        let call = (Op::new(sparse), vec![logits[0].clone(), labels]);
        tests.push(test_calls(&format!("{sparse}_{ty}"), vec![call]));
    }
    let dense = "SoftmaxCrossEntropyWithLogits";
    let probabilities = [[9, 70], [1, 70]].map(|dims| random.positive(&dims));
    let inputs = probabilities.map(|labels| (Op::new(dense), vec![logits[0].clone(), labels]));
    tests.push(test_calls(dense, inputs.into()));
    let mut images =
        |dims: [i64; 4], channels: i64| vec![random.floats(&dims), random.floats(&[channels])];
    let (last, first) = (images([4, 5, 6, 7], 7), images([4, 7, 5, 6], 7));
    let with_format = |name: &str, count: usize| {
        let formats = [("NHWC", &last), ("NCHW", &first)];
        let inputs = formats.map(|(format, inputs)| {
            let op = Op::new(name).attr("data_format", format);
            (op, inputs[..count].to_vec())
        });
        test_calls(name, inputs.into())
    };
    tests.extend([with_format("BiasAdd", 2), with_format("BiasAddGrad", 1)]);
    tests
}

/// The windows of a convolution or a pool.
#[derive(Clone, Copy)]
struct Windows {
    padding: &'static str,
    explicit: &'static [i64],
    stride: i64,
    dilation: i64,
    is_channels_first: bool,
}

const WINDOWS: Windows = Windows {
    padding: "SAME",
    explicit: &[],
    stride: 1,
    dilation: 1,
    is_channels_first: false,
};

/// `strides`, `ksize` and `dilations` have an entry for each dimension, of which the rows and columns are not 1.
fn spatial(windows: &Windows, size: i64) -> Vec<i64> {
    match windows.is_channels_first {
        true => vec![1, 1, size, size],
        false => vec![1, size, size, 1],
    }
}

impl Windows {
    fn op(&self, name: &str) -> Op {
        let format = if self.is_channels_first {
            "NCHW"
        } else {
            "NHWC"
        };
        let op = Op::new(name).attr("padding", self.padding);
        op.attr("strides", spatial(self, self.stride))
            .attr("data_format", format)
    }

    fn convolution(&self, name: &str) -> Op {
        self.op(name)
            .attr("explicit_paddings", self.explicit.to_vec())
            .attr("dilations", spatial(self, self.dilation))
    }

    fn pool(&self, name: &str) -> Op {
        self.op(name).attr("ksize", spatial(self, 2))
    }

    /// Returns the dims of a tensor in the order of its format.
    fn dims(&self, [images, rows, columns, channels]: [i64; 4]) -> [i64; 4] {
        match self.is_channels_first {
            true => [images, channels, rows, columns],
            false => [images, rows, columns, channels],
        }
    }
}

/// Returns a shape as a tensor.
fn shape_of(tensor: &Tensor) -> Tensor {
    let dims: Vec<i32> = tensor.dims().iter().map(|it| *it as i32).collect();
    Tensor::from([4], &dims)
}

fn image_tests() -> Vec<(String, Test)> {
    let convolutions = vec![
        WINDOWS,
        Windows {
            padding: "VALID",
            ..WINDOWS
        },
        Windows {
            stride: 2,
            ..WINDOWS
        },
        Windows {
            dilation: 2,
            ..WINDOWS
        },
        Windows {
            is_channels_first: true,
            ..WINDOWS
        },
        Windows {
            padding: "EXPLICIT",
            explicit: &[0, 0, 1, 2, 0, 1, 0, 0],
            ..WINDOWS
        },
    ];
    let pools = vec![
        WINDOWS,
        Windows {
            padding: "VALID",
            ..WINDOWS
        },
        Windows {
            stride: 2,
            ..WINDOWS
        },
        Windows {
            is_channels_first: true,
            ..WINDOWS
        },
    ];
    let mut tests: Vec<(String, Test)> = Vec::new();
    for name in ["Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter"] {
        let windows = convolutions.clone();
        let test = move |host: &Host| windows.iter().for_each(|it| convolve(host, it, name));
        tests.push((name.to_owned(), Box::new(test)));
    }
    for (name, gradient) in [("MaxPool", "MaxPoolGrad"), ("AvgPool", "AvgPoolGrad")] {
        for is_gradient in [false, true] {
            let windows = pools.clone();
            let test = move |host: &Host| {
                for it in &windows {
                    pool(host, it, name, is_gradient.then_some(gradient));
                }
            };
            let name = if is_gradient { gradient } else { name };
            tests.push((name.to_owned(), Box::new(test)));
        }
    }
    tests
}

/// Runs a convolution, with one group and with two, or its gradient.
fn convolve(host: &Host, windows: &Windows, name: &str) {
    let mut random = Random::new();
    let x = random.floats(&windows.dims([2, 9, 8, 6]));
    for depth in [6, 3] {
        let filter = random.floats(&[3, 2, depth, 4]);
        let inputs = [x.clone(), filter.clone()];
        let [y] = &host.run(&windows.convolution("Conv2D"), &inputs).unwrap()[..] else {
            panic!("Conv2D has one output")
        };
        let inputs = match name {
            "Conv2DBackpropInput" => vec![shape_of(&x), filter, y.clone()],
            "Conv2DBackpropFilter" => vec![x.clone(), shape_of(&filter), y.clone()],
            _ => continue,
        };
        host.run(&windows.convolution(name), &inputs).unwrap();
    }
}

fn pool(host: &Host, windows: &Windows, name: &str, gradient: Option<&str>) {
    let x = Random::new().floats(&windows.dims([2, 9, 8, 6]));
    let y = host
        .run(&windows.pool(name), std::slice::from_ref(&x))
        .unwrap();
    let dy = Random::new().floats(y[0].dims());
    match gradient {
        Some("MaxPoolGrad") => host.run(&windows.pool("MaxPoolGrad"), &[x, y[0].clone(), dy]),
        Some(name) => host.run(&windows.pool(name), &[shape_of(&x), dy]),
        None => Ok(y),
    }
    .unwrap();
}

/// An update of variables: the new values follow from the old ones, the settings and an element of the change.
type Update = fn(old: &[f64], settings: &[f64], change: f64) -> Vec<f64>;

fn update_tests() -> Vec<(String, Test)> {
    const CHANGES: [(&str, f64); 2] = [("AssignAddVariableOp", 1.0), ("AssignSubVariableOp", -1.0)];
    let integers = CHANGES.map(|(name, sign)| {
        let test = move |host: &Host| change_integers(host, name, sign as i64);
        (format!("{name}_int64"), Box::new(test) as Test)
    });
    let floats: Vec<(String, Test)> = vec![
        test_update("AssignAddVariableOp", 1, None, &[], |old, _, x| {
            vec![old[0] + x]
        }),
        test_update("AssignSubVariableOp", 1, None, &[], |old, _, x| {
            vec![old[0] - x]
        }),
        test_update(
            "ResourceApplyGradientDescent",
            1,
            None,
            &[0.25],
            |old, rate, x| vec![old[0] - rate[0] * x],
        ),
        test_update(
            "ResourceApplyMomentum",
            2,
            Some(false),
            &[0.25, 0.5],
            momentum::<false>,
        ),
        test_update(
            "ResourceApplyMomentum",
            2,
            Some(true),
            &[0.25, 0.5],
            momentum::<true>,
        ),
        test_update(
            "ResourceApplyKerasMomentum",
            2,
            Some(false),
            &[0.25, 0.5],
            keras_momentum::<false>,
        ),
        test_update(
            "ResourceApplyKerasMomentum",
            2,
            Some(true),
            &[0.25, 0.5],
            keras_momentum::<true>,
        ),
        test_update("ResourceApplyAdam", 3, Some(false), &ADAM, adam::<false>),
        test_update("ResourceApplyAdam", 3, Some(true), &ADAM, adam::<true>),
    ];
    integers.into_iter().chain(floats).collect()
}

/// The powers of the decays, the rate, the decays and the smallest divisor.
const ADAM: [f32; 6] = [0.5, 0.25, 0.125, 0.75, 0.875, 0.01];

fn momentum<const NESTEROV: bool>(old: &[f64], settings: &[f64], x: f64) -> Vec<f64> {
    let [rate, decay] = [settings[0], settings[1]];
    let accumulated = old[1] * decay + x;
    let step = if NESTEROV {
        x + accumulated * decay
    } else {
        accumulated
    };
    vec![old[0] - rate * step, accumulated]
}

fn keras_momentum<const NESTEROV: bool>(old: &[f64], settings: &[f64], x: f64) -> Vec<f64> {
    let [rate, decay] = [settings[0], settings[1]];
    let accumulated = old[1] * decay - rate * x;
    let step = if NESTEROV {
        accumulated * decay - rate * x
    } else {
        accumulated
    };
    vec![old[0] + step, accumulated]
}

fn adam<const NESTEROV: bool>(old: &[f64], settings: &[f64], x: f64) -> Vec<f64> {
    let &[power1, power2, rate, decay1, decay2, epsilon] = settings else {
        panic!("Adam has six settings")
    };
    let rate = rate * (1.0 - power2).sqrt() / (1.0 - power1);
    let m = old[1] + (x - old[1]) * (1.0 - decay1);
    let v = old[2] + (x * x - old[2]) * (1.0 - decay2);
    let step = if NESTEROV {
        decay1 * m + (1.0 - decay1) * x
    } else {
        m
    };
    vec![old[0] - rate * step / (v.sqrt() + epsilon), m, v]
}

/// Returns the test of an op that changes variables of floats, whose inputs are the handles, the settings and the change. An
/// optimizer's op has the change before the momentum.
fn test_update(
    name: &'static str,
    count: usize,
    nesterov: Option<bool>,
    settings: &[f32],
    expected: Update,
) -> (String, Test) {
    let settings = settings.to_vec();
    let test = move |host: &Host| {
        let mut random = Random::new();
        let old: Vec<_> = (0..count).map(|_| random.positive(&LARGE)).collect();
        let change = random.floats(&LARGE);
        let variables: Vec<_> = old.iter().map(|_| host.variable()).collect();
        for (variable, value) in variables.iter().zip(&old) {
            variable.assign(value).unwrap();
        }
        let mut inputs: Vec<_> = variables.iter().map(|it| it.handle()).collect();
        inputs.extend(settings.iter().map(|it| Tensor::scalar(*it)));
        let is_before_momentum = name.ends_with("Momentum");
        inputs.insert(
            inputs.len() - usize::from(is_before_momentum),
            change.clone(),
        );
        let op = Op::new(name);
        let op = match nesterov {
            Some(nesterov) => op.attr("use_nesterov", nesterov),
            None => op,
        };
        host.run(&op, &inputs).unwrap();
        let settings: Vec<f64> = settings.iter().map(|it| f64::from(*it)).collect();
        let new: Vec<_> = variables
            .iter()
            .map(|it| it.value().unwrap().unwrap())
            .collect();
        for (index, change) in change.as_slice::<f32>().iter().enumerate() {
            let old: Vec<_> = old
                .iter()
                .map(|it| it.as_slice::<f32>()[index].into())
                .collect();
            let expected = expected(&old, &settings, f64::from(*change));
            for (new, expected) in new.iter().zip(expected) {
                let found = f64::from(new.as_slice::<f32>()[index]);
                let is_close = (found - expected).abs() <= 1e-4 * expected.abs() + 1e-5;
                assert!(
                    is_close,
                    "element {index}: expected {expected}, got {found}"
                );
            }
        }
    };
    let suffix = if nesterov == Some(true) {
        "_nesterov"
    } else {
        ""
    };
    (format!("{name}{suffix}"), Box::new(test))
}

fn change_integers(host: &Host, name: &str, sign: i64) {
    let mut random = Random::new();
    let [old, change] = [0, 1].map(|_| random.integers(&LARGE));
    let variable = host.variable();
    variable.assign(&old).unwrap();
    host.run(&Op::new(name), &[variable.handle(), change.clone()])
        .unwrap();
    let pairs = old.as_slice::<i64>().iter().zip(change.as_slice::<i64>());
    let expected: Vec<_> = pairs.map(|(old, change)| old + sign * change).collect();
    assert_eq!(
        variable.value().unwrap().unwrap().as_slice::<i64>(),
        expected
    );
}

fn failure_tests() -> Vec<(String, Test)> {
    vec![
        ("output_larger_than_memory".to_owned(), Box::new(too_large)),
        ("incompatible_shapes".to_owned(), Box::new(wrong_shapes)),
    ]
}

/// Runs a product of 4 TiB, and then a small one.
fn too_large(host: &Host) {
    let mut random = Random::new();
    let [column, row] = [[1 << 20, 1], [1, 1 << 20]].map(|dims| random.floats(&dims));
    let error = host.run(&Op::new("Mul"), &[column, row]).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("allocate of 4398046511104 bytes"), "{text}");
    computes(host);
}

fn wrong_shapes(host: &Host) {
    let mut random = Random::new();
    let [a, b] = [[2, 3], [2, 3]].map(|dims| random.floats(&dims));
    let error = host.run(&Op::new("MatMul"), &[a, b]).unwrap_err();
    assert!(
        error.to_string().contains("Matrix size-incompatible"),
        "{error}"
    );
    computes(host);
}

/// Checks that the device computes after a failure.
fn computes(host: &Host) {
    let x = Tensor::from([3], &[-1_f32, 0.0, 2.5]);
    let found = host.run(&Op::new("Relu"), &[x]).unwrap();
    assert_eq!(found, [Tensor::from([3], &[0_f32, 0.0, 2.5])]);
}
