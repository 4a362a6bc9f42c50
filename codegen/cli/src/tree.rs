//! Formats an API as a text tree: items with members, sizes and contract facts.

use std::collections::BTreeMap;
use std::fmt::Write;

use sp_ir::{
    Api, Evidence, Field, Function, Item, Param, Signature, Stated, Struct, TargetDifference, Type,
};

/// Formats an API.
pub fn format_api(api: &Api) -> String {
    let version = api.version.as_ref();
    let version = version.map_or(String::new(), |version| format!(", version {version}"));
    let mut out = format!("{} {}{version}\n", api.name, api.release_name());
    for (name, item) in &api.items {
        // Writing to a String does not fail.
        let _ = write_item(&mut out, name, item);
    }
    for (triple, items) in &api.targets {
        let _ = write_target(&mut out, triple, items);
    }
    out
}

/// Formats the layouts and values that differ on a target.
fn write_target(
    out: &mut String,
    triple: &str,
    items: &BTreeMap<String, TargetDifference>,
) -> std::fmt::Result {
    writeln!(out, "├─ on {triple}")?;
    for (name, differs) in items {
        write!(out, "│  ├─ {name}")?;
        if let Some(layout) = differs.layout {
            write!(out, "  {} bytes", layout.size)?;
        }
        if let Some(size) = differs.struct_size {
            write!(out, ", struct_size {size}")?;
        }
        if let Some(value) = differs.value {
            write!(out, " = {value}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn write_item(out: &mut String, name: &str, item: &Item) -> std::fmt::Result {
    match item {
        Item::Struct(item) => write_struct(out, name, item),
        Item::Union(item) => {
            writeln!(out, "├─ union {name}  {} bytes", item.layout.size)?;
            item.fields
                .iter()
                .try_for_each(|field| write_field(out, field))
        }
        Item::Enum(item) => {
            writeln!(out, "├─ enum {name}: {}", format_type(&item.repr))?;
            item.variants
                .iter()
                .try_for_each(|variant| writeln!(out, "│  ├─ {} = {}", variant.name, variant.value))
        }
        Item::Handle(_) => writeln!(out, "├─ handle {name}"),
        Item::Alias(item) => writeln!(out, "├─ alias {name} = {}", format_type(&item.ty)),
        Item::Callback(item) => writeln!(
            out,
            "├─ callback {name}{}",
            format_signature(&item.signature)
        ),
        Item::Function(item) => write_function(out, name, item),
        Item::Constant(item) => writeln!(out, "├─ constant {name} = {:?}", item.value),
    }
}

fn write_struct(out: &mut String, name: &str, item: &Struct) -> std::fmt::Result {
    write!(out, "├─ struct {name}  {} bytes", item.layout.size)?;
    if let Some(size) = &item.struct_size {
        write!(out, ", {} = {}", size.symbol, size.value)?;
    }
    write_fact(out, "filled by", &item.filled_by)?;
    writeln!(out)?;
    item.fields
        .iter()
        .try_for_each(|field| write_field(out, field))
}

fn write_field(out: &mut String, field: &Field) -> std::fmt::Result {
    write!(
        out,
        "│  ├─ {:>4} {}: {}",
        field.offset,
        field.name,
        format_type(&field.ty)
    )?;
    write_fact(out, "", &field.presence)?;
    write_fact(out, "", &field.direction)?;
    write_fact(out, "filled by", &field.filled_by)?;
    writeln!(out)
}

fn write_function(out: &mut String, name: &str, item: &Function) -> std::fmt::Result {
    write!(out, "├─ fn {name}{}", format_signature(&item.signature))?;
    write_fact(out, "returns ownership", &item.signature.ret_transfer)?;
    write_fact(out, "exported by", &item.exported_by)?;
    writeln!(out)
}

fn write_fact<T: std::fmt::Debug>(
    out: &mut String,
    label: &str,
    fact: &Option<Stated<T>>,
) -> std::fmt::Result {
    let Some(Stated {
        value, evidence, ..
    }) = fact
    else {
        return Ok(());
    };
    let evidence = match evidence {
        Evidence::Prefix => "prefix".to_string(),
        Evidence::Comment(loc) => format!("line {}", loc.line),
        Evidence::Notes(_) => "notes".to_string(),
        Evidence::Library => "library".to_string(),
    };
    let text = format!("{label} {value:?}").trim().to_lowercase();
    write!(out, "  [{text}: {evidence}]")
}

fn format_signature(signature: &Signature) -> String {
    let params: Vec<String> = signature.params.iter().map(format_param).collect();
    match signature.ret {
        Type::Void => format!("({})", params.join(", ")),
        ref ret => format!("({}) -> {}", params.join(", "), format_type(ret)),
    }
}

fn format_param(param: &Param) -> String {
    match param.name.as_str() {
        "" => format_type(&param.ty),
        name => format!("{name}: {}", format_type(&param.ty)),
    }
}

fn format_type(ty: &Type) -> String {
    match ty {
        Type::Void => "void".into(),
        Type::Int { bits, signed: true } => format!("i{bits}"),
        Type::Int {
            bits,
            signed: false,
        } => format!("u{bits}"),
        Type::Float { bits } => format!("f{bits}"),
        Type::Bool => "bool".into(),
        Type::Char => "char".into(),
        Type::Size => "size".into(),
        Type::Address { signed: true } => "isize".into(),
        Type::Address { signed: false } => "usize".into(),
        Type::Named(name) => name.clone(),
        Type::Pointer {
            pointee,
            mutable: true,
        } => format!("*mut {}", format_type(pointee)),
        Type::Pointer {
            pointee,
            mutable: false,
        } => format!("*const {}", format_type(pointee)),
        Type::Array { elem, len } => format!("[{}; {len}]", format_type(elem)),
        Type::Function(inner) => format!("fn{}", format_signature(inner)),
    }
}
