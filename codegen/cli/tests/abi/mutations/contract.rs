//! Edits of what no bytes say, and of what libraries export.

use sp_diff::Surface;
use sp_ir::{Direction, Field, Item, Presence, Receiver, Side, Stated, Struct};

use super::scene::{Edit, Random, breaking, choose, compatible, stated, structure, undone};

pub const EDITS: &[Edit] = &[
    breaking(
        "the other side fills a struct",
        "filler_changed",
        |side, random| changed(side, random, |item| turned(item.filled_by.as_mut()?)),
    ),
    breaking(
        "the other side fills a member",
        "filler_changed",
        |side, random| member(side, random, |field| turned(field.filled_by.as_mut()?)),
    ),
    breaking(
        "a member goes both ways",
        "direction_changed",
        |side, random| {
            member(side, random, |field| {
                let said = field
                    .direction
                    .as_mut()
                    .filter(|_| field.filled_by.is_none())?;
                said.value = if said.value == Direction::InOut {
                    Direction::Out
                } else {
                    Direction::InOut
                };
                Some(())
            })
        },
    ),
    breaking(
        "an optional member required",
        "presence_tightened",
        required,
    ),
    undone(compatible(
        "a required member optional",
        "presence_relaxed",
        required,
    )),
    compatible(
        "another value after a panic",
        "default_return_changed",
        |side, random| {
            member(side, random, |field| {
                field.neutral.as_mut()?.value += " + 1";
                Some(())
            })
        },
    ),
    compatible(
        "the object found elsewhere",
        "receiver_changed",
        |side, random| {
            changed(side, random, |item| {
                let found = item.receiver.as_ref()?.value.clone();
                item.receiver = stated(Receiver {
                    field: "edited".into(),
                    ..found
                });
                Some(())
            })
        },
    ),
];

fn turned(said: &mut Stated<Side>) -> Option<()> {
    said.value = if said.value == Side::Core {
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
    let all = choose(side, |_, item| match item {
        Item::Struct(item) => to(&mut item.clone()),
        _ => None,
    });
    let (at, name, ()) = random.pick(all)?;
    to(structure(side, at, &name))?;
    Some(name)
}

fn member(
    side: &mut Surface,
    random: &mut Random,
    to: fn(&mut Field) -> Option<()>,
) -> Option<String> {
    let all = choose(side, |_, item| match item {
        Item::Struct(item) => item
            .fields
            .iter()
            .position(|field| to(&mut field.clone()).is_some()),
        _ => None,
    });
    let (at, name, place) = random.pick(all)?;
    let field = &mut structure(side, at, &name).fields[place];
    to(field)?;
    Some(format!("{name}.{}", field.name))
}

fn required(side: &mut Surface, random: &mut Random) -> Option<String> {
    member(side, random, |field| {
        let said = field
            .presence
            .as_mut()
            .filter(|said| said.value == Presence::Optional)?;
        said.value = Presence::Required;
        Some(())
    })
}
