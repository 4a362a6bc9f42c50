//! Slots whose signature a release changed without a change of the struct's size. Their setter stores a
//! function with the signature that the running host calls. Parameters that this host does not pass are null.

use sp_ir::{Param, Signature, Type, c};

use super::releases;
use crate::model::releases::format_span;
use crate::model::retyped::RetypedSlot;

/// Prints the setter of the slot.
pub fn print(slot: &RetypedSlot<'_>) -> String {
    let first = slot.releases.0;
    let (table, field) = (slot.table, slot.slot);
    let trampoline = format!("spgen_{table}_{field}_v{}_{}", first.major, first.minor);
    print_function(slot, &trampoline) + &print_setter(slot, &trampoline)
}

/// Prints the plugin's function with the newest signature, and the trampoline with the older one that calls it.
fn print_function(slot: &RetypedSlot<'_>, trampoline: &str) -> String {
    let (table, field) = (&slot.table, &slot.slot);
    let full = format!("{table}_{field}");
    let span = format_span(slot.releases);
    let newest = with_parameter_names(slot.newest);
    let newest_type = c::broken(&format!("spgen_type_{full}"), &newest);
    let trampoline_head = c::broken(trampoline, &with_parameter_names(slot.older));
    let call = format!("spgen_plugin_{full}({})", arguments(slot).join(", "));
    let unused: String = unused_params(slot)
        .iter()
        .map(|it| format!("  (void){it};\n"))
        .collect();
    let return_keyword = match newest.ret {
        Type::Void => "",
        _ => "return ",
    };
    format!(
        r#"
/** The function of the slot {table}.{field}, with its newest signature. */
typedef {newest_type};
/** The plugin's function. */
SPGEN_SHARED spgen_type_{full}* spgen_plugin_{full};
/** Calls the plugin's function with the arguments of {table}.{field} in {span}. */
static inline {trampoline_head} {{
{unused}  {return_keyword}{call};
}}
"#
    )
}

/// Prints the setter, and the check that precedes it.
fn print_setter(slot: &RetypedSlot<'_>, trampoline: &str) -> String {
    let (table, field) = (&slot.table, &slot.slot);
    let full = format!("{table}_{field}");
    let (first, last) = slot.releases;
    let span = format_span(slot.releases);
    let releases = releases::range(first, Some(last));
    let older_type =
        c::broken("older_type", &with_parameter_names(slot.older)).replace('\n', "\n  ");
    format!(
        r#"/** Returns true if the signature that the host calls is known. */
static inline bool spgen_is_signature_known_{full}(void) {{
  const spgen_releases older = {releases};
  return spgen_is_host_in(older) >= 0;
}}
/** Stores the function with the signature that the host calls. In {span} the parameters that a later
 * release added are NULL. The whole plugin shares one such function. Returns false if the host's release
 * is not known. */
static inline bool spgen_set_{full}({table}* object, spgen_type_{full}* value) {{
  typedef {older_type};
  const spgen_releases older = {releases};
  older_type* trampoline = value == NULL ? NULL : {trampoline};
  const size_t offset = spgen_offset_{full}(object);
  if (!spgen_is_signature_known_{full}()) return false;
  spgen_plugin_{full} = value;
  return spgen_is_host_in(older) == 1 ? spgen_write(object, offset, &trampoline, sizeof trampoline)
                                      : spgen_write(object, offset, &value, sizeof value);
}}

"#
    )
}

/// Prints the part of `spgen_fill` for the slot, which comes before any write.
pub fn fill(slot: &RetypedSlot<'_>) -> String {
    let (table, field) = (&slot.table, &slot.slot);
    let span = format_span(slot.releases);
    format!(
        r#"  if (!spgen_is_signature_known_{table}_{field}()) {{
    spgen_set_status(status, SPGEN_UNIMPLEMENTED,
                     "{table}.{field} has another signature in {span}, and the host's release is "
                     "not known");
    return false;
  }}
  spgen_set_{table}_{field}(object, values->{field});
"#
    )
}

/// Returns the signature with a name for every parameter.
pub fn with_parameter_names(signature: &Signature) -> Signature {
    let mut signature = signature.clone();
    for (index, param) in signature.params.iter_mut().enumerate() {
        param.name = param_name(index, param);
    }
    signature
}

fn param_name(index: usize, param: &Param) -> String {
    match param.name.as_str() {
        "" => format!("arg{index}"),
        name => name.to_owned(),
    }
}

/// Returns the arguments that the trampoline passes to the plugin's function.
fn arguments(slot: &RetypedSlot<'_>) -> Vec<String> {
    let arguments = slot.older_indexes.iter().map(|index| match index {
        Some(index) => param_name(*index, &slot.older.params[*index]),
        None => "NULL".to_owned(),
    });
    arguments.collect()
}

/// Returns the parameters of the older signature that the newest does not have.
fn unused_params(slot: &RetypedSlot<'_>) -> Vec<String> {
    let params = slot.older.params.iter().enumerate();
    let unused = params.filter(|(index, _)| !slot.older_indexes.contains(&Some(*index)));
    unused
        .map(|(index, param)| param_name(index, param))
        .collect()
}
