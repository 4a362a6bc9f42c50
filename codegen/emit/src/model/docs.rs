//! Docs of structs, unions and their members: those of the notes, or texts made from the facts.

use sp_ir::{Discriminator, Field, Item, Presence, Side, Stated, Struct, Type, Union};

/// Returns the doc of a struct.
pub fn struct_doc(item: &Struct) -> String {
    if let Some(doc) = &item.doc {
        return doc.clone();
    }
    let filler = match &item.filled_by {
        Some(by) => format!("Filled by {}", side_name(by.value)),
        None => "A struct".into(),
    };
    let bytes = item.layout.size;
    match &item.struct_size {
        Some(size) => format!(
            "{filler}; {bytes} bytes, `{}` is {}.",
            size.symbol, size.value
        ),
        None => format!("{filler}; {bytes} bytes."),
    }
}

/// Returns the doc of a union.
pub fn union_doc(item: &Union) -> String {
    let made = || format!("A union of {} bytes.", item.layout.size);
    item.doc.clone().unwrap_or_else(made)
}

/// Adds a paragraph to `doc` if only the running release distinguishes the layouts of the item.
pub fn with_discriminator_note(doc: &str, stated: &Option<Stated<Discriminator>>) -> String {
    match stated.as_ref().map(|it| it.value) {
        Some(Discriminator::Release) => format!(
            "{doc}\n\nThe layout differs between releases, and only the running release identifies it."
        ),
        None => doc.to_owned(),
    }
}

/// Returns the doc of a field.
pub fn field_doc(field: &Field) -> String {
    if let Some(doc) = &field.doc {
        return doc.clone();
    }
    if field.name == "struct_size" {
        return "Size of the struct in bytes, as far as the side that allocated it knows its fields."
            .into();
    }
    let kind = match &field.ty {
        Type::Function(_) => "Slot",
        Type::Pointer { .. } => "Pointer",
        _ => "Value",
    };
    let presence = match presence(field) {
        Presence::Required => ", required",
        Presence::Optional => ", optional",
        Presence::Unstated => "",
    };
    let by = field
        .filled_by
        .as_ref()
        .map(|by| format!(", filled by {}", side_name(by.value)));
    format!(
        "{kind} at byte {}{presence}{}.",
        field.offset,
        by.unwrap_or_default()
    )
}

/// Returns the presence of a field, or `Unstated` if no fact states it.
pub fn presence(field: &Field) -> Presence {
    let stated = field.presence.as_ref();
    stated.map_or(Presence::Unstated, |it| it.value)
}

fn side_name(side: Side) -> &'static str {
    match side {
        Side::Core => "TensorFlow",
        Side::Plugin => "the plugin",
    }
}

/// Returns the names of functions that TensorFlow's headers define inline, among `items`. They have no symbol.
pub fn inline_functions(items: &sp_ir::Items) -> Vec<&str> {
    let is_inline = |item: &Item| matches!(item, Item::Function(it) if it.inline);
    let functions = items.iter().filter(|(_, item)| is_inline(item));
    functions.map(|(name, _)| name.as_str()).collect()
}
