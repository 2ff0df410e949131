//! What a move gets, and what it has, as the page writes it.

use serde_json::{Value as Json, json};
use shakmaty::Move;

use super::{Op, change_of};
use crate::book::edit::{Edit, Value};
use crate::book::{Annotation, Book, Format};
use crate::chess::Position;
use crate::explore::fault::Fault;

/// What a move is to get, in steps.
pub(super) struct Wanted {
    op: Op,
    /// Values that are given one after the other; none where the move is deleted.
    values: Vec<Value>,
}

impl Wanted {
    /// What the page asks for in a book of this format.
    ///
    /// # Errors
    /// When the value does not fit the format.
    pub(super) fn of(format: Format, op: Op, value: &Json) -> Result<Self, Fault> {
        if op == Op::Delete {
            return Ok(Self { op, values: Vec::new() });
        }
        let values = match format {
            Format::Ctg => looks(value)?,
            _ => {
                vec![Value::Weight(value.as_u64().ok_or_else(|| Fault::bad("value: write a whole number"))?)]
            }
        };
        Ok(Self { op, values })
    }

    /// The edits of a move: those after the first change what that has set.
    pub(super) fn edits(&self, mv: Move, name: &str) -> Vec<Edit> {
        let edit = |op, value| Edit { mv, name: name.to_owned(), change: change_of(op, value) };
        if self.op == Op::Delete {
            return vec![edit(Op::Delete, Value::Plain)];
        }
        let ops = std::iter::once(self.op).chain(std::iter::repeat(Op::Set));
        self.values.iter().zip(ops).map(|(value, op)| edit(op, *value)).collect()
    }
}

/// Colour and mark: what is null is taken away, and what is missing stays.
fn looks(value: &Json) -> Result<Vec<Value>, Fault> {
    let wrong = || {
        Fault::bad(
            "value: write \"none\", or an object with color (green, red or null) and mark (such as ! or null)",
        )
    };
    if value.as_str() == Some("none") {
        return Ok(vec![Value::Plain]);
    }
    let object = value.as_object().ok_or_else(wrong)?;
    let color = match object.get("color").map(Json::as_str) {
        None | Some(None) => None,
        Some(Some("green")) => Some(true),
        Some(Some("red")) => Some(false),
        Some(Some(_)) => return Err(wrong()),
    };
    let mark = match object.get("mark").map(Json::as_str) {
        None | Some(None) => None,
        Some(Some(name)) => Some(Annotation::of_name(name).ok_or_else(wrong)?),
    };
    let is_null = |key| object.get(key).is_some_and(Json::is_null);
    let look = Value::Look { color, mark };
    Ok(match (is_null("color"), is_null("mark")) {
        (false, false) => vec![look],
        // What stays must be named: the first step takes both away.
        (true, false) if !object.contains_key("mark") => return Err(wrong()),
        (false, true) if !object.contains_key("color") => return Err(wrong()),
        _ if color.is_none() && mark.is_none() => vec![Value::Plain],
        _ => vec![Value::Plain, look],
    })
}

/// What a book has of a move, as far as an edit can change it; null if it does not have it.
pub(super) fn shown(book: &dyn Book, at: &Position, mv: Move) -> Json {
    let mut moves = Vec::new();
    book.moves(at, &mut moves);
    let Some(facts) = moves.iter().find(|facts| facts.mv == mv) else { return Json::Null };
    match book.format() {
        Format::Ctg => json!({
            "weight": facts.weight,
            "color": facts.recommended.map(|green| if green { "green" } else { "red" }),
            "mark": facts.annotation.map(|mark| mark.as_str()),
        }),
        Format::Abk => json!({ "priority": book.priority(at, mv) }),
        _ => json!({ "weight": facts.weight }),
    }
}

/// Whether a book has what the page showed.
///
/// # Errors
/// When the page does not say what it showed.
pub(super) fn is_expected(format: Format, now: &Json, expect: &Json) -> Result<bool, Fault> {
    if now.is_null() || expect.is_null() {
        return Ok(now == expect);
    }
    let same = |key| now.get(key).unwrap_or(&Json::Null) == expect.get(key).unwrap_or(&Json::Null);
    match format {
        Format::Ctg if expect.is_object() => Ok(same("color") && same("mark")),
        Format::Ctg => Err(Fault::bad("expect: write an object with color and mark")),
        Format::Abk => Ok(now.get("priority").and_then(Json::as_u64) == Some(number(expect, "priority")?)),
        _ => Ok(now.get("weight").and_then(Json::as_u64) == Some(number(expect, "weight")?)),
    }
}

/// A number that the page showed.
///
/// # Errors
/// When the page showed no such number.
pub(super) fn number(expect: &Json, key: &str) -> Result<u64, Fault> {
    expect
        .get(key)
        .and_then(Json::as_u64)
        .ok_or_else(|| Fault::bad(format!("expect: write an object with {key}, which is a number")))
}

/// What a move has, in words.
pub(super) fn words(now: &Json) -> String {
    let text = |key| now.get(key).filter(|value| !value.is_null());
    if now.get("color").is_some() {
        let looks: Vec<&str> =
            ["color", "mark"].into_iter().filter_map(text).filter_map(Json::as_str).collect();
        return if looks.is_empty() { "no colour and no mark".to_owned() } else { looks.join(", ") };
    }
    text("weight").or_else(|| text("priority")).map_or_else(|| "nothing".to_owned(), Json::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_are_given_taken_away_or_kept() {
        let green = Value::Look { color: Some(true), mark: None };
        let good = Value::Look { color: None, mark: Some(Annotation::Good) };
        let of = |value: Json| looks(&value).ok();
        assert_eq!(of(json!("none")), Some(vec![Value::Plain]));
        assert_eq!(of(json!({ "color": null, "mark": null })), Some(vec![Value::Plain]));
        assert_eq!(of(json!({ "color": "green", "mark": null })), Some(vec![Value::Plain, green]));
        assert_eq!(of(json!({ "color": "green" })), Some(vec![green]));
        assert_eq!(of(json!({ "color": null, "mark": "!" })), Some(vec![Value::Plain, good]));
        for wrong in [
            json!(60),
            json!("green"),
            json!({ "color": "blue" }),
            json!({ "mark": "!!!" }),
            json!({ "color": null }),
        ] {
            assert_eq!(of(wrong.clone()), None, "{wrong}");
        }
    }

    #[test]
    fn what_the_page_showed_is_compared() {
        let is = |format, now: Json, expect: Json| is_expected(format, &now, &expect).ok();
        assert_eq!(is(Format::Kvetka, json!({ "weight": 5 }), json!({ "weight": 5 })), Some(true));
        assert_eq!(is(Format::Kvetka, json!({ "weight": 5 }), json!({ "weight": 6 })), Some(false));
        assert_eq!(is(Format::Kvetka, json!({ "weight": 5 }), json!({ "priority": 5 })), None);
        assert_eq!(is(Format::Abk, json!({ "priority": 3 }), json!({ "priority": 3 })), Some(true));
        let green = json!({ "weight": 7, "color": "green", "mark": null });
        assert_eq!(is(Format::Ctg, green.clone(), json!({ "color": "green" })), Some(true));
        assert_eq!(is(Format::Ctg, green.clone(), json!({ "color": "green", "mark": "!" })), Some(false));
        assert_eq!(is(Format::Ctg, Json::Null, Json::Null), Some(true));
        assert_eq!(is(Format::Ctg, green, Json::Null), Some(false));
    }
}
