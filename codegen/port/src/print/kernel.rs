//! Prints a kernel: its attribute, its signature, and a body that returns an error.

use super::Input;
use super::doc::{kernel_lines, plain, print_lines};
use super::imports::Imports;
use super::parameters::{Parameters, discard};
use super::signatures::Signatures;
use super::types::{TypeUse, print_type};
use crate::plan::PlannedKernel;
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

/// Prints the function of a kernel.
pub fn print(
    kernel: &PlannedKernel,
    input: &Input<'_>,
    imports: &mut Imports,
    signatures: &mut Signatures,
) -> TokenStream {
    imports.root("Error");
    imports.root("Result");
    imports.kernel("kernel");
    let device = device_of(kernel, input);
    let parameters = Parameters::new(kernel, device, imports);
    let arguments = signatures.add(&print_arguments(kernel, &parameters, device, imports));
    let doc = print_lines(&[kernel_lines(kernel, input), parameters.notes.clone()].concat());
    let generics = print_generics(&parameters, imports);
    let function = format_ident!("{}", kernel.function);
    let (declarations, unused) = (&parameters.declarations, discard(&parameters.names));
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

/// Returns the name of the device's type, if the kernel's tensors are in its memory.
fn device_of<'a>(kernel: &PlannedKernel, input: &Input<'a>) -> Option<&'a Ident> {
    let device = input.options.device.as_ref();
    let last = device.filter(|_| kernel.is_on_device)?.segments.last()?;
    Some(&last.ident)
}

/// Prints the type parameters.
fn print_generics(parameters: &Parameters, imports: &mut Imports) -> TokenStream {
    let generics = parameters.types.iter().filter_map(|it| it.generic.as_ref());
    let generics: Vec<&Ident> = generics.collect();
    if generics.is_empty() {
        return TokenStream::new();
    }
    imports.root("Element");
    quote!(<#(#generics: Element),*>)
}

/// Prints the arguments of the attribute.
fn print_arguments(
    kernel: &PlannedKernel,
    parameters: &Parameters,
    device: Option<&Ident>,
    imports: &mut Imports,
) -> Vec<TokenStream> {
    let op = format_ident!("{}", kernel.definition.name);
    let op = match kernel.is_own {
        true => quote!(ops::#op),
        false => quote!(#op),
    };
    let mut arguments = vec![op];
    let types = parameters.types.iter();
    arguments.extend(types.map(|it| print_types(it, imports)));
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
    let types = list.types.iter().map(|it| print_type(*it, imports));
    let types: Vec<TokenStream> = types.collect();
    match &list.generic {
        _ if list.is_any => quote!(#attribute: any = [#(#types),*]),
        Some(generic) if *generic != list.attribute => quote!(#attribute: #generic = [#(#types),*]),
        _ => quote!(#attribute = [#(#types),*]),
    }
}
