//! The header of an API, printed from its IR.

use std::fmt::Write;

use sp_ir::{Api, Item, Signature, Type};

/// Returns the C header that declares the items of `api`.
pub fn header(api: &Api) -> String {
    let mut text =
        String::from("#include <stdint.h>\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n");
    for (name, item) in &api.items {
        if let Some(declaration) = declaration(name, item) {
            writeln!(text, "{declaration};").expect("writing to a string cannot fail");
        }
    }
    text + "#ifdef __cplusplus\n}\n#endif\n"
}

fn declaration(name: &str, item: &Item) -> Option<String> {
    Some(match item {
        Item::Struct(item) => {
            let members = item
                .fields
                .iter()
                .map(|field| variable(&field.ty, &field.name) + ";\n");
            let members: String = members.collect();
            format!("typedef struct {name} {{\n{members}}} {name}")
        }
        Item::Enum(item) => {
            let variants = item.variants.iter();
            let variants = variants.map(|variant| format!("{} = {}", variant.name, variant.value));
            let variants: Vec<_> = variants.collect();
            format!("typedef enum {name} {{ {} }} {name}", variants.join(", "))
        }
        Item::Handle(item) => {
            let star = if item.pointer { "*" } else { "" };
            format!("typedef struct {name}_st{star} {name}")
        }
        Item::Alias(item) => format!("typedef {}", variable(&item.ty, name)),
        Item::Callback(item) => format!(
            "typedef {}",
            function(&item.signature, &format!("(*{name})"))
        ),
        Item::Function(item) if !item.inline => {
            format!("TF_CAPI_EXPORT extern {}", function(&item.signature, name))
        }
        _ => return None,
    })
}

fn function(signature: &Signature, name: &str) -> String {
    let params = signature.params.iter();
    let params = params.map(|param| variable(&param.ty, &param.name));
    let params = params.collect::<Vec<_>>().join(", ");
    variable(&signature.ret, &format!("{name}({params})"))
}

fn variable(ty: &Type, name: &str) -> String {
    match ty {
        Type::Pointer { pointee, mutable } => {
            let qualifier = if *mutable { "" } else { "const " };
            format!("{qualifier}{}", variable(pointee, &format!("*{name}")))
        }
        Type::Array { elem, len } => variable(elem, &format!("{name}[{len}]")),
        Type::Function(signature) => function(signature, &format!("(*{name})")),
        simple => format!("{} {name}", simple.c_name().unwrap_or_default()),
    }
}
