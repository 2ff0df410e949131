//! What a move gets, and what it has, as the page writes it.

use serde_json::{Value as Json, json};
use shakmaty::Move;

use tabiya_book::edit::{Change, Edit, EditValue};
use tabiya_book::{Annotation, Edits, Recommendation};
use tabiya_workshop::edit::{Expected, MoveState};

use super::Op;
use crate::fault::Fault;

/// The edits that give a move what the page asks for: those after the first change what that has set.
///
/// # Errors
/// When the value does not fit the format.
pub(super) fn wanted(edits: Edits, op: Op, value: &Json, mv: Move, name: &str) -> Result<Vec<Edit>, Fault> {
    let edit = |change| Edit { mv, name: name.to_owned(), change };
    if op == Op::Delete {
        return Ok(vec![edit(Change::Delete)]);
    }
    let values = match edits {
        Edits::Verdicts => verdicts(value)?,
        _ => vec![weight(value)?],
    };
    let first: fn(EditValue) -> Change = if op == Op::Add { Change::Add } else { Change::Set };
    let changes = std::iter::once(first).chain(std::iter::repeat(Change::Set as fn(EditValue) -> Change));
    Ok(values.into_iter().zip(changes).map(|(value, change)| edit(change(value))).collect())
}

/// What each move of a line gets; `None`: what is usual.
///
/// # Errors
/// When the value does not fit the format.
pub(super) fn of_all(edits: Edits, value: &Json) -> Result<Option<EditValue>, Fault> {
    match edits {
        _ if value.is_null() => Ok(None),
        Edits::Verdicts => Ok(verdicts(value)?.pop()),
        _ => weight(value).map(Some),
    }
}

fn weight(value: &Json) -> Result<EditValue, Fault> {
    value.as_u64().map(EditValue::Weight).ok_or_else(|| Fault::bad("value: write a whole number"))
}

/// Colour and mark: what is null is taken away, and what is missing stays.
fn verdicts(value: &Json) -> Result<Vec<EditValue>, Fault> {
    let wrong = || {
        Fault::bad(
            "value: write \"none\", or an object with color (green, red or null) and mark (such as ! or null)",
        )
    };
    if value.as_str() == Some("none") {
        return Ok(vec![EditValue::Plain]);
    }
    let object = value.as_object().ok_or_else(wrong)?;
    let color = colored(value).ok_or_else(wrong)?;
    let mark = marked(value).ok_or_else(wrong)?;
    let is_null = |key| object.get(key).is_some_and(Json::is_null);
    let verdict = EditValue::Verdict { color, mark };
    Ok(match (is_null("color"), is_null("mark")) {
        (false, false) => vec![verdict],
        // What stays must be named: the first step takes both away.
        (true, false) if !object.contains_key("mark") => return Err(wrong()),
        (false, true) if !object.contains_key("color") => return Err(wrong()),
        _ if color.is_none() && mark.is_none() => vec![EditValue::Plain],
        _ => vec![EditValue::Plain, verdict],
    })
}

/// What a book says of a move, as the page has it; null if it does not have it.
pub(super) fn shown(edits: Edits, said: Option<MoveState>) -> Json {
    let Some(said) = said else { return Json::Null };
    match edits {
        Edits::Verdicts => json!({
            "weight": said.weight,
            "color": said.recommended.map(Recommendation::as_str),
            "mark": said.annotation.map(|mark| mark.as_str()),
        }),
        Edits::Number { name, .. } => json!({ name: said.number() }),
        _ => json!({ "weight": said.weight }),
    }
}

/// What the page showed.
///
/// # Errors
/// When the page does not say what it showed.
pub(super) fn expected(edits: Edits, expect: &Json) -> Result<Expected, Fault> {
    Ok(match edits {
        _ if expect.is_null() => Expected::Absent,
        Edits::Verdicts => match (expect.is_object(), colored(expect), marked(expect)) {
            (true, Some(recommended), Some(annotation)) => Expected::Verdict { recommended, annotation },
            _ => return Err(Fault::bad("expect: write an object with color and mark")),
        },
        Edits::Number { name, .. } => Expected::Number(number(expect, name)?),
        _ => Expected::Number(number(expect, "weight")?),
    })
}

/// The colour that an object names; `None` if there is no such colour.
fn colored(object: &Json) -> Option<Option<Recommendation>> {
    named(object.get("color"), Recommendation::of_name)
}

/// The mark that an object names; `None` if there is no such mark.
fn marked(object: &Json) -> Option<Option<Annotation>> {
    named(object.get("mark"), Annotation::of_name)
}

fn named<T>(value: Option<&Json>, of_name: impl Fn(&str) -> Option<T>) -> Option<Option<T>> {
    match value {
        None | Some(Json::Null) => Some(None),
        Some(value) => value.as_str().and_then(of_name).map(Some),
    }
}

/// A number that the page showed.
///
/// # Errors
/// When the page showed no such number.
fn number(expect: &Json, key: &str) -> Result<u64, Fault> {
    expect
        .get(key)
        .and_then(Json::as_u64)
        .ok_or_else(|| Fault::bad(format!("expect: write an object with {key}, which is a number")))
}

/// What a move has, in words.
pub(super) fn words(now: &Json) -> String {
    let text = |key| now.get(key).filter(|value| !value.is_null());
    if now.get("color").is_some() {
        let verdicts: Vec<&str> =
            ["color", "mark"].into_iter().filter_map(text).filter_map(Json::as_str).collect();
        return if verdicts.is_empty() { "no color and no mark".to_owned() } else { verdicts.join(", ") };
    }
    text("weight").or_else(|| text("priority")).map_or_else(|| "nothing".to_owned(), Json::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_are_given_taken_away_or_kept() {
        let green = EditValue::Verdict { color: Some(Recommendation::Green), mark: None };
        let good = EditValue::Verdict { color: None, mark: Some(Annotation::Good) };
        let of = |value: Json| verdicts(&value).ok();
        assert_eq!(of(json!("none")), Some(vec![EditValue::Plain]));
        assert_eq!(of(json!({ "color": null, "mark": null })), Some(vec![EditValue::Plain]));
        assert_eq!(of(json!({ "color": "green", "mark": null })), Some(vec![EditValue::Plain, green]));
        assert_eq!(of(json!({ "color": "green" })), Some(vec![green]));
        assert_eq!(of(json!({ "color": null, "mark": "!" })), Some(vec![EditValue::Plain, good]));
        for wrong in [
            json!(60),
            json!("green"),
            json!({ "color": "blue" }),
            json!({ "mark": "!!!" }),
            json!({ "color": null }),
            json!({ "color": 5, "mark": null }),
            json!({ "color": "green", "mark": true }),
        ] {
            assert_eq!(of(wrong.clone()), None, "{wrong}");
        }
    }

    #[test]
    fn what_the_page_showed_is_read() {
        let is = |edits, expect: Json| expected(edits, &expect).ok();
        let number = |name| Edits::Number { name, words: name, most: 9 };
        assert_eq!(is(number("weight"), json!({ "weight": 5 })), Some(Expected::Number(5)));
        assert_eq!(is(number("weight"), json!({ "priority": 5 })), None);
        assert_eq!(is(number("priority"), json!({ "priority": 3 })), Some(Expected::Number(3)));
        let verdict = |recommended, annotation| Some(Expected::Verdict { recommended, annotation });
        assert_eq!(
            is(Edits::Verdicts, json!({ "weight": 7, "color": "green" })),
            verdict(Some(Recommendation::Green), None)
        );
        assert_eq!(
            is(Edits::Verdicts, json!({ "color": null, "mark": "!" })),
            verdict(None, Some(Annotation::Good))
        );
        assert_eq!(is(Edits::Verdicts, json!({ "color": "blue" })), None);
        assert_eq!(is(Edits::Verdicts, json!({ "color": 5 })), None);
        assert_eq!(is(Edits::Verdicts, json!(5)), None);
        assert_eq!(is(Edits::Verdicts, Json::Null), Some(Expected::Absent));
    }
}
