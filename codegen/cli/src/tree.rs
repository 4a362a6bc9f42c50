//! An API as a tree for reading: each item with its members, sizes and facts.

use std::collections::BTreeMap;
use std::fmt::Write;

use sp_ir::{
    Api, Evidence, Field, Function, Item, Param, Signature, Stated, Struct, TargetDifference, Type,
};

/// Draws the whole API.
pub fn draw(api: &Api) -> String {
    let version = api.version.as_ref();
    let version = version.map_or(String::new(), |version| format!(", version {version}"));
    let mut out = format!("{} {}{version}\n", api.name, api.release_name());
    for (name, item) in &api.items {
        // Writing to a String does not fail.
        let _ = draw_item(&mut out, name, item);
    }
    for (triple, items) in &api.targets {
        let _ = draw_target(&mut out, triple, items);
    }
    out
}

/// What a target has otherwise.
fn draw_target(
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

fn draw_item(out: &mut String, name: &str, item: &Item) -> std::fmt::Result {
    match item {
        Item::Struct(item) => draw_struct(out, name, item),
        Item::Union(item) => {
            writeln!(out, "├─ union {name}  {} bytes", item.layout.size)?;
            item.fields
                .iter()
                .try_for_each(|field| draw_field(out, field))
        }
        Item::Enum(item) => {
            writeln!(out, "├─ enum {name}: {}", c_type(&item.repr))?;
            item.variants
                .iter()
                .try_for_each(|one| writeln!(out, "│  ├─ {} = {}", one.name, one.value))
        }
        Item::Handle(_) => writeln!(out, "├─ handle {name}"),
        Item::Alias(item) => writeln!(out, "├─ alias {name} = {}", c_type(&item.ty)),
        Item::Callback(item) => writeln!(out, "├─ callback {name}{}", signature(&item.signature)),
        Item::Function(item) => draw_function(out, name, item),
        Item::Constant(item) => writeln!(out, "├─ constant {name} = {:?}", item.value),
    }
}

fn draw_struct(out: &mut String, name: &str, item: &Struct) -> std::fmt::Result {
    write!(out, "├─ struct {name}  {} bytes", item.layout.size)?;
    if let Some(size) = &item.struct_size {
        write!(out, ", {} = {}", size.symbol, size.value)?;
    }
    fact(out, "filled by", &item.filled_by)?;
    writeln!(out)?;
    item.fields
        .iter()
        .try_for_each(|field| draw_field(out, field))
}

fn draw_field(out: &mut String, field: &Field) -> std::fmt::Result {
    write!(
        out,
        "│  ├─ {:>4} {}: {}",
        field.offset,
        field.name,
        c_type(&field.ty)
    )?;
    fact(out, "", &field.presence)?;
    fact(out, "", &field.direction)?;
    fact(out, "filled by", &field.filled_by)?;
    writeln!(out)
}

fn draw_function(out: &mut String, name: &str, item: &Function) -> std::fmt::Result {
    write!(out, "├─ fn {name}{}", signature(&item.signature))?;
    fact(out, "returns ownership", &item.signature.ret_transfer)?;
    fact(out, "exported by", &item.exported_by)?;
    writeln!(out)
}

fn fact<T: std::fmt::Debug>(
    out: &mut String,
    what: &str,
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
    let text = format!("{what} {value:?}").trim().to_lowercase();
    write!(out, "  [{text}: {evidence}]")
}

fn signature(signature: &Signature) -> String {
    let params: Vec<String> = signature.params.iter().map(param).collect();
    match signature.ret {
        Type::Void => format!("({})", params.join(", ")),
        ref ret => format!("({}) -> {}", params.join(", "), c_type(ret)),
    }
}

fn param(param: &Param) -> String {
    match param.name.as_str() {
        "" => c_type(&param.ty),
        name => format!("{name}: {}", c_type(&param.ty)),
    }
}

fn c_type(ty: &Type) -> String {
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
        } => format!("*mut {}", c_type(pointee)),
        Type::Pointer {
            pointee,
            mutable: false,
        } => format!("*const {}", c_type(pointee)),
        Type::Array { elem, len } => format!("[{}; {len}]", c_type(elem)),
        Type::Function(inner) => format!("fn{}", signature(inner)),
    }
}
