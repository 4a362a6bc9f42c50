//! The asserts of sizes and offsets in bindings, as C.

/// Returns the asserts of the bindings as C: of the types and fields that can be named there. `header` is preprocessed.
pub fn c_asserts(bindings: &str, header: &str) -> Vec<String> {
    let code = bindings.split_whitespace().collect::<Vec<_>>().join(" ");
    let asserts = code.split("const _: () = assert!(").skip(1);
    let asserts = asserts.filter_map(|rest| c_assert(rest.split_once(");")?.0, header));
    let asserts: Vec<String> = asserts.collect();
    let left_over = code.matches("size_of::<").count();
    assert!(
        asserts.len() >= left_over / 2,
        "{} asserts of {left_over} types",
        asserts.len()
    );
    asserts
}

/// Converts `::core::mem::size_of::<T>() == N` and `::core::mem::offset_of!(T, field) == N`.
fn c_assert(assert: &str, header: &str) -> Option<String> {
    let (expression, number) = assert.trim_end_matches([' ', ',']).split_once(" == ")?;
    let expression = expression.trim().strip_prefix("::core::mem::")?;
    let expression = match expression.split_once("::<") {
        Some((function, ty)) => {
            let function = if function == "size_of" {
                "sizeof"
            } else {
                "_Alignof"
            };
            format!("{function}({})", c_type(ty.strip_suffix(">()")?, header)?)
        }
        None => {
            let arguments = expression.strip_prefix("offset_of!(")?.strip_suffix(')')?;
            let (ty, field) = arguments.split_once(',')?;
            let field = field.trim().trim_start_matches("r#");
            let ty = c_type(ty, header)?;
            nameable(field).then(|| format!("offsetof({ty}, {field})"))?
        }
    };
    Some(format!("_Static_assert({expression} == {number}, \"\");\n"))
}

/// Returns the type as C names it: by its tag if it has one.
fn c_type(ty: &str, header: &str) -> Option<String> {
    let ty = ty.trim().trim_start_matches("r#");
    let has_tag = |keyword: &str| {
        let tagged = format!("{keyword} {ty}");
        let mut uses = header.match_indices(&tagged);
        uses.any(|(at, found)| !header[at + found.len()..].starts_with(is_identifier))
    };
    let keyword = ["struct", "union"].into_iter().find(|it| has_tag(it));
    nameable(ty).then(|| match keyword {
        Some(keyword) => format!("{keyword} {ty}"),
        None => ty.to_owned(),
    })
}

fn is_identifier(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// Returns false for a name that the parser gave to an anonymous type or member.
fn nameable(name: &str) -> bool {
    !name.contains("__") && !name.starts_with("anonymous")
}
