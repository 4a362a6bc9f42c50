//! Edits of facts that no type shows: who sets a value, and whether it is required.

use sp_diff::Surface;
use sp_ir::{Direction, Field, Presence, Receiver, Side, Stated, Struct};

use super::scene::{Edit, Random, pick_field, pick_struct, stated, structure};

edits! {
    breaking "a struct set by the other side", filler_changed:
        changed(|item| turned(item.filled_by.as_mut()?));
    breaking "a member set by the other side", filler_changed:
        member(|field| turned(field.filled_by.as_mut()?));
    breaking "a member with another direction", direction_changed: member(|field| {
        let stated_value = field.direction.as_mut();
        let stated_value = stated_value.filter(|_| field.filled_by.is_none())?;
        stated_value.value = if stated_value.value == Direction::InOut {
            Direction::Out
        } else {
            Direction::InOut
        };
        Some(())
    });
    breaking "an optional member required", presence_tightened: required;
    reversed of compatible "a required member optional", presence_relaxed: required;
    compatible "another default return value", default_return_changed: member(|field| {
        field.default_return.as_mut()?.value += " + 1";
        Some(())
    });
    compatible "another receiver", receiver_changed: changed(|item| {
        let found = item.receiver.as_ref()?.value.clone();
        item.receiver = stated(Receiver {
            field: "edited".into(),
            ..found
        });
        Some(())
    });
}

fn turned(stated_value: &mut Stated<Side>) -> Option<()> {
    stated_value.value = if stated_value.value == Side::Core {
        Side::Plugin
    } else {
        Side::Core
    };
    Some(())
}

fn changed(
    side: &mut Surface,
    random: &mut Random,
    to: fn(&mut Struct) -> Option<()>,
) -> Option<String> {
    let (api, name, ()) = pick_struct(side, random, |_, item| to(&mut item.clone()))?;
    to(structure(side, api, &name))?;
    Some(name)
}

fn member(
    side: &mut Surface,
    random: &mut Random,
    to: fn(&mut Field) -> Option<()>,
) -> Option<String> {
    let fits = |field: &Field| to(&mut field.clone()).is_some();
    let (api, name, index) = pick_field(side, random, fits)?;
    let field = &mut structure(side, api, &name).fields[index];
    to(field)?;
    Some(format!("{name}.{}", field.name))
}

fn required(side: &mut Surface, random: &mut Random) -> Option<String> {
    member(side, random, |field| {
        let stated_value = field
            .presence
            .as_mut()
            .filter(|stated_value| stated_value.value == Presence::Optional)?;
        stated_value.value = Presence::Required;
        Some(())
    })
}
