//! The rules of findings, for `sp-gen explain`.

/// A registration that was not read.
pub const NOT_READ: &str = "registration_not_read";

/// A kernel's registration that has no skeleton.
pub const KERNEL_OMITTED: &str = "kernel_without_skeleton";

/// An op that has no skeleton.
pub const OP_OMITTED: &str = "op_without_skeleton";

/// The rules: the id, and a text whose first sentence is the summary.
pub const RULES: [(&str, &str); 3] = [
    (
        NOT_READ,
        "A registration, or a part of a source, was not read. No compiler reads the sources: a type or a constant that \
         another file defines, a template's parameter and a macro of another file are not known. Name the headers \
         that define macros as further operands, or write the registration's skeleton by the example of another one.",
    ),
    (
        KERNEL_OMITTED,
        "A kernel's registration has no skeleton. If the sources register an op for several types of devices, the skeleton \
         is that of an accelerator, and `--device-type CPU` selects the other one. An op that neither TensorFlow nor the \
         sources define has no signature: name the source with its REGISTER_OP as a further operand. Types that the op \
         does not allow in any release, and float8 and four-bit types, cannot be registered by a plugin.",
    ),
    (
        OP_OMITTED,
        "An op that the sources define has no skeleton. TensorFlow ends the process if an op is defined twice, so an op that \
         TensorFlow has is not defined again. The name of a plugin's op is in CamelCase, without underscores or other \
         characters.",
    ),
];
