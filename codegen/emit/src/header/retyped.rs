//! Slots whose signature a release changed while the struct kept its size: what stores one stores it
//! with the signature that the running host calls, in which the parameters that came later are null.

use sp_ir::{Param, Signature, Type};

use super::super::retyped::Retyped;
use crate::minor::{Minor, run};
use sp_ir::c;

/// What stores the slot.
pub fn print(slot: &Retyped<'_>) -> String {
    let Retyped {
        table, slot: field, ..
    } = slot;
    let full = format!("{table}_{field}");
    let (older, newest) = (named(slot.older), named(slot.newest));
    let (words, releases) = (
        run(slot.releases),
        releases(slot.releases.0, Some(slot.releases.1)),
    );
    let newest_type = c::broken(&format!("sp_type_{full}"), &newest);
    let shim = format!("sp_{full}_v{}_{}", slot.releases.0.0, slot.releases.0.1);
    let shim_head = c::broken(&shim, &older);
    let older_type = c::broken("older_type", &older).replace('\n', "\n  ");
    let call = format!("sp_own_{full}({})", arguments(slot).join(", "));
    let unused: String = unused(slot)
        .iter()
        .map(|it| format!("  (void){it};\n"))
        .collect();
    let back = match newest.ret {
        Type::Void => "",
        _ => "return ",
    };
    format!(
        r#"
/** A {table}.{field}, in the newest form. */
typedef {newest_type};
/** The plugin's own. */
SP_ONE sp_type_{full}* sp_own_{full};
/** {table}.{field} as {words} calls it. */
static inline {shim_head} {{
{unused}  {back}{call};
}}
/** Whether it is known which form the host calls. */
static inline bool sp_told_{full}(void) {{
  const sp_releases older = {releases};
  return sp_is(older) >= 0;
}}
/** Stores the function with the signature that the host calls; in {words} what came later is NULL.
 * There is one for the whole plugin. False where it is not known which release the host is. */
static inline bool sp_set_{full}({table}* host, sp_type_{full}* value) {{
  typedef {older_type};
  const sp_releases older = {releases};
  older_type* shim = value == NULL ? NULL : {shim};
  const size_t place = sp_place_{full}(host);
  if (!sp_told_{full}()) return false;
  sp_own_{full} = value;
  return sp_is(older) == 1 ? sp_write(host, place, &shim, sizeof shim)
                           : sp_write(host, place, &value, sizeof value);
}}

"#
    )
}

/// What `sp_fill` does of it, before any byte is touched.
pub fn fill(slot: &Retyped<'_>) -> String {
    let Retyped {
        table, slot: field, ..
    } = slot;
    let words = run(slot.releases);
    format!(
        r#"  if (!sp_told_{table}_{field}()) {{
    sp_fail(status, SP_UNIMPLEMENTED,
            "{table}.{field} takes other arguments in {words}, and whether this "
            "TensorFlow is one of these is not known");
    return false;
  }}
  sp_set_{table}_{field}(host, mine->{field});
"#
    )
}

/// `{205, 206}`, or `{207, 0}` where it goes on.
pub fn releases((major, minor): Minor, last: Option<Minor>) -> String {
    let last = last.map_or(0, |(major, minor)| major * 100 + minor);
    format!("{{{}, {last}}}", major * 100 + minor)
}

/// The signature, every parameter with a name.
pub fn named(signature: &Signature) -> Signature {
    let mut signature = signature.clone();
    for (index, param) in signature.params.iter_mut().enumerate() {
        param.name = name(index, param);
    }
    signature
}

fn name(index: usize, param: &Param) -> String {
    match param.name.as_str() {
        "" => format!("arg{index}"),
        name => name.to_owned(),
    }
}

/// What the older form passes on to the newest.
fn arguments(slot: &Retyped<'_>) -> Vec<String> {
    let passed = slot.kept.iter().map(|kept| match kept {
        Some(index) => name(*index, &slot.older.params[*index]),
        None => "NULL".to_owned(),
    });
    passed.collect()
}

/// The older form's parameters that the newest has no more.
fn unused(slot: &Retyped<'_>) -> Vec<String> {
    let params = slot.older.params.iter().enumerate();
    let dropped = params.filter(|(index, _)| !slot.kept.contains(&Some(*index)));
    dropped.map(|(index, param)| name(index, param)).collect()
}
