//! Prints one safe method.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;
use sp_emit::printing::{print_param_type, safety};
use sp_ir::{Param, Type};

use super::sizes::{self, Place};
use super::{RawScope, local, local_of, owned, raw_type};
use crate::contract::{Answer, Form, Role, SafeFunction, SafeModel};
use crate::model::Model;
use crate::names;
use crate::print::doc;

const RETURNED_NULL: &str = "the driver returned null";

/// The parts of a method.
#[derive(Default)]
struct Parts {
    parameters: Vec<TokenStream>,
    /// Statements before the call. They may return an error, and drop what they have allocated then.
    before: Vec<TokenStream>,
    /// Statements after those, which convert lengths.
    lengths: Vec<TokenStream>,
    /// Statements directly before the call, none of which returns. What they allocate is not dropped by them.
    transferred: Vec<TokenStream>,
    arguments: Vec<TokenStream>,
    /// Statements directly after the call, which free what the driver did not take. Later ones change the result: an error
    /// of theirs is none of the call.
    not_taken: Vec<TokenStream>,
    /// Statements after those, which enqueue the end of the life of host memory.
    after: Vec<TokenStream>,
    /// Statements after the check of the result, which give each created value its owner.
    created: Vec<TokenStream>,
    types: Vec<TokenStream>,
    values: Vec<TokenStream>,
}

/// The C result of a function in its safe method.
struct PrintedAnswer {
    /// The statement that checks it.
    check: TokenStream,
    /// The type and the expression of what it means.
    value: Option<(TokenStream, TokenStream)>,
}

/// The parts of a value that a function creates.
struct Created {
    /// The absent value of its C type.
    null: TokenStream,
    ty: TokenStream,
    /// The statement that gives the value an owner.
    owned: TokenStream,
    /// The expression of the value, which returns an error if it is absent.
    checked: TokenStream,
}

struct Printer<'a> {
    model: &'a Model,
    safe: &'a SafeModel<'a>,
    function: &'a SafeFunction<'a>,
    /// The expressions of the parameters.
    names: Vec<TokenStream>,
}

/// Prints a method of the type of its first handle, or of `Driver`.
pub fn print(model: &Model, safe: &SafeModel, function: &SafeFunction) -> TokenStream {
    let params = parameter_names(safe, function).into_iter().enumerate();
    let is_method = matches!(function.roles.first(), Some(Role::Handle(_)));
    let names = params.map(|(index, name)| match index {
        0 if is_method => quote!(self),
        _ => quote!(#name),
    });
    let printer = Printer {
        model,
        safe,
        function,
        names: names.collect(),
    };
    printer.print(is_method)
}

/// Returns the names of the parameters. A pattern with the name of an owned type, which is a value, is none of a variable.
fn parameter_names(safe: &SafeModel, function: &SafeFunction) -> Vec<Ident> {
    let mut found: Vec<Ident> = Vec::new();
    let params = &function.function.parameters;
    for param in params {
        let mut name = param.clone();
        let is_owned = |name: &Ident| safe.owned.iter().any(|it| names::item(it.name) == *name);
        while is_owned(&names::parsed(&name)) || name != *param && params.contains(&name) {
            name.push('_');
        }
        found.push(names::parsed(&name));
    }
    found
}

impl Printer<'_> {
    fn print(&self, is_method: bool) -> TokenStream {
        let signature = &self.function.function.signature;
        let mut parts = Parts::default();
        for (index, param) in signature.params.iter().enumerate() {
            self.add(&mut parts, index, param);
        }
        let c_name = &self.function.function.name;
        let text = sp_ir::c::declare(c_name, signature);
        let doc = doc(&text, &self.function.function.loc);
        let name = names::safe_method(c_name);
        let raw = names::method(c_name);
        let (driver, result) = (local("driver"), local("result"));
        let library = match is_method {
            true => quote!(self.0.driver),
            false => quote!(self.0),
        };
        let comment =
            safety("the arguments are what the contract demands, for as long as it demands.");
        let answer = self.answer();
        let Parts {
            parameters,
            before,
            lengths,
            transferred,
            arguments,
            not_taken,
            after,
            created,
            mut types,
            mut values,
        } = parts;
        let check = answer.check;
        if let Some((ty, value)) = answer.value {
            types.insert(0, ty);
            values.insert(0, value);
        }
        let (ty, value) = (tuple(&types), tuple(&values));
        quote! {
            #[doc = #doc]
            pub fn #name(&self, #(#parameters),*) -> Result<#ty> {
                let #driver = #library;
                #(#before)*
                #(#lengths)*
                #(#transferred)*
                #comment
                let #result = unsafe { #driver.#raw(#(#arguments),*) };
                #(#not_taken)*
                #(#after)*
                #check
                #(#created)*
                Ok(#value)
            }
        }
    }

    /// Returns the value of the C result, and the statement that checks it.
    fn answer(&self) -> PrintedAnswer {
        let result = local("result");
        let (ty, check) = match &self.function.answer {
            Answer::Nothing => {
                let check = quote!(#result?;);
                return PrintedAnswer { check, value: None };
            }
            Answer::New(created) => return self.new_answer(created),
            Answer::Value => {
                let ty = raw_type(self.safe, &self.function.function.signature.ret);
                (ty, quote!(let #result = #result?;))
            }
            Answer::Text => {
                let comment =
                    safety("the driver returns null or a C string that is valid forever.");
                let value = quote! {
                    let #result = #result?;
                    #comment
                    let #result = (!#result.is_null()).then(|| unsafe { CStr::from_ptr(#result) });
                };
                (quote!(Option<&'static CStr>), value)
            }
            Answer::NotFalse(value) => {
                let pattern = status_pattern(self.model, *value);
                let has_results = self.model.status.as_ref().is_some_and(|it| it.has_results);
                let success = match has_results {
                    true => quote!(_),
                    false => quote!(()),
                };
                let check = quote! {
                    let #result = match #result {
                        Err(Error::Status { status: #pattern, .. }) => false,
                        other__ => other__.map(|#success| true)?,
                    };
                };
                (quote!(bool), check)
            }
        };
        let value = Some((ty, quote!(#result)));
        PrintedAnswer { check, value }
    }

    /// Returns the value of a C result that the function creates.
    fn new_answer(&self, created: &str) -> PrintedAnswer {
        let result = local("result");
        let value = quote!(#result);
        let created = self.created(&value, created, &self.function.function.signature.ret);
        let Created {
            ty, owned, checked, ..
        } = created;
        PrintedAnswer {
            check: quote! {
                let #result = #result?;
                #owned
            },
            value: Some((ty, checked)),
        }
    }

    fn add(&self, parts: &mut Parts, index: usize, param: &Param) {
        let name = &self.names[index];
        let c_type = print_param_type(param, &RawScope(self.safe));
        match &self.function.roles[index] {
            Role::Value => {
                parts.parameters.push(quote!(#name: #c_type));
                parts.arguments.push(quote!(#name));
            }
            Role::Handle(owned) => {
                if index > 0 {
                    let ty = names::item(owned);
                    parts.parameters.push(quote!(#name: &#ty));
                }
                parts
                    .arguments
                    .push(owned::argument_of(self.safe, owned, name));
            }
            Role::Address => {
                parts.parameters.push(quote!(#name: usize));
                parts.arguments.push(quote!(#name as #c_type));
            }
            Role::Null => parts.arguments.push(null(param)),
            Role::Length => {
                parts.parameters.push(quote!(#name: usize));
                self.add_length(parts, index, &quote!(#name));
            }
            Role::Implied => self.add_implied(parts, index),
            Role::Out(ty) => self.add_out(parts, name, ty),
            Role::New(owned) => self.add_new(parts, name, owned, &param.ty),
            Role::In(ty) => self.add_in(parts, name, ty),
            Role::InOut(ty) => {
                self.add_in(parts, name, ty);
                parts.types.push(raw_type(self.safe, ty));
                parts.values.push(quote!(#name));
            }
            Role::Optional(ty) => self.add_optional(parts, name, ty),
            Role::CString => {
                parts.parameters.push(quote!(#name: &CStr));
                parts.arguments.push(quote!(#name.as_ptr()));
            }
            Role::Text(_) => {
                parts
                    .before
                    .push(quote!(let mut #name = [0 as c_char; 256];));
                parts.arguments.push(quote!(#name.as_mut_ptr()));
                parts.types.push(quote!(String));
                let bytes = quote!(#name.iter().map(|byte__| *byte__ as u8).take_while(|byte__| *byte__ != 0).collect::<Vec<u8>>());
                parts
                    .values
                    .push(quote!(String::from_utf8_lossy(&#bytes).into_owned()));
            }
            Role::Slice(ty, _) => self.add_slice(parts, name, ty),
            Role::Source(_) => self.add_source(parts, index),
            Role::Target(size) => self.add_target(parts, index, *size),
            Role::Function(_) => self.add_function(parts, index),
        }
    }

    /// Adds the argument that follows from another parameter.
    fn add_implied(&self, parts: &mut Parts, index: usize) {
        let found = self.function.roles.iter().position(|it| {
            matches!(it, Role::Text(i) | Role::Slice(_, i) | Role::Source(i) | Role::Function(i) if *i == index)
        });
        let Some(of) = found else { return };
        let name = &self.names[of];
        match self.function.roles[of] {
            Role::Function(_) => {
                let data = local_of("data", of);
                parts.arguments.push(quote!(#data.cast()));
            }
            Role::Source(_) => {
                let bytes = local_of("bytes", of);
                self.add_length(parts, index, &quote!(#bytes.len()));
            }
            _ => self.add_length(parts, index, &quote!(#name.len())),
        }
    }

    /// Adds the argument of a length, which is converted before the call.
    fn add_length(&self, parts: &mut Parts, index: usize, length: &TokenStream) {
        let function = Literal::string(&self.function.function.name);
        let param = &self.function.function.signature.params[index];
        let ty = print_param_type(param, &RawScope(self.safe));
        let converted = local_of("length", index);
        parts.lengths.push(quote! {
            let #converted: #ty = #length.try_into().map_err(|_| Error::Invalid { function: #function, reason: "a length is too large" })?;
        });
        parts.arguments.push(quote!(#converted));
    }

    fn add_out(&self, parts: &mut Parts, name: &TokenStream, ty: &Type) {
        let comment = safety("zeros are valid in every bound type.");
        let printed = raw_type(self.safe, ty);
        let set_size = self.set_size(&Place::Value(name.clone()), ty);
        parts.before.push(quote! {
            #comment
            let mut #name: #printed = unsafe { ::core::mem::zeroed() };
            #set_size
        });
        parts.arguments.push(quote!(&mut #name));
        parts.types.push(printed);
        parts.values.push(quote!(#name));
    }

    /// Prints the assignments of the sizes of structs in a value.
    fn set_size(&self, place: &Place, ty: &Type) -> Option<TokenStream> {
        sizes::print(self.model, self.safe, place, ty)
    }

    fn add_new(&self, parts: &mut Parts, name: &TokenStream, created: &str, ty: &Type) {
        let Type::Pointer { pointee, .. } = ty else {
            unreachable!("the contract's check accepts pointers only");
        };
        let Created {
            null,
            ty,
            owned,
            checked,
        } = self.created(name, created, pointee);
        parts.before.push(quote!(let mut #name = #null;));
        parts.arguments.push(quote!(&mut #name));
        parts.types.push(ty);
        // All values have owners before one that is null is an error.
        parts.created.push(owned);
        parts.values.push(checked);
    }

    /// Prints the parts of a value of the owned type `created`, which the function writes to the variable `name` as the C type `ty`.
    fn created(&self, name: &TokenStream, created: &str, ty: &Type) -> Created {
        let owned = self.safe.owned.iter().find(|it| it.name == created);
        let owned = owned.expect("the contract's check finds the type of a created value");
        let function = Literal::string(&self.function.function.name);
        // The C type is as wide as the value of an address, but not always its type.
        let form = Form::find(self.model, ty);
        let (null, is_null, reason) = match form.unwrap_or(owned.form) {
            Form::Pointer { mutable } => {
                let null = match mutable {
                    true => quote!(::core::ptr::null_mut()),
                    false => quote!(::core::ptr::null()),
                };
                (null, quote!(#name.is_null()), RETURNED_NULL)
            }
            Form::Integer => (quote!(0), quote!(#name == 0), "the driver returned 0"),
            Form::Handle => {
                let ty = raw_type(self.safe, &owned.ty);
                (quote!(#ty::NULL), quote!(#name == #ty::NULL), RETURNED_NULL)
            }
        };
        let (item, value) = (
            names::item(created),
            owned::create(owned, &self.function.roles, name, &self.names),
        );
        Created {
            null,
            ty: quote!(#item),
            owned: quote!(let #name = if #is_null { None } else { Some(#value) };),
            checked: quote!(#name.ok_or(Error::Invalid { function: #function, reason: #reason })?),
        }
    }

    fn add_in(&self, parts: &mut Parts, name: &TokenStream, ty: &Type) {
        let printed = raw_type(self.safe, ty);
        let set_size = self.set_size(&Place::Value(name.clone()), ty);
        parts.parameters.push(quote!(mut #name: #printed));
        parts.before.push(quote!(#set_size));
        parts.arguments.push(quote!(&raw mut #name));
    }

    fn add_optional(&self, parts: &mut Parts, name: &TokenStream, ty: &Type) {
        let printed = raw_type(self.safe, ty);
        let value = local("value");
        parts.parameters.push(quote!(#name: Option<#printed>));
        if let Some(set_size) = self.set_size(&Place::Reference(quote!(#value)), ty) {
            parts.before.push(quote! {
                let mut #name = #name;
                if let Some(#value) = &mut #name { #set_size }
            });
        }
        parts
            .arguments
            .push(quote!(#name.as_ref().map_or(::core::ptr::null(), ::core::ptr::from_ref)));
    }

    /// Adds elements that the driver reads. Those with sizes are copied, since the caller may state larger ones.
    fn add_slice(&self, parts: &mut Parts, name: &TokenStream, ty: &Type) {
        let (printed, item) = (raw_type(self.safe, ty), local("item"));
        parts.parameters.push(quote!(#name: &[#printed]));
        parts.arguments.push(quote!(#name.as_ptr()));
        let Some(set_size) = self.set_size(&Place::Reference(quote!(#item)), ty) else {
            return;
        };
        let (copy, function) = (local("copy"), Literal::string(&self.function.function.name));
        parts.before.push(quote! {
            let mut #copy = Vec::new();
            #copy.try_reserve_exact(#name.len()).map_err(|_| Error::Invalid { function: #function, reason: "no memory" })?;
            #copy.extend_from_slice(#name);
            for #item in &mut #copy { #set_size }
            let #name = #copy;
        });
    }

    fn add_source(&self, parts: &mut Parts, index: usize) {
        let (name, bytes) = (&self.names[index], local_of("bytes", index));
        parts
            .parameters
            .push(quote!(#name: impl AsRef<[u8]> + Send + 'static));
        parts.before.push(quote! {
            let #name = Source__::new(#name);
            let #bytes: *const [u8] = #name.bytes();
        });
        // Only the function below frees the value.
        parts
            .transferred
            .push(quote!(let #name = ::core::mem::ManuallyDrop::new(#name);));
        parts.arguments.push(quote!(#bytes.cast()));
        let (result, queue) = (local("result"), self.queue());
        parts.after.push(quote! {
            // Also after an error: the driver may have enqueued the command.
            let #result = #result.and(#queue.run_after__(Box::new(move || drop(::core::mem::ManuallyDrop::into_inner(#name)))));
        });
    }

    fn add_target(&self, parts: &mut Parts, index: usize, size: usize) {
        let (name, bytes) = (&self.names[index], local_of("bytes", index));
        let (result, function, queue) = (local("result"), local("function"), self.queue());
        let size = &self.names[size];
        let c_name = Literal::string(&self.function.function.name);
        parts
            .parameters
            .push(quote!(#name: impl FnOnce(Vec<u8>) + Send + 'static));
        parts.before.push(quote! {
            let mut #bytes = Vec::new();
            #bytes.try_reserve_exact(#size).map_err(|_| Error::Invalid { function: #c_name, reason: "no memory" })?;
            #bytes.resize(#size, 0_u8);
        });
        parts.transferred.push(quote! {
            // Only the function below frees the bytes.
            let mut #bytes = ::core::mem::ManuallyDrop::new(#bytes);
        });
        parts.arguments.push(quote!(#bytes.as_mut_ptr().cast()));
        parts.after.push(quote! {
            let #function: HostFunction__ = match #result {
                Ok(()) => Box::new(move || #name(::core::mem::ManuallyDrop::into_inner(#bytes))),
                // The driver may have enqueued the command.
                Err(_) => Box::new(move || drop(::core::mem::ManuallyDrop::into_inner(#bytes))),
            };
            let #result = #result.and(#queue.run_after__(#function));
        });
    }

    /// Returns the expression of the queue that uses host memory: the parameter on whose type host functions are enqueued.
    fn queue(&self) -> Option<&TokenStream> {
        let functions = &self.safe.functions;
        let name = self.safe.host_function?;
        let host_function = functions.iter().find(|it| it.function.name == name)?;
        let queue = host_function.roles.first()?;
        let index = self.function.roles.iter().position(|it| it == queue)?;
        self.names.get(index)
    }

    fn add_function(&self, parts: &mut Parts, index: usize) {
        let name = &self.names[index];
        let (data, result) = (local_of("data", index), local("result"));
        parts
            .parameters
            .push(quote!(#name: impl FnOnce() + Send + 'static));
        parts.transferred.push(quote! {
            let #data = Box::into_raw(Box::new(Box::new(#name) as HostFunction__));
        });
        parts.arguments.push(quote!(Some(run__)));
        let comment = safety(
            "the driver does not call the function after an error, so the box is still owned here.",
        );
        parts.not_taken.push(quote! {
            if #result.is_err() {
                #comment
                drop(unsafe { Box::from_raw(#data) });
            }
        });
    }
}

fn null(param: &Param) -> TokenStream {
    match &param.ty {
        Type::Pointer { mutable: true, .. } => quote!(::core::ptr::null_mut()),
        _ => quote!(::core::ptr::null()),
    }
}

/// Prints the pattern of a status.
fn status_pattern(model: &Model, value: i64) -> TokenStream {
    let number = Literal::i64_unsuffixed(value);
    let status = model.status.as_ref();
    match status.and_then(|status| model.enumeration(&status.ty)) {
        // A typedef of the enumeration is no pattern.
        Some((name, _)) => {
            let name = names::item(name);
            quote!(#name(#number))
        }
        None => quote!(#number),
    }
}

/// Prints nothing, one, or a tuple.
fn tuple(parts: &[TokenStream]) -> TokenStream {
    match parts {
        [one] => one.clone(),
        parts => quote!((#(#parts),*)),
    }
}
