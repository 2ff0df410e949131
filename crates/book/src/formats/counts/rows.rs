//! The rows of a count file, from the values of its columns.

use tabiya_chess::{MoveCode, Packed, RatingBand, Speed, Variant};
use tabiya_parquet::values::Values;

use super::CountsRow;
use crate::slice::MAX_GAMES;
use crate::{By, Slice};

/// The key of a row, from the column of keys.
///
/// # Errors
/// The value that is impossible.
pub fn key(keys: &Values, at: usize) -> std::result::Result<u64, String> {
    let wide = keys.number(at).ok_or("key is not a number of 128 bits")?;
    // Programs without unsigned numbers write the upper half of all keys as negative numbers.
    u64::try_from(wide)
        .or_else(|_| i64::try_from(wide).map(i64::cast_unsigned))
        .map_err(|_| format!("key is {wide}, which has more than 64 bits"))
}

/// A row with this key, without its position, from the columns after that of keys.
///
/// # Errors
/// The value that is impossible.
pub fn line(
    key: u64,
    columns: &[Values],
    at: usize,
    slice: Slice,
    variant: Variant,
) -> std::result::Result<CountsRow, String> {
    let [mv, wins, draws, losses, ..] = columns else { return Err("a column is missing".to_owned()) };
    let number = |values: &Values, name: &str| {
        values.number(at).ok_or_else(|| format!("{name} is not a number of 128 bits"))
    };
    let wide = number(mv, "move")?;
    let mv = u16::try_from(wide).map(MoveCode).ok();
    let mv = mv.filter(|mv| *mv == MoveCode::NULL || mv.error(variant).is_none());
    let mv = mv.ok_or_else(|| format!("move is {wide}, which is not the code of a move"))?;
    let count = |values: &Values, name: &str| {
        let wide = number(values, name)?;
        match u64::try_from(wide) {
            Ok(count) if count < MAX_GAMES => Ok(count),
            Err(_) if wide < 0 => Err(format!("{name} is {wide}, but cannot be negative")),
            _ => Err(format!("{name} is {wide}, which is too large")),
        }
    };
    let (wins, draws, losses) = (count(wins, "wins")?, count(draws, "draws")?, count(losses, "losses")?);
    Ok(CountsRow { key, mv, wins, draws, losses, packed: None, slice })
}

/// The slice of each of the rows read last, from the columns of speeds and ratings that `by` names, in this order.
///
/// # Errors
/// The place of a row, and its value that is impossible.
pub fn slices(
    by: By,
    columns: &[Values],
    rows: usize,
    slices: &mut Vec<Slice>,
) -> std::result::Result<(), (usize, String)> {
    slices.clear();
    slices.resize(rows, Slice::default());
    let mut columns = columns.iter();
    let speeds = by.speed.then(|| columns.next()).flatten();
    let ratings = by.rating.then(|| columns.next()).flatten();
    for (row, slice) in slices.iter_mut().enumerate() {
        let speed = speeds.filter(|values| !values.is_null(row)).map(|values| speed(values.bytes(row)));
        let rating = ratings.filter(|values| !values.is_null(row)).map(|values| rating(values.number(row)));
        let at = |what| (row, what);
        *slice = Slice::new(speed.transpose().map_err(at)?, rating.transpose().map_err(at)?);
    }
    Ok(())
}

fn speed(text: Option<&[u8]>) -> std::result::Result<Speed, String> {
    let text = text.unwrap_or_default();
    str::from_utf8(text).ok().and_then(Speed::named).ok_or_else(|| {
        let names = Speed::NAMES.map(|(name, _)| name).join(", ");
        format!("speed is {:?}, not one of {names}", String::from_utf8_lossy(text))
    })
}

fn rating(number: Option<i128>) -> std::result::Result<RatingBand, String> {
    let number = number.ok_or("rating is not a number of 128 bits")?;
    let band = u16::try_from(number).ok().and_then(RatingBand::from_lowest);
    band.ok_or_else(|| {
        let bounds = RatingBand::BOUNDS.map(|lowest| lowest.to_string()).join(", ");
        format!("rating is {number}, but bands begin at {bounds}")
    })
}

/// A position, which must have the key. `known` is the last one that was checked.
pub fn packed(
    bytes: Option<&[u8]>,
    key: u64,
    known: &mut Option<(u64, Packed)>,
) -> std::result::Result<Packed, String> {
    let packed = bytes.and_then(|bytes| bytes.try_into().ok()).map(Packed);
    let packed = packed.ok_or("position does not have 24 bytes")?;
    if *known != Some((key, packed)) {
        let position = packed.unpack().ok_or("position is not legal")?;
        if position.key() != key {
            return Err("position does not have this key".to_owned());
        }
        *known = Some((key, packed));
    }
    Ok(packed)
}
