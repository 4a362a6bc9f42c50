//! The help of errors in a contract, by the kind of the error.

use std::collections::BTreeSet;

use sp_data::suggest::{find_close_names, with_suggestion};
use sp_ir::c;

use super::role::WORDS;
use crate::model::{Function, Model};
use crate::status::{self, Status};

const PAGE: &str = "codegen/docs/driver.md of sp-gen's repository";

/// Returns the roles of parameters.
pub fn roles() -> String {
    format!(
        "the roles of a parameter are `address`, `null`, `out`, `new`, `new NAME`, `in`, `inout`, `optional`, `string`, `text SIZE`, \
        `slice COUNT`, `source SIZE`, `target SIZE` and `function DATA`; {PAGE} explains them"
    )
}

/// Returns the help of a role that a parameter of the function cannot have: the lengths if it names no parameter, or the roles
/// of parameters, preceded by the one that is close to `text`. `numbers` are the parameters that are numbers.
pub fn role(function: &Function, text: &str, numbers: &[&str]) -> String {
    let (word, operand) = text.split_once(' ').unwrap_or((text, ""));
    let mut params = function.signature.params.iter();
    match WORDS.contains(&word) {
        true if OF_LENGTHS.contains(&word) && !params.any(|it| it.name == operand) => {
            with_suggestion(operand, numbers.iter().copied(), lengths(function, numbers))
        }
        true => roles(),
        false => with_suggestion(word, WORDS, roles()),
    }
}

/// The roles that name the parameter of a length.
const OF_LENGTHS: [&str; 4] = ["text", "slice", "source", "target"];

/// Returns the parameters of a function that can be a length.
fn lengths(function: &Function, numbers: &[&str]) -> String {
    let name = &function.name;
    let quoted: Vec<String> = numbers.iter().map(|it| format!("`{it}`")).collect();
    let text = match &quoted[..] {
        [] => format!("no parameter of `{name}` is a number"),
        [one] => format!("the parameter of `{name}` that is a number is {one}"),
        _ => format!(
            "the parameters of `{name}` that are numbers are {}",
            quoted.join(", ")
        ),
    };
    format!("{text}; {}", declaration(function))
}

/// Returns how a function is called whose values a safe caller must not choose.
pub fn unsafe_method(function: &Function) -> String {
    let name = &function.name;
    format!(
        "leave `{name}` out of [functions], and call the `unsafe` method `{name}` of `driver::Driver`; {PAGE} explains which \
        values a safe caller can choose"
    )
}

/// Returns the roles of results.
pub fn result(function: &Function, status: Option<&Status>) -> String {
    let roles = "the roles of a result are `return = \"string\"`, `return = \"new\"`, `return = \"new NAME\"` and `return = \"false VALUE\"`";
    format!("{roles}; {}", status_option(function, status))
}

/// Returns the syntax of an owned type.
pub fn owned() -> String {
    format!(
        "an owned type is a handle, a struct behind pointers or a typedef of an integer or pointer, `NAME = {{ destroy = \"FUNCTION\" }}`, or an address, \
        `NAME = {{ type = \"void*\", destroy = \"FUNCTION\" }}`; {PAGE} explains them"
    )
}

/// Returns the bound function whose name is close to `name`, or the reason why this one is not bound.
pub fn function(model: &Model, name: &str) -> String {
    let mut left_out = model.left_out.iter();
    if let Some(it) = left_out.find(|it| it.is_function && it.name == name) {
        return format!("`{name}` is left out: it {}", it.reason);
    }
    let known = model.functions.iter().map(|it| it.name.as_str());
    did_you_mean(name, known).unwrap_or_else(|| {
        "the functions are those of the header, and of headers that it includes from its folder"
            .to_owned()
    })
}

/// Returns the question for the closest name only: names of one driver start alike, so that further ones are close too.
fn did_you_mean<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    let close = find_close_names(name, known);
    close
        .first()
        .map(|close| format!("did you mean `{close}`?"))
}

/// Returns the parameters of a function, preceded by those whose names are close to `name`.
pub fn parameter(function: &Function, name: &str) -> String {
    let known = function.signature.params.iter();
    let known = known.map(|it| it.name.as_str()).chain(["return"]);
    with_suggestion(name, known, declaration(function))
}

/// Returns the declaration of a function.
pub fn declaration(function: &Function) -> String {
    let text = c::declare(&function.name, &function.signature);
    format!("the declaration is `{text}`")
}

/// Returns the names of enumerators and constants that are close to `name`.
pub fn value(model: &Model, name: &str) -> String {
    let constants = model.constants.iter().map(|it| it.name.as_str());
    let known = model.enumerators().map(|it| it.name.as_str());
    let question = did_you_mean(name, known.chain(constants));
    question.unwrap_or_else(|| "a value is an enumerator or a constant of the header".to_owned())
}

/// Returns how a function has a status and a queue.
pub fn queue(function: &Function, status: Option<&Status>, host_function: Option<&str>) -> String {
    if status.is_none_or(|it| it.ty != function.signature.ret || it.has_results) {
        return status_option(function, status);
    }
    match host_function {
        None => format!(
            "`host_function = \"FUNCTION\"` names the function that enqueues a host function; for a driver without one \
            see \"What if my driver has no ..?\" in {PAGE}"
        ),
        Some(name) => format!(
            "the first parameter of `{name}` is the queue, and its type one of [owned]; {}",
            declaration(function)
        ),
    }
}

fn status_option(function: &Function, status: Option<&Status>) -> String {
    let result = status::spell(&function.signature.ret);
    let name = &function.name;
    match status {
        Some(status) if status.ty == function.signature.ret && status.has_results => {
            format!(
                "`{name}` returns a result of `--driver-status {}>=0`",
                status.name
            )
        }
        Some(status) if status.ty == function.signature.ret => {
            format!("`{name}` returns the status `{}`", status.name)
        }
        Some(status) => format!(
            "`{name}` returns `{result}`, and the status is `{}`: `--driver-status TYPE` selects another one",
            status.name
        ),
        None if result == "void" => format!("`{name}` returns nothing"),
        None => format!(
            "`{name}` returns `{result}`; if that is a status, state `--driver-status {result}`"
        ),
    }
}

/// Returns the field that is close to `field`, among the numbers `names` in the structs of a contract's functions.
pub fn size_field(field: &str, names: &BTreeSet<&str>) -> String {
    let text = "`size_field` is the field in which structs state their own size; remove it if the driver has none";
    with_suggestion(field, names.iter().copied(), text)
}

/// Returns the parameters of a function that enqueues a host function.
pub fn host_function(function: &Function) -> String {
    format!(
        "it has the parameters (QUEUE, void (*)(void*), void*), where QUEUE is one of [owned], and its entry is \
        `FUNCTION = {{ PARAMETER = \"function DATA\" }}`; {}",
        declaration(function)
    )
}

/// Returns how functions create an owned value.
pub fn creators(destroy: &Function) -> String {
    format!(
        "a function creates a value by the role `new`, and takes the handles that destroy it; {}",
        declaration(destroy)
    )
}
