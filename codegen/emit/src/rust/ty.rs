//! C types as Rust types.
//!
//! [`Paths`] prints the names: sp-abi's own files have them in scope, macros that expand in other crates do not.

use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};
use sp_expand::ident;
use sp_ir::{Param, Signature, Type};

/// The paths by which printed types refer to names.
pub trait Paths {
    /// Returns the path of an item of the generated crate.
    fn item(&self, name: &str) -> TokenStream;
    /// Returns the path of an item of `core::ffi`.
    fn ffi(&self, name: &str) -> TokenStream;
}

/// Paths for code in which every name is in scope.
pub struct InScope;

impl Paths for InScope {
    fn item(&self, name: &str) -> TokenStream {
        let name = ident(name);
        quote!(#name)
    }

    fn ffi(&self, name: &str) -> TokenStream {
        let name = ident(name);
        quote!(#name)
    }
}

/// Prints `ty`. A function pointer may be null in C, so it prints as an `Option`.
pub fn print_type(ty: &Type, paths: &dyn Paths) -> TokenStream {
    match ty {
        Type::Void => paths.ffi("c_void"),
        Type::Int { bits, signed } => {
            let name = format_ident!("{}{bits}", if *signed { "i" } else { "u" });
            quote!(#name)
        }
        Type::Float { bits } => {
            let name = format_ident!("f{bits}");
            quote!(#name)
        }
        Type::Bool => quote!(bool),
        Type::Char => paths.ffi("c_char"),
        Type::Size | Type::Address { signed: false } => quote!(usize),
        Type::Address { signed: true } => quote!(isize),
        Type::Named(name) => paths.item(name),
        Type::Pointer { pointee, mutable } => {
            let pointee = print_type(pointee, paths);
            if *mutable {
                quote!(*mut #pointee)
            } else {
                quote!(*const #pointee)
            }
        }
        Type::Array { elem, len } => {
            let elem = print_type(elem, paths);
            let len = Literal::u64_unsuffixed(*len);
            quote!([#elem; #len])
        }
        Type::Function(signature) => {
            let function = print_function_type(signature, paths);
            quote!(Option<#function>)
        }
    }
}

/// Prints `unsafe extern "C" fn(name: type, ..) -> type`, without the `Option` of a pointer that
/// may be null. The plugin implements the function.
pub fn print_function_type(signature: &Signature, paths: &dyn Paths) -> TokenStream {
    print_with_abi("C", signature, paths)
}

/// Prints `unsafe extern "C-unwind" fn(name: type, ..) -> type`, the type of a function that the host implements: it is
/// C++, so an exception may leave it.
pub fn print_host_function_type(signature: &Signature, paths: &dyn Paths) -> TokenStream {
    print_with_abi("C-unwind", signature, paths)
}

fn print_with_abi(c_abi: &str, signature: &Signature, paths: &dyn Paths) -> TokenStream {
    let abi = match &signature.convention {
        None => c_abi.to_owned(),
        Some(convention) => c_abi.replacen('C', rust_abi(convention), 1),
    };
    let params = signature.params.iter().map(|param| {
        let ty = print_param_type(param, paths);
        if param.name.is_empty() {
            return ty;
        }
        let name = ident(&param.name);
        quote!(#name: #ty)
    });
    let ret = print_return(&signature.ret, paths);
    quote!(unsafe extern #abi fn(#(#params),*) #ret)
}

/// Returns Rust's name of a calling convention. Rust rejects the name of one that it does not have.
fn rust_abi(convention: &str) -> &str {
    match convention {
        "ms_abi" => "win64",
        "sysv_abi" => "sysv64",
        other => other,
    }
}

/// Prints a parameter's type. An array decays to a pointer, as in C.
pub fn print_param_type(param: &Param, paths: &dyn Paths) -> TokenStream {
    match &param.ty {
        Type::Array { elem, .. } => {
            let elem = print_type(elem, paths);
            quote!(*mut #elem)
        }
        ty => print_type(ty, paths),
    }
}

/// Prints `-> type`, or nothing for `void`.
pub fn print_return(ty: &Type, paths: &dyn Paths) -> TokenStream {
    if *ty == Type::Void {
        return TokenStream::new();
    }
    let ty = print_type(ty, paths);
    quote!(-> #ty)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(ty: &Type) -> String {
        print_type(ty, &InScope).to_string()
    }

    #[test]
    fn scalars_have_fixed_widths() {
        assert_eq!(text(&Type::int(8, false)), "u8");
        assert_eq!(text(&Type::int(32, true)), "i32");
        assert_eq!(text(&Type::Float { bits: 64 }), "f64");
        assert_eq!(text(&Type::Size), "usize");
    }

    #[test]
    fn pointer_mutability_follows_pointee() {
        assert_eq!(text(&Type::pointer(Type::Void, true)), "* mut c_void");
        assert_eq!(
            text(&Type::pointer(Type::pointer(Type::Char, false), true)),
            "* mut * const c_char"
        );
    }

    #[test]
    fn function_pointer_prints_as_option() {
        let params = vec![
            Param::new("", Type::Named("TF_Code".into())),
            Param::new("type", Type::array(Type::Size, 2)),
        ];
        let signature = Signature::new(params, Type::Void);
        let expected = "Option < unsafe extern \"C\" fn (TF_Code , r#type : * mut usize) >";
        assert_eq!(text(&Type::Function(Box::new(signature))), expected);
    }

    #[test]
    fn calling_convention_is_that_of_the_declaration() {
        let print = |convention: &str| {
            let mut signature = Signature::new(vec![], Type::Void);
            signature.convention = Some(convention.into());
            [
                print_function_type(&signature, &InScope).to_string(),
                print_host_function_type(&signature, &InScope).to_string(),
            ]
        };
        assert_eq!(
            print("ms_abi"),
            [
                "unsafe extern \"win64\" fn ()",
                "unsafe extern \"win64-unwind\" fn ()"
            ]
        );
        assert_eq!(print("regcall")[0], "unsafe extern \"regcall\" fn ()");
    }
}
