//! Prints the IR as C declarations.

use std::collections::BTreeSet;
use std::fmt::Write;

use sp_ir::{Api, Item, Signature, Struct, Type, Value};

/// Returns a header with every type of `apis`, and every function whose types they declare.
pub fn print(apis: &[Api]) -> String {
    let mut out = String::from("#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n");
    let minor = apis[0].release.split('.').nth(1).unwrap_or_default();
    writeln!(out, "#define SP_MINOR {minor}").expect(TO_STRING);
    let items = || apis.iter().flat_map(|api| &api.items);
    let mut names = BTreeSet::new();
    for (name, item) in items() {
        if forward(&mut out, name, item) {
            names.insert(name.as_str());
        }
    }
    // A typedef comes after those that it uses.
    while let Some((name, line)) = items().find_map(|(name, item)| typedef(name, item, &names)) {
        out.push_str(&line);
        names.insert(name);
    }
    for (name, item) in items() {
        if let Item::Constant(constant) = item
            && let Value::Name(other) = &constant.value
        {
            writeln!(out, "#define {name} {other}").expect(TO_STRING);
        }
        if let Item::Struct(body) = item {
            for field in &body.fields {
                writeln!(out, "#define HAS_{name}_{} 1", field.name).expect(TO_STRING);
            }
        }
    }
    for (name, item) in items() {
        match item {
            Item::Struct(body) => structure(&mut out, name, body),
            Item::Function(function) if known(&function.signature, &names) => {
                writeln!(out, "{};", declaration(name, &function.signature)).expect(TO_STRING);
            }
            _ => {}
        }
    }
    out
}

const TO_STRING: &str = "a string takes all that is written";

/// Declares an item that needs no other type. Returns false for other items.
fn forward(out: &mut String, name: &str, item: &Item) -> bool {
    let line = match item {
        Item::Struct(_) => format!("typedef struct {name} {name};"),
        Item::Handle(handle) => {
            let star = if handle.pointer { "*" } else { "" };
            format!("typedef struct {name}_hidden {star}{name};")
        }
        Item::Enum(found) => {
            let variants: Vec<String> = found
                .variants
                .iter()
                .map(|variant| format!("{} = {}", variant.name, variant.value))
                .collect();
            format!("typedef enum {name} {{ {} }} {name};", variants.join(", "))
        }
        _ => return false,
    };
    writeln!(out, "{line}").expect(TO_STRING);
    true
}

/// Returns the typedef of an alias or callback that is not declared yet and whose types are.
fn typedef<'a>(name: &'a str, item: &Item, names: &BTreeSet<&str>) -> Option<(&'a str, String)> {
    let declared = match item {
        Item::Alias(alias) if alias.ty.named().is_none_or(|name| names.contains(name)) => {
            variable(&alias.ty, name)
        }
        Item::Callback(callback) if known(&callback.signature, names) => {
            declaration(&format!("(*{name})"), &callback.signature)
        }
        _ => return None,
    };
    (!names.contains(name)).then(|| (name, format!("typedef {declared};\n")))
}

/// Prints a struct's body, its `struct_size` as `NAME_SIZE`, and an assertion on its `sizeof`.
fn structure(out: &mut String, name: &str, body: &Struct) {
    let fields: Vec<String> = body
        .fields
        .iter()
        .map(|field| format!("  {};\n", variable(&field.ty, &field.name)))
        .collect();
    let size = body
        .struct_size
        .as_ref()
        .map_or(body.layout.size, |size| size.value);
    let sizeof = body.layout.size;
    write!(
        out,
        "struct {name} {{\n{}}};\nenum {{ {name}_SIZE = {size} }};\n\
         _Static_assert(sizeof({name}) == {sizeof}, \"{name}\");\n",
        fields.concat()
    )
    .expect(TO_STRING);
}

fn known(signature: &Signature, names: &BTreeSet<&str>) -> bool {
    let types = signature.params.iter().map(|param| &param.ty);
    let types = types.chain([&signature.ret]);
    types
        .filter_map(Type::named)
        .all(|name| names.contains(name))
}

/// Returns the declaration of a function.
pub fn declaration(name: &str, signature: &Signature) -> String {
    let params = signature.params.iter().map(|param| variable(&param.ty, ""));
    let params: Vec<String> = params.collect();
    let params = if params.is_empty() {
        "void".to_owned()
    } else {
        params.join(", ")
    };
    variable(&signature.ret, &format!("{name}({params})"))
}

/// Returns the declaration of a variable or parameter.
pub fn variable(ty: &Type, name: &str) -> String {
    match ty {
        Type::Void => format!("void {name}"),
        Type::Int { bits, signed } => {
            format!("{}int{bits}_t {name}", if *signed { "" } else { "u" })
        }
        Type::Float { bits: 32 } => format!("float {name}"),
        Type::Float { .. } => format!("double {name}"),
        Type::Bool => format!("bool {name}"),
        Type::Char => format!("char {name}"),
        Type::Size => format!("size_t {name}"),
        Type::Address { signed } => {
            format!("{}intptr_t {name}", if *signed { "" } else { "u" })
        }
        Type::Named(named) => format!("{named} {name}"),
        Type::Pointer {
            pointee,
            mutable: true,
        } => variable(pointee, &format!("*{name}")),
        Type::Pointer { pointee, .. } => match **pointee {
            Type::Pointer { .. } => variable(pointee, &format!("const *{name}")),
            _ => format!("const {}", variable(pointee, &format!("*{name}"))),
        },
        Type::Array { elem, len } => variable(elem, &format!("{name}[{len}]")),
        Type::Function(signature) => declaration(&format!("(*{name})"), signature),
    }
}
