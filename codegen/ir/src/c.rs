//! Types and signatures as a C programmer writes them.

use crate::{Item, Param, Signature, Type, Value};

/// A type: `const char*`, `void (*)(size_t)`.
pub fn spell(ty: &Type) -> String {
    match ty {
        Type::Pointer { pointee, mutable } => match (&**pointee, mutable) {
            (_, true) => format!("{}*", spell(pointee)),
            (Type::Pointer { .. }, false) => format!("{} const*", spell(pointee)),
            (_, false) => format!("const {}*", spell(pointee)),
        },
        Type::Array { elem, len } => format!("{}[{len}]", spell(elem)),
        Type::Function(inner) => declare("(*)", inner),
        simple => simple.c_name().unwrap_or_default(),
    }
}

/// A function of that name: `void run(size_t count)`.
pub fn declare(name: &str, signature: &Signature) -> String {
    let params: Vec<String> = signature.params.iter().map(parameter).collect();
    let params = match params.is_empty() {
        true => "void".into(),
        false => params.join(", "),
    };
    let convention = attribute(signature);
    format!("{convention}{} {name}({params})", spell(&signature.ret))
}

/// Returns the attribute of a calling convention other than C's, with a space behind it.
pub(crate) fn attribute(signature: &Signature) -> String {
    let convention = signature.convention.as_ref();
    convention.map_or_else(String::new, |it| format!("__attribute__(({it})) "))
}

/// The same, with a line for each parameter where it gets long.
pub fn broken(name: &str, signature: &Signature) -> String {
    const WIDTH: usize = 90;
    let whole = declare(name, signature);
    if whole.chars().count() <= WIDTH || signature.params.is_empty() {
        return whole;
    }
    let params: Vec<String> = signature.params.iter().map(parameter).collect();
    let ret = attribute(signature) + &spell(&signature.ret);
    format!("{ret} {name}(\n    {})", params.join(",\n    "))
}

/// A parameter: `const char* name`.
pub fn parameter(param: &Param) -> String {
    member(&param.name, &param.ty)
}

/// A member or parameter of that name: `void (*free)(void* data)`, `char name[8]`.
pub fn member(name: &str, ty: &Type) -> String {
    match ty {
        Type::Function(inner) => declare(&format!("(*{name})"), inner),
        Type::Array { elem, len } => member(&format!("{name}[{len}]"), elem),
        ty => format!("{} {name}", spell(ty)).trim_end().into(),
    }
}

/// A declaration on one line, without what stands in braces.
pub fn item(name: &str, item: &Item) -> String {
    match item {
        Item::Struct(_) => format!("struct {name}"),
        Item::Union(_) => format!("union {name}"),
        Item::Enum(_) => format!("enum {name}"),
        Item::Handle(one) if one.pointer => format!("typedef struct {name}_st* {name}"),
        Item::Handle(_) => format!("typedef struct {name} {name}"),
        Item::Alias(alias) => format!("typedef {}", member(name, &alias.ty)),
        Item::Callback(one) => {
            format!("typedef {}", declare(&format!("(*{name})"), &one.signature))
        }
        Item::Function(one) => declare(name, &one.signature),
        Item::Constant(one) => match &one.value {
            Value::Int(value) => format!("{name} = {value}"),
            Value::Text(text) => format!("{name} = {}", string_literal(text)),
            Value::Name(other) => format!("{name} = {other}"),
        },
    }
}

/// Returns `text` as a C string literal in ASCII.
pub fn string_literal(text: &str) -> String {
    let mut literal = String::from("\"");
    let mut is_after_question_mark = false;
    for byte in text.bytes() {
        match byte {
            b'\n' => literal += "\\n",
            b'\t' => literal += "\\t",
            b'"' | b'\\' => literal.extend(['\\', char::from(byte)]),
            // Two in a row may begin a trigraph.
            b'?' if is_after_question_mark => literal += "\\?",
            b' '..=b'~' => literal.push(char::from(byte)),
            // Always three digits, so that a digit may follow.
            _ => literal += &format!("\\{byte:03o}"),
        }
        is_after_question_mark = byte == b'?';
    }
    literal + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn string_literals_are_escaped_as_c_does() {
        let literal = string_literal("a\n\t\"\\ ??= é \u{1b}1\0");
        assert_eq!(literal, r#""a\n\t\"\\ ?\?= \303\251 \0331\000""#);
    }

    #[test]
    fn spells_pointers_and_functions_as_c() {
        let text = Type::pointer(Type::Char, false);
        assert_eq!(spell(&text), "const char*");
        let expected = "const char* const*";
        assert_eq!(spell(&Type::pointer(text.clone(), false)), expected);
        let param = Param::new("text", text);
        let signature = Signature::new(vec![param], Type::Void);
        assert_eq!(declare("say", &signature), "void say(const char* text)");
        let callback = Type::Function(Box::new(signature));
        assert_eq!(spell(&callback), "void (*)(const char* text)");
    }
}
