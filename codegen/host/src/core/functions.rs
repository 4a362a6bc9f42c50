//! The macro that defines the functions of one family.

/// Defines `extern "C"` functions and a `find` over them; `CALL` is the name of the function in its body.
macro_rules! functions {
    ($($(#[$attr:meta])* fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)? $body:block)*) => {
        $(
            #[allow(non_snake_case, reason = "C names verbatim")]
            $(#[$attr])*
            extern "C" fn $name($($arg: $ty),*) $(-> $ret)? {
                const CALL: &str = stringify!($name);
                $crate::api_calls::record(CALL);
                $body
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
                    parameters: vec![$(<$ty as ForeignType>::c_type()),*],
                    #[allow(unused_parens, reason = "no result is the unit type")]
                    result: <($($ret)?) as ForeignType>::c_type(),
                },
            }),*]
        }
    };
}
pub(super) use functions;
