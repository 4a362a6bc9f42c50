//! Checks of a snapshot's texts and sizes. Texts are used in generated code, Markdown, HTML and terminal output, so
//! names must be identifiers, and no text may have a control character. Sizes and offsets are added and multiplied,
//! so none may be larger than [`LARGEST`].

use std::fmt;

use crate::{
    Api, Evidence, Field, Item, Layout, Loc, Param, Signature, Stated, Struct, TargetDifference,
    Type, Value,
};

/// The largest size, offset or length of an array.
const LARGEST: u64 = u32::MAX as u64;

/// The largest number of parameters. C guarantees 127, and comparing two lists takes the product of their lengths.
const MOST_PARAMETERS: usize = 1024;

/// Error: a snapshot has a text or size that is not allowed.
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
    Size,
    Alignment,
    Parameters,
}

impl fmt::Display for InvalidText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rule = match self.form {
            TextForm::Identifier => "is not a C identifier",
            TextForm::Line => "has a control character",
            TextForm::Path => "is not the path of a Rust type",
            TextForm::Expression => "is not a default return value",
            TextForm::Size => "is not a size below 4 GiB",
            TextForm::Alignment => "is not the alignment of a C type",
            TextForm::Parameters => "is more parameters than a function of C has",
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
            Self::Size | Self::Alignment | Self::Parameters => false,
        };
        match is_valid {
            true => Ok(()),
            false => Err(self.error(text)),
        }
    }

    fn error(self, text: &str) -> InvalidText {
        InvalidText {
            form: self,
            text: text.chars().take(80).collect(),
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
pub(crate) fn is_unprintable(char: char) -> bool {
    char.is_control()
        || matches!(char, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Checks every text of `api`.
///
/// # Errors
/// Returns an error with the first text or size that is not allowed.
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
        for (name, difference) in items {
            check_identifier(name)?;
            check_difference(difference)?;
        }
    }
    Ok(())
}

fn check_size(size: u64) -> CheckResult {
    match size <= LARGEST {
        true => Ok(()),
        false => Err(TextForm::Size.error(&size.to_string())),
    }
}

fn check_layout(layout: &Layout) -> CheckResult {
    check_size(layout.size)?;
    match layout.align.is_power_of_two() && layout.align <= LARGEST {
        true => Ok(()),
        false => Err(TextForm::Alignment.error(&layout.align.to_string())),
    }
}

fn check_difference(difference: &TargetDifference) -> CheckResult {
    difference.layout.as_ref().map_or(Ok(()), check_layout)?;
    let sizes = difference.offsets.iter().chain(&difference.struct_size);
    sizes.copied().try_for_each(check_size)
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
        Item::Struct(item) => check_struct(item),
        Item::Union(item) => {
            check_line(&item.doc)?;
            check_layout(&item.layout)?;
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

fn check_struct(item: &Struct) -> CheckResult {
    check_line(&item.doc)?;
    check_layout(&item.layout)?;
    check_stated(&item.filled_by)?;
    check_stated(&item.discriminator)?;
    if let Some(receiver) = check_stated(&item.receiver)? {
        check_identifier(&receiver.owner)?;
        check_identifier(&receiver.field)?;
    }
    check_stated(&item.author_trait)?.map_or(Ok(()), |it| check_identifier(it))?;
    if let Some(stated) = &item.struct_size {
        check_identifier(&stated.symbol)?;
        check_identifier(&stated.last_field)?;
        check_size(stated.value)?;
    }
    item.fields.iter().try_for_each(check_field)
}

fn check_field(field: &Field) -> CheckResult {
    check_size(field.offset)?;
    check_size(field.size)?;
    check_optional_identifier(&field.name)?;
    check_line(&field.doc)?;
    check_line(&field.section)?;
    check_loc(&field.loc)?;
    check_stated(&field.filled_by)?;
    check_stated(&field.direction)?;
    check_stated(&field.presence)?;
    let default = check_stated(&field.default_return)?;
    default.map_or(Ok(()), |it| TextForm::Expression.check(it))?;
    check_type(&field.ty)
}

fn check_signature(signature: &Signature) -> CheckResult {
    check_stated(&signature.ret_transfer)?;
    check_type(&signature.ret)?;
    signature
        .convention
        .iter()
        .try_for_each(|it| check_identifier(it))?;
    let count = signature.params.len();
    if count > MOST_PARAMETERS {
        return Err(TextForm::Parameters.error(&count.to_string()));
    }
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
        Type::Array { elem, len } => {
            check_size(*len)?;
            check_type(elem)
        }
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

    const SNAPSHOT: &str = r#"{"schema":4,"name":"demo","release":"2.21","items":{
        "SP_Demo":{"kind":"struct","doc":"A demo.","fields":[{"name":"size","type":"size","offset":0,"size":8,
            "default_return":{"value":"0","evidence":"prefix"},"section":"CALLS","loc":"demo.h:2"}],
            "layout":{"size":8,"align":8},"loc":"demo.h:1"},
        "TEXT":{"kind":"constant","value":{"text":"a\nb"},"loc":"demo.h:3"},
        "run":{"kind":"function","signature":{"params":[{"name":"it","type":"SP_Demo"}],"ret":"void"},
            "symbol":"run_v2","loc":"demo.h:4"}}}"#;

    #[test]
    fn accepts_texts_with_escapes_in_constants_only() {
        Api::from_json(SNAPSHOT).unwrap();
    }

    #[test]
    fn rejects_unsafe_names_and_texts() {
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
            ("\"offset\":0", "\"offset\":18446744073709551615"),
            ("\"size\":8,\"align\"", "\"size\":4294967296,\"align\""),
            ("\"align\":8", "\"align\":0"),
            ("\"type\":\"size\"", "\"type\":\"size[4294967296]\""),
            ("\"kind\":\"function\"", "\"kind\":\"\u{202e}\""),
        ];
        for (good, bad) in bad {
            let text = SNAPSHOT.replacen(good, bad, 1);
            assert_ne!(text, SNAPSHOT, "{good} is not in the snapshot");
            let error = Api::from_json(&text).expect_err(bad).to_string();
            assert!(!error.chars().any(char::is_control), "{bad}: {error:?}");
            assert!(!error.contains('\u{202e}'), "{bad}: {error:?}");
            let reasons = [
                " is not ",
                " is no C type",
                "control character",
                "unknown variant",
            ];
            assert!(reasons.iter().any(|it| error.contains(it)), "{error}");
        }
    }
}
