//! Checks of a snapshot's texts. They are used in generated code, Markdown, HTML and terminal output, so
//! names must be identifiers, and no text may have a control character.

use std::fmt;

use crate::{Api, Evidence, Field, Item, Loc, Param, Signature, Stated, Type, Value};

/// Error: a snapshot has a text that is not of the required form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidText {
    form: TextForm,
    text: String,
}

/// The form that a text must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TextForm {
    Identifier,
    Line,
    Path,
    Expression,
}

impl fmt::Display for InvalidText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rule = match self.form {
            TextForm::Identifier => "is not a C identifier",
            TextForm::Line => "has a control character",
            TextForm::Path => "is not the path of a Rust type",
            TextForm::Expression => "is not a default return value",
        };
        // Debug escapes control characters.
        write!(f, "{:?} {rule}", self.text)
    }
}

type CheckResult = Result<(), InvalidText>;

impl TextForm {
    fn check(self, text: &str) -> CheckResult {
        let is_valid = match self {
            Self::Identifier => is_identifier(text),
            Self::Line => !text.chars().any(is_unprintable),
            Self::Path => text.chars().all(|it| is_word(it) || it == ':'),
            Self::Expression => text.chars().all(|it| is_word(it) || ":().- ".contains(it)),
        };
        match is_valid {
            true => Ok(()),
            false => Err(InvalidText {
                form: self,
                text: text.chars().take(80).collect(),
            }),
        }
    }
}

fn is_word(char: char) -> bool {
    char.is_ascii_alphanumeric() || char == '_'
}

fn is_identifier(text: &str) -> bool {
    text.chars().all(is_word) && text.starts_with(|first: char| !first.is_ascii_digit())
}

/// Returns true for control characters, and for those that change the direction of the text after them.
fn is_unprintable(char: char) -> bool {
    char.is_control()
        || matches!(char, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Checks every text of `api`.
///
/// # Errors
/// Returns an error with the first text that is not of the required form.
pub fn check(api: &Api) -> CheckResult {
    let lines = [
        Some(&api.name),
        Some(&api.release),
        api.preview.as_ref(),
        api.version.as_ref(),
    ];
    lines
        .into_iter()
        .flatten()
        .try_for_each(|it| TextForm::Line.check(it))?;
    check_identifier(&api.name)?;
    for (name, item) in &api.items {
        check_identifier(name)?;
        check_item(item)?;
    }
    for (name, owner) in &api.imports {
        check_identifier(name)?;
        check_identifier(owner)?;
    }
    for (triple, items) in &api.targets {
        TextForm::Line.check(triple)?;
        items.keys().try_for_each(|it| check_identifier(it))?;
    }
    Ok(())
}

fn check_identifier(text: &str) -> CheckResult {
    TextForm::Identifier.check(text)
}

/// Checks a name that may be empty: that of a parameter, or of a member that is an unnamed struct or union.
fn check_optional_identifier(text: &str) -> CheckResult {
    match text {
        "" => Ok(()),
        text => check_identifier(text),
    }
}

fn check_item(item: &Item) -> CheckResult {
    check_loc(item.loc())?;
    match item {
        Item::Struct(item) => {
            check_line(&item.doc)?;
            check_stated(&item.filled_by)?;
            check_stated(&item.discriminator)?;
            if let Some(receiver) = check_stated(&item.receiver)? {
                check_identifier(&receiver.owner)?;
                check_identifier(&receiver.field)?;
            }
            check_stated(&item.author_trait)?.map_or(Ok(()), |it| check_identifier(it))?;
            if let Some(size) = &item.struct_size {
                check_identifier(&size.symbol)?;
                check_identifier(&size.last_field)?;
            }
            item.fields.iter().try_for_each(check_field)
        }
        Item::Union(item) => {
            check_line(&item.doc)?;
            check_stated(&item.discriminator)?;
            item.fields.iter().try_for_each(check_field)
        }
        Item::Enum(item) => {
            check_line(&item.doc)?;
            check_type(&item.repr)?;
            item.variants
                .iter()
                .try_for_each(|it| check_identifier(&it.name))
        }
        Item::Handle(item) => {
            check_line(&item.doc)?;
            item.rust
                .as_deref()
                .map_or(Ok(()), |it| TextForm::Path.check(it))
        }
        Item::Alias(item) => {
            check_line(&item.doc)?;
            check_type(&item.ty)
        }
        Item::Callback(item) => {
            check_line(&item.doc)?;
            check_signature(&item.signature)
        }
        Item::Function(item) => {
            check_line(&item.doc)?;
            check_identifier(&item.symbol)?;
            check_stated(&item.exported_by)?;
            check_stated(&item.instead)?.map_or(Ok(()), |it| TextForm::Line.check(it))?;
            check_signature(&item.signature)
        }
        Item::Constant(item) => {
            check_line(&item.doc)?;
            match &item.value {
                Value::Name(name) => check_identifier(name),
                // A text may have any character: it is escaped wherever it is printed.
                Value::Int(_) | Value::Text(_) => Ok(()),
            }
        }
    }
}

fn check_field(field: &Field) -> CheckResult {
    check_optional_identifier(&field.name)?;
    check_line(&field.doc)?;
    check_line(&field.section)?;
    check_loc(&field.loc)?;
    check_stated(&field.filled_by)?;
    check_stated(&field.direction)?;
    check_stated(&field.presence)?;
    let default = check_stated(&field.neutral)?;
    default.map_or(Ok(()), |it| TextForm::Expression.check(it))?;
    check_type(&field.ty)
}

fn check_signature(signature: &Signature) -> CheckResult {
    check_stated(&signature.ret_transfer)?;
    check_type(&signature.ret)?;
    signature.params.iter().try_for_each(check_param)
}

fn check_param(param: &Param) -> CheckResult {
    check_optional_identifier(&param.name)?;
    check_stated(&param.direction)?;
    check_stated(&param.transfer)?;
    check_stated(&param.scope)?;
    check_type(&param.ty)
}

fn check_type(ty: &Type) -> CheckResult {
    match ty {
        Type::Named(name) => check_identifier(name),
        Type::Pointer { pointee, .. } => check_type(pointee),
        Type::Array { elem, .. } => check_type(elem),
        Type::Function(signature) => check_signature(signature),
        _ => Ok(()),
    }
}

/// Checks the evidence and returns the value.
fn check_stated<T>(stated: &Option<Stated<T>>) -> Result<Option<&T>, InvalidText> {
    let Some(stated) = stated else {
        return Ok(None);
    };
    match &stated.evidence {
        Evidence::Comment(loc) => check_loc(loc)?,
        Evidence::Notes(text) => TextForm::Line.check(text)?,
        Evidence::Prefix | Evidence::Library => {}
    }
    Ok(Some(&stated.value))
}

fn check_loc(loc: &Loc) -> CheckResult {
    TextForm::Line.check(&loc.file)
}

fn check_line(text: &Option<String>) -> CheckResult {
    text.as_deref()
        .map_or(Ok(()), |it| TextForm::Line.check(it))
}

#[cfg(test)]
mod tests {
    use crate::Api;

    const SNAPSHOT: &str = r#"{"schema":3,"name":"demo","release":"2.21","items":{
        "SP_Demo":{"kind":"struct","doc":"A demo.","fields":[{"name":"size","type":"size","offset":0,"size":8,
            "neutral":{"value":"0","evidence":"prefix"},"section":"CALLS","loc":"demo.h:2"}],
            "layout":{"size":8,"align":8},"loc":"demo.h:1"},
        "TEXT":{"kind":"constant","value":{"text":"a\nb"},"loc":"demo.h:3"},
        "run":{"kind":"function","signature":{"params":[{"name":"it","type":"SP_Demo"}],"ret":"void"},
            "symbol":"run_v2","loc":"demo.h:4"}}}"#;

    #[test]
    fn accepts_texts_with_escapes_in_constants_only() {
        Api::from_json(SNAPSHOT).unwrap();
    }

    #[test]
    fn rejects_each_name_and_text_that_could_break_out() {
        let bad = [
            ("\"demo\"", "\"de mo\""),
            ("\"SP_Demo\":", "\"SP_Demo\\n\":"),
            ("\"SP_Demo\":", "\"1SP\":"),
            ("\"SP_Demo\"}", "\"SP_Demo`; }\"}"),
            ("A demo.", "\\u001b[31mA demo."),
            ("A demo.", "\\u202eA demo."),
            ("\"size\",\"type\"", "\"si-ze\",\"type\""),
            ("{\"value\":\"0\"", "{\"value\":\"{panic!()}\""),
            ("CALLS", "CALLS\\n# x"),
            ("demo.h:2", "de\\u0007mo.h:2"),
            ("\"it\"", "\"it) {\""),
            ("run_v2", "run v2"),
            ("\"2.21\"", "\"2.21\\n\""),
        ];
        for (good, bad) in bad {
            let text = SNAPSHOT.replacen(good, bad, 1);
            assert_ne!(text, SNAPSHOT, "{good} is not in the snapshot");
            let error = Api::from_json(&text).expect_err(bad).to_string();
            assert!(!error.chars().any(char::is_control), "{bad}: {error:?}");
            let reasons = [" is not ", "control character"];
            assert!(reasons.iter().any(|it| error.contains(it)), "{error}");
        }
    }
}
