//! The functions of the host that a kernel needs, as text in a section of the library: without them the kernel is not
//! registered. `sp-gen diff --plugin` and `sp-gen verify` read the section; they do not run the plugin.

/// The names of functions that the host has to export.
#[derive(Debug, Clone, Copy)]
pub enum FunctionNames {
    /// These.
    Names(&'static [&'static str]),
    /// Those of several parameters or fields.
    Parts(&'static [FunctionNames]),
}

impl FunctionNames {
    /// No functions.
    pub const NONE: Self = Self::Names(&[]);
}

/// The text in front of the op's name.
const KIND: &str = "kernel ";

/// Returns the length of [`line`].
pub const fn line_len(op: &str, functions: &[FunctionNames]) -> usize {
    match names_len(functions) {
        0 => 0,
        names => KIND.len() + op.len() + names + 1,
    }
}

/// Returns `kernel OP FUNCTION FUNCTION` and a newline, or nothing if there are no functions. A function that several
/// parameters need is there several times.
pub const fn line<const N: usize>(op: &str, functions: &[FunctionNames]) -> [u8; N] {
    let mut text = [b'\n'; N];
    if N > 0 {
        let at = write(&mut text, 0, KIND);
        let at = write(&mut text, at, op);
        write_names(&mut text, at, functions);
    }
    text
}

const fn names_len(functions: &[FunctionNames]) -> usize {
    let (mut len, mut part) = (0, 0);
    while part < functions.len() {
        len += match functions[part] {
            FunctionNames::Parts(parts) => names_len(parts),
            FunctionNames::Names(names) => {
                let (mut len, mut index) = (0, 0);
                while index < names.len() {
                    len += 1 + names[index].len();
                    index += 1;
                }
                len
            }
        };
        part += 1;
    }
    len
}

/// Writes a space and a name for each function, and returns the position after them.
const fn write_names(text: &mut [u8], mut at: usize, functions: &[FunctionNames]) -> usize {
    let mut part = 0;
    while part < functions.len() {
        match functions[part] {
            FunctionNames::Parts(parts) => at = write_names(text, at, parts),
            FunctionNames::Names(names) => {
                let mut index = 0;
                while index < names.len() {
                    at = write(text, at, " ");
                    at = write(text, at, names[index]);
                    index += 1;
                }
            }
        }
        part += 1;
    }
    at
}

const fn write(text: &mut [u8], at: usize, part: &str) -> usize {
    let (bytes, mut index) = (part.as_bytes(), 0);
    while index < bytes.len() {
        text[at + index] = bytes[index];
        index += 1;
    }
    at + index
}

/// Defines the functions that a parameter needs, and their names. Those after `;` are used too, and exported by the same
/// releases, so that they are not looked up before.
macro_rules! needs {
    ($($function:ident),+ $(; $($same:ident),+)?) => {
        const FUNCTIONS: $crate::kernel::spec::optional::FunctionNames =
            $crate::kernel::spec::optional::FunctionNames::Names(
                &[$(stringify!($function)),+ $(, $(stringify!($same)),+)?],
            );

        fn needs() -> $crate::kernel::spec::Needs {
            static NEEDS: $crate::kernel::spec::Needs = &[$(&$function),+];
            NEEDS
        }
    };
}

// since 2.8
/// Defines the function that reads an attribute, and its name.
macro_rules! reads_by {
    ($function:ident) => {
        const FUNCTIONS: $crate::kernel::spec::optional::FunctionNames =
            $crate::kernel::spec::optional::FunctionNames::Names(&[stringify!($function)]);

        fn check_available() -> Result<(), ::sp_runtime::UnavailableFunction> {
            ::sp_runtime::HostFunction::check_available(&$function)
        }
    };
}

pub(in crate::kernel) use needs;
pub(in crate::kernel) use reads_by; // since 2.8

#[cfg(test)]
mod tests {
    use super::*;

    const FUNCTIONS: &[FunctionNames] = &[
        FunctionNames::NONE,
        FunctionNames::Names(&["TF_A"]),
        FunctionNames::Parts(&[FunctionNames::Names(&["TF_B", "TF_C"])]),
    ];

    #[test]
    fn line_has_the_functions_of_all_parameters() {
        crate::optional_functions!(LINE, "Relu", FUNCTIONS);
        assert_eq!(LINE, *b"kernel Relu TF_A TF_B TF_C\n");
    }

    #[test]
    fn kernel_without_functions_has_no_line() {
        crate::optional_functions!(LINE, "Relu", &[FunctionNames::NONE]);
        assert_eq!(LINE, [0; 0]);
    }
}
