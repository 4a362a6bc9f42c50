//! A skeleton for every op of TensorFlow, which the macro `kernel` accepts.

use proc_macro2::TokenStream;
use sp_ops::{AttributeKind, DataType, Op};
use sp_port::{Options, Plan, Source, print, scan};
use std::fmt::Write;
use syn::{Item, Meta};

/// Returns the registration of an op for up to `count` types of each type attribute.
fn registration(op: &Op, count: usize, has_host_memory: bool) -> String {
    let mut text = format!(
        "REGISTER_KERNEL_BUILDER(Name(\"{}\").Device(DEVICE_GPU)",
        op.name
    );
    let newest = op.attributes.iter().rev();
    let mut attributes: Vec<_> = newest.map(|it| &it.item).collect();
    attributes.dedup_by_key(|it| &it.name);
    let is_type = |it: &&&sp_ops::Attribute| it.ty.kind == AttributeKind::Type && !it.ty.is_list;
    for attribute in attributes.iter().filter(is_type) {
        let types: Vec<String> = match op.allowed_types(&attribute.name) {
            Some(types) => types
                .iter()
                .map(|(ty, _)| enumerator(*ty))
                .take(count)
                .collect(),
            None => ["DT_FLOAT", "DT_STRING"]
                .iter()
                .take(count)
                .map(|it| (*it).to_owned())
                .collect(),
        };
        if !types.is_empty() {
            write!(
                text,
                ".TypeConstraint(\"{}\", {{{}}})",
                attribute.name,
                types.join(", ")
            )
            .unwrap();
        }
    }
    for argument in op
        .inputs
        .iter()
        .chain(&op.outputs)
        .filter(|_| has_host_memory)
    {
        write!(text, ".HostMemory(\"{}\")", argument.item.name).unwrap();
    }
    text + ", Kernel);\n"
}

fn enumerator(ty: DataType) -> String {
    format!("DT_{}", ty.to_string().to_uppercase())
}

/// Returns the names of kernels that the macro rejects, each with its message.
fn rejected(text: &str) -> Vec<String> {
    let file = syn::parse_file(text).unwrap();
    let functions = file.items.into_iter().filter_map(|item| match item {
        Item::Fn(mut function) => {
            let kernel = |it: &syn::Attribute| it.path().is_ident("kernel");
            let position = function.attrs.iter().position(kernel)?;
            match function.attrs.remove(position).meta {
                Meta::List(list) => Some((list.tokens, function)),
                _ => None,
            }
        }
        _ => None,
    });
    let expand = |(arguments, function): (TokenStream, syn::ItemFn)| {
        let name = function.sig.ident.to_string();
        let text = sp_expand::kernel(arguments, quote::quote!(#function))
            .unwrap()
            .to_string();
        let message = text.split_once("compile_error !")?.1;
        Some(format!(
            "{name}: {}",
            message.chars().take(160).collect::<String>()
        ))
    };
    functions.filter_map(expand).collect()
}

#[track_caller]
fn check(count: usize, has_host_memory: bool, device: Option<&str>) {
    let names = sp_ops::names().filter_map(sp_ops::find);
    let text = names
        .map(|op| registration(&op, count, has_host_memory))
        .collect();
    let path = "all.cc".to_owned();
    let sources = [Source { path, text }];
    let options = Options {
        device: device.map(|it| syn::parse_str(it).unwrap()),
        device_type: None,
    };
    let found = scan(&sources);
    assert_eq!(found.unread, []);
    let plan = Plan::new(&found, &options);
    // A reference is one to a tensor of a type in Rust.
    let is_other = |it: &&String| !it.contains(": Ref(") && !it.contains("no identifier");
    assert_eq!(plan.omitted.values().find(is_other), None);
    let rejected = rejected(&print(&sources, &found, &plan, &options));
    assert_eq!(rejected, [""; 0]);
}

#[test]
fn skeletons_of_all_ops_for_one_type_are_kernels() {
    check(1, true, Some("crate::device::Myaccel"));
}

#[test]
fn skeletons_of_all_ops_for_several_types_are_kernels() {
    check(2, false, None);
}

#[test]
fn skeletons_of_all_ops_without_types_are_kernels() {
    check(0, true, None);
}
