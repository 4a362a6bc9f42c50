//! Prints the IR of PJRT as a header in C, so that plugin and host share only the IR.

use std::collections::BTreeSet;
use std::fmt::Write;

use sp_ir::{Api, Item, Type, Value};

use crate::header::{declaration, variable};

/// Returns a header with the types of the API. Those of XLA's own layouts are not used by plugins.
pub fn print(api: &Api) -> String {
    let mut out = String::from("#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n");
    let is_own =
        |(name, _): &(&String, &Item)| name.starts_with("PJRT_") || name.starts_with("PLUGIN_");
    let items = || api.items.iter().filter(is_own);
    items().for_each(|(name, item)| forward(&mut out, name, item));
    for (name, item) in items() {
        if let Item::Callback(callback) = item {
            let line = declaration(&format!("(*{name})"), &callback.signature);
            writeln!(out, "typedef {line};").expect(TO_STRING);
        }
    }
    let mut complete = BTreeSet::new();
    while let Some((name, item)) = items()
        .find(|(name, item)| !complete.contains(name.as_str()) && embeds_only(item, &complete))
    {
        body(&mut out, name, item);
        complete.insert(name.as_str());
    }
    out
}

const TO_STRING: &str = "a string takes all that is written";

/// Declares what needs no other type. The other functions of a header are used through the table, and structs of other headers by
/// pointers.
fn forward(out: &mut String, name: &str, item: &Item) {
    let line = match item {
        Item::Struct(_) => format!("typedef struct {name} {name};"),
        Item::Union(_) => format!("typedef union {name} {name};"),
        Item::Handle(_) => format!("typedef struct {name} {name};"),
        Item::Enum(found) => {
            let variants = found.variants.iter();
            let variants: Vec<String> = variants
                .map(|it| format!("{} = {}", it.name, it.value))
                .collect();
            format!("typedef enum {name} {{ {} }} {name};", variants.join(", "))
        }
        Item::Constant(constant) => match constant.value {
            Value::Int(value) => format!("#define {name} {value}"),
            _ => return,
        },
        _ => return,
    };
    writeln!(out, "{line}").expect(TO_STRING);
}

/// Returns true for a struct or union whose members are complete types.
fn embeds_only(item: &Item, complete: &BTreeSet<&str>) -> bool {
    let Some(fields) = item.fields() else {
        return false;
    };
    let mut types = fields.iter().map(|field| match &field.ty {
        Type::Array { elem, .. } => elem,
        other => other,
    });
    types.all(|ty| match ty {
        Type::Named(name) => {
            let is_body = name.ends_with("__anonymous") || BODIES.contains(&name.as_str());
            !is_body || complete.contains(name.as_str())
        }
        _ => true,
    })
}

/// Structs that others embed.
const BODIES: [&str; 6] = [
    "PJRT_Api_Version",
    "PJRT_Buffer_MemoryLayout",
    "PJRT_Buffer_MemoryLayout_Strides",
    "PJRT_Buffer_MemoryLayout_Tiled",
    "PJRT_DeviceEvent",
    "PJRT_Extension_Base",
];

/// Prints a body, its `struct_size` as `NAME_SIZE`, a macro for each field of the table, and an assertion on its size.
fn body(out: &mut String, name: &str, item: &Item) {
    let fields = item.fields().unwrap_or_default();
    let size = item.layout().map_or(0, |layout| layout.size);
    let kind = match item {
        Item::Union(_) => "union",
        _ => "struct",
    };
    let lines = fields
        .iter()
        .map(|it| format!("  {};\n", variable(&it.ty, &it.name)));
    let lines: String = lines.collect();
    let struct_size = item.as_struct().and_then(|it| it.struct_size.as_ref());
    let unpadded = struct_size.map_or(size, |it| it.value);
    write!(
        out,
        "{kind} {name} {{\n{lines}}};\nenum {{ {name}_SIZE = {unpadded} }};\n\
         _Static_assert(sizeof({name}) == {size}, \"{name}\");\n"
    )
    .expect(TO_STRING);
    if name == "PJRT_Api" {
        for field in fields {
            writeln!(out, "#define HAS_{} 1", field.name).expect(TO_STRING);
        }
    }
}
