//! The macro that defines the functions of one family.

/// Defines `extern "C"` functions and a `find` over them; `CALL` is the name of the function in its body.
///
/// `; status` stands for a last parameter `TF_Status*`. The body of such a function returns a `Result`, whose error becomes the
/// status: `fn TF_SetOutput(ctx: Ctx, index: c_int; status) { .. }`.
macro_rules! functions {
    ($(
        $(#[$attr:meta])*
        fn $name:ident($($arg:ident: $ty:ty),* $(,)? $(; $status:ident)?) $(-> $ret:ty)? $body:block
    )*) => {
        $(
            #[allow(non_snake_case, reason = "C names verbatim")]
            $(#[$attr])*
            extern "C" fn $name(
                $($arg: $ty,)* $($status: super::argument::Arg<crate::status_object::StatusObject>)?
            ) $(-> $ret)? {
                const CALL: &str = stringify!($name);
                $crate::api_calls::record(CALL);
                super::functions::body!(CALL, ($($ret)?), $($status,)? $body)
            }
        )*

        /// Returns the address of the function `symbol`, if this family has it.
        pub(super) fn find(symbol: &str) -> Option<*mut std::ffi::c_void> {
            match symbol {
                $(stringify!($name) => Some($name as *mut std::ffi::c_void),)*
                _ => None,
            }
        }

        /// Returns the C signatures of this family, read off the Rust types.
        #[cfg(test)]
        pub(super) fn signatures() -> Vec<super::signature::CFunction> {
            use super::signature::{CFunction, CSignature, ForeignType};
            vec![$(CFunction {
                name: stringify!($name),
                signature: CSignature {
                    parameters: vec![
                        $(<$ty as ForeignType>::c_type(),)* $(super::signature::$status(),)?
                    ],
                    #[allow(unused_parens, reason = "no result is the unit type")]
                    result: <($($ret)?) as ForeignType>::c_type(),
                },
            }),*]
        }
    };
}
pub(super) use functions;

/// The body of a function, and the report of its error if it has a status.
macro_rules! body {
    ($call:expr, ($($ret:ty)?), $body:block) => {
        $body
    };
    ($call:expr, ($($ret:ty)?), $status:ident, $body:block) => {{
        #[allow(unused_parens, reason = "no result is the unit type")]
        let run = || -> Result<($($ret)?), super::failure::CallError> { $body };
        let result = run();
        super::report::report_result(&$status, $call, result)
    }};
}
pub(super) use body;
