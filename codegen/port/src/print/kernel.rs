//! Prints a kernel: its attribute, its signature, and a body that returns an error.

use super::Input;
use super::doc::{kernel_lines, plain, print_lines};
use super::elements::{is_primitive, rust_name};
use super::imports::Imports;
use super::parameters::{Parameters, TypeUse};
use super::signatures::Signatures;
use crate::plan::{ElementClass, PlannedKernel, class_of};
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};
use sp_ops::DataType;

/// Prints the function of a kernel.
pub fn print(
    kernel: &PlannedKernel,
    input: &Input<'_>,
    imports: &mut Imports,
    signatures: &mut Signatures,
) -> TokenStream {
    for name in ["Error", "Result"] {
        imports.root(name);
    }
    imports.kernel("kernel");
    let device = input
        .options
        .device
        .as_ref()
        .filter(|_| kernel.is_on_device);
    let device = device.and_then(|it| it.segments.last()).map(|it| &it.ident);
    let parameters = Parameters::new(kernel, device, imports);
    let mut lines = kernel_lines(kernel, input);
    lines.extend(parameters.notes.iter().cloned());
    let doc = print_lines(&lines);
    let arguments = signatures.add(&print_arguments(kernel, &parameters, device, imports));
    let generics = parameters.types.iter().filter_map(|it| it.generic.as_ref());
    let generics: Vec<_> = generics.map(|it| quote!(#it: Element)).collect();
    if !generics.is_empty() {
        imports.root("Element");
    }
    let generics = match generics.is_empty() {
        true => TokenStream::new(),
        false => quote!(<#(#generics),*>),
    };
    let function = format_ident!("{}", kernel.function);
    let (declarations, names) = (&parameters.declarations, &parameters.names);
    let unused = match &names[..] {
        [] => TokenStream::new(),
        [name] => quote!(let _ = #name;),
        names => quote!(let _ = (#(#names),*);),
    };
    let message = plain(&format!("{} is not ported", kernel.definition.name));
    quote! {
        #doc
        #[kernel(#arguments)]
        pub fn #function #generics(#(#declarations),*) -> Result<()> {
            #unused
            Err(Error::unimplemented(#message))
        }
    }
}

/// Prints the arguments of the attribute.
fn print_arguments(
    kernel: &PlannedKernel,
    parameters: &Parameters,
    device: Option<&proc_macro2::Ident>,
    imports: &mut Imports,
) -> Vec<TokenStream> {
    let op = format_ident!("{}", kernel.definition.name);
    let op = if kernel.is_own {
        quote!(ops::#op)
    } else {
        quote!(#op)
    };
    let types = parameters.types.iter().map(|it| print_types(it, imports));
    let mut arguments = vec![op];
    arguments.extend(types);
    arguments.extend(device.map(|it| quote!(device = #it)));
    if !parameters.ignored.is_empty() {
        let ignored = &parameters.ignored;
        arguments.push(quote!(ignore = [#(#ignored),*]));
    }
    arguments.extend(kernel.priority.map(|it| {
        let it = Literal::i32_unsuffixed(it);
        quote!(priority = #it)
    }));
    arguments.extend(kernel.label.as_deref().map(|it| {
        let it = plain(it);
        quote!(label = #it)
    }));
    if kernel.is_asynchronous {
        arguments.push(quote!(asynchronous));
    }
    arguments
}

/// Prints `T = [f32, f64]`.
fn print_types(list: &TypeUse, imports: &mut Imports) -> TokenStream {
    // A keyword is a name here.
    let attribute = format_ident!("{}", list.attribute);
    let types: Vec<TokenStream> = list
        .types
        .iter()
        .map(|it| print_type(*it, imports))
        .collect();
    match &list.generic {
        _ if list.is_any => quote!(#attribute: any = [#(#types),*]),
        Some(generic) if *generic != list.attribute => quote!(#attribute: #generic = [#(#types),*]),
        _ => quote!(#attribute = [#(#types),*]),
    }
}

/// Prints a type in a list, and imports it.
pub fn print_type(ty: DataType, imports: &mut Imports) -> TokenStream {
    let name = match class_of(ty) {
        ElementClass::Text => {
            imports.kernel("Text");
            "Text"
        }
        ElementClass::Resource => {
            imports.marker("Resource");
            "Resource"
        }
        ElementClass::Variant => {
            imports.marker("Variant");
            "Variant"
        }
        ElementClass::Element => {
            let name = rust_name(ty).unwrap_or("u8");
            if !is_primitive(name) {
                imports.root(name);
            }
            name
        }
    };
    let name = format_ident!("{name}");
    quote!(#name)
}
