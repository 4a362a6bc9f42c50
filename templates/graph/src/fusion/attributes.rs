//! The attributes of fused nodes. They are all set, since passes after this one may not know the defaults.

use super::NodeAttributes;
use crate::{Attribute, Node};

/// Returns the attributes of `_FusedMatMul` for `MatMul`, `BiasAdd` and an activation.
pub fn product(chain: &[&Node]) -> Option<NodeAttributes> {
    let [product, bias, ..] = chain else {
        return None;
    };
    let mut attributes = copies(product, &["T", "transpose_a", "transpose_b"]);
    attributes.extend(epilogue(chain));
    (layout(bias) == "NHWC").then_some(attributes)
}

/// Returns the attributes of `_FusedMatMul` for `MatMul` and a sum of two tensors.
pub fn product_and_sum(chain: &[&Node]) -> Option<NodeAttributes> {
    let [product, sum] = chain else {
        return None;
    };
    let operands = sum.inputs().filter(|it| it.output.is_some()).count();
    let mut attributes = copies(product, &["T", "transpose_a", "transpose_b"]);
    attributes.extend(fused_ops(&["Add"], None));
    (operands == 2).then_some(attributes)
}

/// Returns the attributes of `_FusedConv2D` for `Conv2D`, `BiasAdd` and an activation, as 2.11 and later have them.
pub fn convolution(chain: &[&Node]) -> Option<NodeAttributes> {
    let [convolution, bias, ..] = chain else {
        return None;
    };
    let names = [
        "T",
        "strides",
        "padding",
        "explicit_paddings",
        "data_format",
        "dilations",
        "use_cudnn_on_gpu",
    ];
    let mut attributes = copies(convolution, &names);
    let dtype = convolution.attribute("T")?.as_type()?;
    attributes.extend([
        ("TArgs".into(), Attribute::from(&[dtype][..])),
        ("num_host_args".into(), Attribute::from(0)),
    ]);
    attributes.extend(epilogue(chain));
    (layout(bias) == layout(convolution)).then_some(attributes)
}

/// Returns the attributes of `_FusedBatchNormEx` for `FusedBatchNormV3` of images and an activation.
pub fn normalization(chain: &[&Node]) -> Option<NodeAttributes> {
    let [normalization, .., activation] = chain else {
        return None;
    };
    let names = [
        "T",
        "U",
        "epsilon",
        "exponential_avg_factor",
        "data_format",
        "is_training",
    ];
    let mut attributes = copies(normalization, &names);
    attributes.extend([
        ("num_side_inputs".into(), Attribute::from(0)),
        ("activation_mode".into(), Attribute::from(&*activation.op)),
    ]);
    ["NHWC", "NCHW"]
        .contains(&layout(normalization))
        .then_some(attributes)
}

/// Returns the attributes that name the nodes after the first one of a chain, the first of which has one further input.
fn epilogue(chain: &[&Node]) -> [(String, Attribute); 4] {
    let ops: Vec<&str> = chain[1..].iter().map(|it| it.op.as_str()).collect();
    let slope = chain.iter().find(|it| it.op == "LeakyRelu");
    let slope = slope.and_then(|it| it.attribute("alpha")?.as_float());
    fused_ops(&ops, slope)
}

/// Returns the attributes that name the ops after the first one, and the slope of a LeakyRelu among them.
fn fused_ops(ops: &[&str], slope: Option<f32>) -> [(String, Attribute); 4] {
    [
        ("num_args".into(), Attribute::from(1)),
        ("fused_ops".into(), Attribute::from(ops)),
        ("epsilon".into(), Attribute::from(0.0)),
        // The default of LeakyRelu.
        (
            "leakyrelu_alpha".into(),
            Attribute::from(slope.unwrap_or(0.2)),
        ),
    ]
}

/// Returns the attributes of these names that the node has.
fn copies(node: &Node, names: &[&str]) -> NodeAttributes {
    let named = node.attributes.iter();
    let named = named.filter(|(name, _)| names.contains(&name.as_str()));
    named.cloned().collect()
}

/// Returns the layout of a node's tensors.
fn layout<'a>(node: &&'a Node) -> &'a str {
    let node: &'a Node = node;
    let format = node.attribute("data_format");
    format.and_then(Attribute::as_str).unwrap_or("NHWC")
}
