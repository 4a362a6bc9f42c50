//! Thunks of slots, wrappers of core's functions and stubs of callbacks.

use super::model::{Model, TakenCallback, parameter_name};
use super::types::{bits, describe, passed};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};
use sp_ir::{Direction, Param, Signature};

/// Number of stubs of a kernel's callback: each registration of a kernel needs one.
const KERNEL_STUBS: usize = 16384;
/// Number of stubs of another callback.
const STUBS: usize = 512;
/// Distance of two stubs, which are aligned to it.
const STRIDE: usize = 16;

/// Returns the description of a function: a `Function`.
pub fn description(
    model: &Model<'_>,
    name: &str,
    kind: &str,
    signature: &Signature,
) -> TokenStream {
    let parameters = signature.params.iter().enumerate();
    let parameters = parameters.map(|(index, it)| parameter(model, name, it, index));
    let (kind, result) = (format_ident!("{kind}"), describe(model, &signature.ret));
    quote!(Function::new(#name, Kind::#kind, &[#(#parameters),*], #result))
}

fn parameter(model: &Model<'_>, owner: &str, parameter: &Param, index: usize) -> TokenStream {
    let (name, ty) = (
        parameter_name(parameter, index),
        describe(model, &parameter.ty),
    );
    let is_out = is_out(model, owner, parameter);
    quote!(Parameter { name: #name, ty: #ty, is_out: #is_out })
}

/// Returns true if the value behind the pointer is of interest after the call only.
fn is_out(model: &Model<'_>, owner: &str, parameter: &Param) -> bool {
    let is_struct = || {
        let name = parameter.ty.named().and_then(|name| model.item(name));
        name.is_some_and(|item| item.as_struct().is_some()) && !owner.contains("destroy_")
    };
    match parameter.direction.as_ref().map(|it| it.value) {
        Some(Direction::Out) => true,
        Some(Direction::InOut) => is_struct(),
        _ => false,
    }
}

/// The tokens of a signature.
struct Passed {
    names: Vec<Ident>,
    types: Vec<TokenStream>,
    bits: Vec<TokenStream>,
    result: Option<TokenStream>,
    result_bits: TokenStream,
}

impl Passed {
    fn new(model: &Model<'_>, signature: &Signature) -> Self {
        let parameters = signature.params.iter().enumerate();
        let names: Vec<Ident> = parameters
            .map(|(index, _)| format_ident!("a{index}"))
            .collect();
        let pairs = signature.params.iter().zip(&names);
        let result = passed(model, &signature.ret);
        let result_bits = match result {
            Some(_) => bits(model, &signature.ret, &format_ident!("result")),
            None => quote!(0),
        };
        let types = signature
            .params
            .iter()
            .filter_map(|it| passed(model, &it.ty));
        Self {
            types: types.collect(),
            bits: pairs.map(|(it, name)| bits(model, &it.ty, name)).collect(),
            names,
            result,
            result_bits,
        }
    }

    fn arrow(&self) -> TokenStream {
        self.result
            .as_ref()
            .map_or_else(TokenStream::new, |it| quote!(-> #it))
    }

    fn pointer(&self) -> TokenStream {
        let (types, arrow) = (&self.types, self.arrow());
        quote!(unsafe extern "C-unwind" fn(#(#types),*) #arrow)
    }
}

/// Returns the statements that replace each callback among the arguments by its stub.
fn wrapped_callbacks(function: &TokenStream, taken: &[TakenCallback<'_>]) -> TokenStream {
    if taken.is_empty() {
        return TokenStream::new();
    }
    let statements = taken.iter().map(|it| {
        let (argument, callback) = (format_ident!("a{}", it.index), callback_name(&it.name));
        match is_kernel(&it.name) {
            true => quote!(let #argument = #callback.wrap(#argument, label);),
            false => quote!(let #argument = if #callback.function.is_active() { #callback.wrap(#argument, "") } else { #argument };),
        }
    });
    let label = match taken.iter().any(|it| is_kernel(&it.name)) {
        true => quote!(let label = call::label(&#function, &arguments);),
        false => TokenStream::new(),
    };
    quote!(#label #(#statements)*)
}

/// Returns the statement that replaces the host memory of a copy by guarded memory, if the call has any.
fn guarded_memory(signature: &Signature) -> Option<TokenStream> {
    let names = ["host_src", "host_dst"];
    let mut parameters = signature.params.iter();
    let index = parameters.position(|it| names.contains(&it.name.as_str()))?;
    let argument = format_ident!("a{index}");
    Some(quote!(let #argument = call.guarded(#argument);))
}

/// Returns true for the functions of a kernel, which are wrapped even if they are not shown: they tell the op.
fn is_kernel(name: &str) -> bool {
    name.starts_with("TF_New") && name.contains("KernelBuilder.")
}

fn callback_name(name: &str) -> Ident {
    format_ident!("CALLBACK_{}", name.replace('.', "_").to_uppercase())
}

/// Returns the wrapper `wrapper` of core's function or slot: `function` names its description, `original` its address.
pub fn wrapper(
    model: &Model<'_>,
    head: &TokenStream,
    signature: &Signature,
    function: &TokenStream,
    original: &TokenStream,
    taken: &[TakenCallback<'_>],
) -> TokenStream {
    let passed = Passed::new(model, signature);
    let (names, types, bits) = (&passed.names, &passed.types, &passed.bits);
    let (arrow, pointer, result_bits) = (passed.arrow(), passed.pointer(), &passed.result_bits);
    let wrapped = wrapped_callbacks(function, taken);
    let guarded = guarded_memory(signature);
    let count = Literal::usize_unsuffixed(names.len());
    quote! {
        unsafe extern "C-unwind" fn #head(#(#names: #types),*) #arrow {
            unsafe {
                let real = transmute::<usize, #pointer>(#original);
                let arguments: [u64; #count] = [#(#bits),*];
                #wrapped
                if !#function.is_active() {
                    return real(#(#names),*);
                }
                let call = call::begin(&#function, &arguments);
                #guarded
                let result = real(#(#names),*);
                call::finish(call, &arguments, #result_bits);
                result
            }
        }
    }
}

/// Returns the static of a callback, its stubs, and the function that they jump to.
pub fn callback(
    model: &Model<'_>,
    name: &str,
    kind: &str,
    signature: &Signature,
) -> (Ident, TokenStream) {
    let passed = Passed::new(model, signature);
    let (names, types, bits) = (&passed.names, &passed.types, &passed.bits);
    let (arrow, pointer, result_bits) = (passed.arrow(), passed.pointer(), &passed.result_bits);
    let constant = callback_name(name);
    let (entry, stubs) = (
        format_ident!("enter_{constant}"),
        format_ident!("sp_layer_stubs_{constant}"),
    );
    let (description, targets) = (
        description(model, name, kind, signature),
        format_ident!("TARGETS_OF_{constant}"),
    );
    let count = if is_kernel(name) { KERNEL_STUBS } else { STUBS };
    let (assembly, stride) = (
        assembly(&stubs, names.len(), count),
        Literal::usize_unsuffixed(STRIDE),
    );
    let (count, arguments) = (
        Literal::usize_unsuffixed(count),
        Literal::usize_unsuffixed(names.len()),
    );
    let shortcut = match is_kernel(name) {
        true => TokenStream::new(),
        false => quote!(if !#constant.function.is_active() { return real(#(#names),*); }),
    };
    let code = quote! {
        #assembly
        unsafe extern "C" { fn #stubs(); }
        static #targets: [AtomicPtr<Target>; #count] = [const { AtomicPtr::new(null_mut()) }; #count];
        static #constant: Callback = Callback {
            function: #description,
            stubs: Stubs { first: #stubs, stride: #stride },
            targets: &#targets,
            known: Known::new(),
        };
        unsafe extern "C-unwind" fn #entry(#(#names: #types,)* stub: u32) #arrow {
            unsafe {
                let target = #constant.target(stub as usize);
                let real = transmute::<usize, #pointer>(target.address);
                #shortcut
                let arguments: [u64; #arguments] = [#(#bits),*];
                let call = call::begin_callback(&#constant.function, &arguments, target);
                let result = real(#(#names),*);
                call::finish_callback(call, &arguments, #result_bits);
                result
            }
        }
    };
    (constant, code.into_iter().collect())
}

/// Returns the stubs of a callback with `parameters` parameters: each loads its number into the next register.
fn assembly(stubs: &Ident, parameters: usize, count: usize) -> TokenStream {
    const X86: [&str; 6] = ["edi", "esi", "edx", "ecx", "r8d", "r9d"];
    let entry = format_ident!(
        "enter_{}",
        stubs.to_string().trim_start_matches("sp_layer_stubs_")
    );
    let head = format!(
        ".pushsection .text.{stubs}, \"ax\"\n.p2align 4\n.globl {stubs}\n.hidden {stubs}\n{stubs}:\n\
         .set {stubs}_number, 0\n.rept {count}\n.p2align 4"
    );
    let tail = format!(".set {stubs}_number, {stubs}_number + 1\n.endr\n.popsection");
    let x86 = format!("mov {}, {stubs}_number\njmp {{entry}}", X86[parameters]);
    let arm = format!("mov w{parameters}, #{stubs}_number\nb {{entry}}");
    quote! {
        #[cfg(target_arch = "x86_64")]
        global_asm!(#head, #x86, #tail, entry = sym #entry);
        #[cfg(target_arch = "aarch64")]
        global_asm!(#head, #arm, #tail, entry = sym #entry);
    }
}
