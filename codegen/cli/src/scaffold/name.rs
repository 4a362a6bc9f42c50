//! Checks the names of a plugin and its device before files are written. An error suggests a valid name.

use miette::Diagnostic;
use sp_host::CORE_PLATFORMS;
use thiserror::Error;

/// Names of Rust's standard crates, of cargo's folders, and of crates that a plugin depends on.
const RESERVED_CRATES: &str = "
    alloc build con core deps examples incremental libc proc_macro std test";

/// Python packages that users have installed: `pip install .` of a plugin with that name would replace them.
const PYTHON_PACKAGES: &str = "
    absl_py astunparse build cython flatbuffers gast google google_pasta grpcio h5py ipython jax
    jaxlib jupyter keras libclang matplotlib ml_dtypes mypy namex ninja numpy onnx opt_einsum
    optree packaging pandas pillow pip protobuf pybind11 pytest pyyaml requests scipy setuptools
    six tensorboard tensorflow tensorflow_cpu termcolor tests torch typing_extensions wheel
    wrapt";

/// Device types that TensorFlow's core registers itself.
pub const CORE_DEVICES: [&str; 2] = ["CPU", "DEFAULT"];

/// The words for digits in platform names, which have no digits.
const DIGITS: [&str; 10] = [
    "ZERO", "ONE", "TWO", "THREE", "FOUR", "FIVE", "SIX", "SEVEN", "EIGHT", "NINE",
];

/// Types that the scaffold's files use. A device of that name would shadow them.
const USED_TYPES: &str = "
    Access Box Context Copy CpuDevice Default Description Device DeviceFns Element Err
    HostAddressable InPlace MemoryAccess None Ok OnDevice Option Result Send Some Staged
    StreamExecutor String Sync TimerFns";

fn has_word(words: &str, word: &str) -> bool {
    words.split_whitespace().any(|it| it == word)
}

/// An invalid name.
#[derive(Debug, Error, Diagnostic, PartialEq, Eq)]
pub enum NameError {
    /// The name is not a valid crate name.
    #[error("invalid plugin name `{name}`: {reason}")]
    #[diagnostic(
        code(sp_gen::new::invalid_name),
        help(
            "a plugin's name is a crate's name: a lower-case letter, then lower-case letters, digits, - and _, and not a reserved word of Rust or cargo. Try `{suggestion}`"
        )
    )]
    Plugin {
        /// The requested name.
        name: String,
        /// The violated rule.
        reason: &'static str,
        /// A valid name.
        suggestion: String,
    },
    /// TensorFlow rejects the name or uses it itself.
    #[error("invalid {kind} `{name}`: {reason}")]
    #[diagnostic(
        code(sp_gen::new::invalid_device_name),
        help(
            "TensorFlow requires [A-Z][A-Z_]*: capital letters and _, beginning with a letter. Try `{option} {suggestion}`"
        )
    )]
    Device {
        /// `device type` or `platform name`.
        kind: &'static str,
        /// The requested name.
        name: String,
        /// The violated rule.
        reason: &'static str,
        /// The option that sets it.
        option: &'static str,
        /// A valid name.
        suggestion: String,
    },
}

/// Checks a plugin's name.
///
/// # Errors
/// Returns an error with a valid name if it is invalid.
pub fn check_plugin(name: &str) -> Result<(), NameError> {
    plugin_fault(name).map_or(Ok(()), |reason| {
        Err(NameError::Plugin {
            name: name.to_owned(),
            reason,
            suggestion: suggest_plugin(name),
        })
    })
}

/// Checks a device type.
///
/// # Errors
/// Returns an error with a valid name if it is invalid.
pub fn check_device_type(name: &str) -> Result<(), NameError> {
    check_fault("device type", "--device-type", name, device_fault(name))
}

/// Checks a platform name, which has the same rules and must not be that of a platform of TensorFlow.
///
/// # Errors
/// Returns an error with a valid name if it is invalid.
pub fn check_platform_name(name: &str) -> Result<(), NameError> {
    let is_core = CORE_PLATFORMS.contains(&name);
    let conflict = is_core.then_some("TensorFlow registers a platform of that name itself");
    check_fault(
        "platform name",
        "--platform-name",
        name,
        conflict.or(device_fault(name)),
    )
}

fn check_fault(
    kind: &'static str,
    option: &'static str,
    name: &str,
    fault: Option<&'static str>,
) -> Result<(), NameError> {
    fault.map_or(Ok(()), |reason| {
        Err(NameError::Device {
            kind,
            name: name.to_owned(),
            reason,
            option,
            suggestion: suggest_device(name),
        })
    })
}

/// Returns the default device type of a plugin: its name in capitals, without digits.
pub fn suggest_device(name: &str) -> String {
    let upper = name.to_ascii_uppercase().replace(['-', ' ', '.'], "_");
    let letters: String = upper
        .chars()
        .filter(|c| c.is_ascii_uppercase() || *c == '_')
        .collect();
    let trimmed = letters.trim_matches('_');
    match device_fault(trimmed) {
        None if !CORE_PLATFORMS.contains(&trimmed) => trimmed.to_owned(),
        Some(_) if trimmed.is_empty() => "MYACCEL".to_owned(),
        _ => format!("MY_{trimmed}"),
    }
}

/// Returns the default platform name of a plugin: its name in capitals, with digits as words, so that `npu2` and `npu3` have
/// different ones. TensorFlow ends a process that loads two plugins with the same platform name.
pub fn suggest_platform(name: &str) -> String {
    let mut spelled = String::new();
    for c in name.chars() {
        match c.to_digit(10) {
            Some(digit) => spelled.extend(["_", DIGITS[digit as usize], "_"]),
            None => spelled.push(c),
        }
    }
    let words = spelled.split(['-', '_']).filter(|word| !word.is_empty());
    let words: Vec<&str> = words.collect();
    suggest_device(&words.join("_"))
}

/// Returns the Rust type of the device: `MyAccel` for `my-accel`.
pub fn struct_name(name: &str) -> String {
    let camel: String = name.split(['-', '_']).map(capitalized).collect();
    match has_word(USED_TYPES, &camel) {
        true => format!("{camel}Accel"),
        false => camel,
    }
}

fn capitalized(word: &str) -> String {
    let mut chars = word.chars();
    let first = chars.next().map(|c| c.to_ascii_uppercase());
    first.into_iter().chain(chars).collect()
}

fn plugin_fault(name: &str) -> Option<&'static str> {
    let is_allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    let word = name.replace('-', "_");
    if name.is_empty() {
        Some("it is empty")
    } else if !name.starts_with(|c: char| c.is_ascii_lowercase()) {
        Some("it does not begin with a lower-case letter")
    } else if !name.chars().all(is_allowed) {
        Some("it has a character that is neither a lower-case letter, a digit, - nor _")
    } else if name.ends_with(['-', '_']) {
        Some("it ends with - or _, which is invalid for Python packages")
    } else if name.len() > 64 {
        Some("it is longer than 64 characters")
    } else if is_keyword(&word) {
        Some("it is a reserved word of Rust")
    } else if has_word(PYTHON_PACKAGES, &word) {
        Some("it is the name of a Python package that `pip install .` would replace")
    } else if has_word(RESERVED_CRATES, &word) || word.starts_with("sp_") {
        Some("a crate or folder that the plugin is built with has that name")
    } else {
        None
    }
}

/// Returns true for a word that is a keyword in an edition of Rust. `union` is one in some places only.
fn is_keyword(word: &str) -> bool {
    word == "union" || sp_expand::ident(word) != word
}

fn suggest_plugin(name: &str) -> String {
    let lower = name.to_lowercase();
    let replace = |c: char| {
        if c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' {
            c
        } else {
            '-'
        }
    };
    let dashed: String = lower.chars().map(replace).collect();
    let start = dashed.trim_start_matches(|c: char| !c.is_ascii_lowercase());
    let words: Vec<&str> = start.split('-').filter(|word| !word.is_empty()).collect();
    let joined: String = words.join("-").chars().take(48).collect();
    let trimmed = joined.trim_end_matches(['-', '_']);
    match plugin_fault(trimmed) {
        None => trimmed.to_owned(),
        Some(_) if trimmed.is_empty() => "myaccel".to_owned(),
        Some(_) => format!("my-{trimmed}"),
    }
}

fn device_fault(name: &str) -> Option<&'static str> {
    if name.is_empty() {
        Some("it is empty")
    } else if name.chars().any(|c| c.is_ascii_digit()) {
        Some("it has a digit")
    } else if !name.starts_with(|c: char| c.is_ascii_uppercase()) {
        Some("it does not begin with a capital letter")
    } else if !name.chars().all(|c| c.is_ascii_uppercase() || c == '_') {
        Some("it has a character that is neither a capital letter nor _")
    } else if CORE_DEVICES.contains(&name) {
        Some("TensorFlow has a device of that type")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sp_tests::assert_contains;

    #[test]
    fn accepts_crate_names() {
        for name in [
            "myaccel",
            "a",
            "my-accel",
            "npu9",
            "x_y-z0",
            "tensorflow-npu",
        ] {
            assert_eq!(check_plugin(name), Ok(()), "{name}");
        }
    }

    #[test]
    fn rejects_other_names_with_valid_suggestion() {
        let table = [
            ("", "myaccel"),
            ("MyAccel", "myaccel"),
            ("my accel", "my-accel"),
            ("9lives", "lives"),
            ("-x", "x"),
            ("x-", "x"),
            ("../etc", "etc"),
            ("a/b", "a-b"),
            ("é", "myaccel"),
            ("type", "my-type"),
            ("gen", "my-gen"),
            ("union", "my-union"),
            ("self", "my-self"),
            ("async", "my-async"),
            ("abstract", "my-abstract"),
            ("test", "my-test"),
            ("proc-macro", "my-proc-macro"),
            ("tensorflow", "my-tensorflow"),
            ("sp-cpu", "my-sp-cpu"),
            ("123", "myaccel"),
            ("a\nb", "a-b"),
            ("pip", "my-pip"),
            ("setuptools", "my-setuptools"),
            ("typing-extensions", "my-typing-extensions"),
        ];
        for (name, expected) in table {
            let Err(NameError::Plugin { suggestion, .. }) = check_plugin(name) else {
                panic!("`{name}` was accepted");
            };
            assert_eq!(suggestion, expected, "{name}");
            assert_eq!(check_plugin(&suggestion), Ok(()));
        }
        let long = check_plugin(&"x".repeat(65)).unwrap_err();
        assert!(
            matches!(long, NameError::Plugin { suggestion, .. } if check_plugin(&suggestion).is_ok())
        );
    }

    #[test]
    fn rejects_device_types_with_valid_suggestion() {
        for name in ["MYACCEL", "GPU", "A", "MY_ACCEL", "A_"] {
            assert_eq!(check_device_type(name), Ok(()), "{name}");
        }
        let table = [
            ("", "MYACCEL"),
            ("npu", "NPU"),
            ("NPU9", "NPU"),
            ("_X", "X"),
            ("MY-ACCEL", "MY_ACCEL"),
            ("CPU", "MY_CPU"),
            ("7", "MYACCEL"),
            ("Ü", "MYACCEL"),
        ];
        for (name, expected) in table {
            let Err(NameError::Device { suggestion, .. }) = check_device_type(name) else {
                panic!("`{name}` was accepted");
            };
            assert_eq!(suggestion, expected, "{name}");
            assert_eq!(check_platform_name(&suggestion), Ok(()));
        }
    }

    #[test]
    fn rejects_platform_names_of_tensorflow() {
        for name in CORE_PLATFORMS {
            let error = check_platform_name(name).unwrap_err().to_string();
            assert_contains(&error, "registers a platform of that name");
        }
        assert_eq!(check_device_type("TPU"), Ok(()));
    }

    #[test]
    fn suggests_valid_device_type_for_every_plugin_name() {
        for name in [
            "myaccel", "my-accel", "npu9", "a1_2", "cpu", "x9", "cuda", "rocm",
        ] {
            assert_eq!(check_device_type(&suggest_device(name)), Ok(()), "{name}");
            assert_eq!(check_platform_name(&suggest_device(name)), Ok(()), "{name}");
        }
    }

    #[test]
    fn suggests_different_platform_names_for_different_plugins() {
        let table = [
            ("myaccel", "MYACCEL"),
            ("my-accel", "MY_ACCEL"),
            ("npu", "NPU"),
            ("npu2", "NPU_TWO"),
            ("npu-3", "NPU_THREE"),
            ("npu31", "NPU_THREE_ONE"),
            ("cuda", "MY_CUDA"),
        ];
        for (name, expected) in table {
            assert_eq!(suggest_platform(name), expected);
            assert_eq!(check_platform_name(expected), Ok(()), "{name}");
        }
    }

    #[test]
    fn struct_name_shadows_no_used_type() {
        let table = [
            ("myaccel", "Myaccel"),
            ("my-accel_2", "MyAccel2"),
            ("device", "DeviceAccel"),
            ("cpu-device", "CpuDeviceAccel"),
        ];
        for (name, expected) in table {
            assert_eq!(struct_name(name), expected);
        }
    }
}
