//! The names of players, events, sites and rounds, by their numbers.

use std::borrow::Cow;

use tabiya_base::bytes;
use tabiya_base::encoding::decode_western;
use tabiya_base::map::Map;

use super::layout::{COUNTS, FREQUENCIES, LISTS, MOST_NAMES, NAMES_AT, NAMES_MARK, SETTING};

/// The most bytes of names that are unpacked beyond eight times those of the file, which no names that people have reach.
const MOST_UNPACKED: usize = 1 << 26;

/// The names of a database.
#[derive(Debug, Default)]
pub struct Names {
    /// Records as those of `.sn5`: a number, 8 times the length and the kind, and the name.
    bytes: Option<Map>,
    /// Where the record of each name is, by list and number; `u32::MAX` of what is missing.
    at: [Vec<u32>; LISTS],
    /// What the database says of itself.
    pub description: String,
}

/// Text in UTF-8, in which old programs have mixed Windows-1252: what is no UTF-8 is that, byte by byte.
pub fn text(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return text.into();
    }
    let mut text = String::with_capacity(bytes.len() + 8);
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.push_str(&decode_western(chunk.invalid()));
    }
    text.into()
}

/// Reads bytes one after another.
struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let taken = self.bytes.get(self.at..self.at.checked_add(len)?)?;
        self.at += len;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    /// A number of so many bytes, the highest first.
    fn number(&mut self, len: usize) -> Option<u32> {
        Some(self.take(len)?.iter().fold(0, |number, byte| number << 8 | u32::from(*byte)))
    }

    /// A number of seven bits a byte, the lowest first.
    fn varint(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..35).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    /// A record of `.sn5`: its kind and its content.
    fn record(&mut self) -> Option<(u64, &'a [u8])> {
        let head = self.varint()?;
        Some((head & 7, self.take(usize::try_from(head >> 3).ok()?)?))
    }
}

/// The largest number of bytes in which a value fits.
fn width(value: u32, steps: &[u32]) -> usize {
    1 + steps.iter().filter(|step| value >= **step).count()
}

impl Names {
    /// Reads a `.sn4` file. What is wrong ends the names: those before are kept.
    pub fn read4(file: &[u8]) -> (Self, Option<String>) {
        let mut names = Self::default();
        let mut unpacked = Vec::new();
        let found = names.unpack(file, &mut unpacked);
        names.bytes = Some(unpacked.into());
        (names, found.err())
    }

    fn unpack(&mut self, file: &[u8], unpacked: &mut Vec<u8>) -> Result<(), String> {
        if !file.starts_with(NAMES_MARK) {
            return Err("it does not begin as a file of names".to_owned());
        }
        let number = |at: u64| {
            let found = bytes::slice(file, at, 3).ok_or("its header is cut off")?;
            Ok::<_, String>(found.iter().fold(0, |number, byte| number << 8 | u32::from(*byte)))
        };
        let most = file.len().saturating_mul(8).saturating_add(MOST_UNPACKED).min(u32::MAX as usize);
        let mut from = Cursor { bytes: file, at: NAMES_AT };
        for (kind, list) in (0..).zip(&mut self.at) {
            let count = number(COUNTS + 3 * kind)?;
            let highest = number(FREQUENCIES + 3 * kind)?;
            if MOST_NAMES.get(list_of(kind)).is_none_or(|most| count > *most) {
                return Err(format!("its header counts {count} names in a list"));
            }
            let widths = (width(count, &[0, 1 << 16]), width(highest, &[1 << 8, 1 << 16]));
            // The name before, whose beginning the next one may share.
            let (mut before, mut len) = (0, 0);
            for nth in 0..count {
                let at = from.at;
                let cut = || format!("the name at byte {at} is cut off");
                let id = from.number(widths.0).ok_or_else(cut)?;
                from.number(widths.1).ok_or_else(cut)?;
                let whole = usize::from(from.byte().ok_or_else(cut)?);
                let shared = if nth == 0 { 0 } else { usize::from(from.byte().ok_or_else(cut)?) };
                if shared > whole.min(len) {
                    return Err(format!("the name at byte {at} shares more than the name before it has"));
                }
                let rest = from.take(whole - shared).ok_or_else(cut)?;
                if id >= count {
                    return Err(format!("the name at byte {at} has the number {id}, but there are {count}"));
                }
                if unpacked.len() + whole > most {
                    return Err("its names are too long".to_owned());
                }
                let record = u32::try_from(unpacked.len()).unwrap_or(u32::MAX);
                push_varint(unpacked, (whole as u64) << 3 | kind);
                let start = unpacked.len();
                unpacked.extend_from_within(before..before + shared);
                unpacked.extend_from_slice(rest);
                (before, len) = (start, whole);
                let place = id as usize;
                if list.len() <= place {
                    list.resize(place + 1, u32::MAX);
                }
                let known = list.get_mut(place).filter(|known| **known == u32::MAX);
                *known.ok_or_else(|| format!("the number {id} has two names, the second at byte {at}"))? =
                    record;
            }
        }
        Ok(())
    }

    /// Reads a `.sn5` file. What is wrong ends the names: those before are kept.
    pub fn read5(file: Map) -> (Self, Option<String>) {
        let mut names = Self::default();
        let mut from = Cursor { bytes: &file, at: 0 };
        let mut error = None;
        while from.at < file.len() {
            let (at, wrong) = (from.at, |what: &str, at| Some(format!("the name at byte {at} {what}")));
            let Some((kind, content)) = from.record() else {
                error = wrong("is cut off", at);
                break;
            };
            let Ok(place) = u32::try_from(at) else {
                error = wrong("is beyond 4 GiB", at);
                break;
            };
            if kind == SETTING {
                // The last description counts.
                if let Some(value) = content.strip_prefix(b"description") {
                    names.description = text(value).into_owned();
                }
            } else if let Some(list) = names.at.get_mut(list_of(kind)) {
                list.push(place);
            } else {
                error = wrong("is of an unknown kind", at);
                break;
            }
        }
        names.bytes = Some(file);
        (names, error)
    }

    /// How many names a list has.
    pub fn count(&self, list: usize) -> usize {
        self.at.get(list).map_or(0, Vec::len)
    }

    /// A name as it is stored; `None` where there is none of this number.
    pub fn get(&self, list: usize, number: u32) -> Option<Cow<'_, str>> {
        let at = *self.at.get(list)?.get(usize::try_from(number).ok()?)?;
        let (_, name) = Cursor { bytes: self.bytes.as_deref()?, at: usize::try_from(at).ok()? }.record()?;
        Some(text(name))
    }
}

fn list_of(kind: u64) -> usize {
    usize::try_from(kind).unwrap_or(usize::MAX)
}

fn push_varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    out.push(number.to_le_bytes()[0]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_may_be_mixed_within_a_name() {
        assert_eq!(text(b"Z\xfcrich \xc3\xbc \x80"), "Zürich ü €");
        assert_eq!(text("Zürich".as_bytes()), "Zürich");
        assert_eq!(text(b"\xe2\x82"), "â‚");
    }

    /// A file of names of two players, of which the second shares three letters.
    fn file() -> Vec<u8> {
        let mut file = NAMES_MARK.to_vec();
        file.extend([0; 4]);
        for number in [2_u8, 0, 0, 1, 1, 0, 0, 0] {
            file.extend([0, 0, number]);
        }
        file.extend(b"\0\x01\x01\x04Anna\0\0\x01\x05\x03e!");
        file.extend(b"\0\0\x01\x001");
        file
    }

    #[test]
    fn names_share_beginnings() {
        let mut file = file();
        file.truncate(file.len() - 1);
        let (names, error) = Names::read4(&file);
        assert_eq!(error, None);
        assert_eq!((names.get(0, 1), names.get(0, 0)), (Some("Anna".into()), Some("Anne!".into())));
        assert_eq!((names.count(0), names.count(1), names.get(3, 0)), (2, 0, Some("".into())));
        assert_eq!((names.get(0, 2), names.get(9, 0)), (None, None));
    }

    #[test]
    fn damaged_names_end_the_list_and_are_named() {
        for (at, byte, says) in [
            (0, b'x', "does not begin"),
            (12, 0xff, "counts 16711682 names"),
            (36 + 1, 9, "has the number 9, but there are 2"),
            (36 + 9, 1, "the number 1 has two names, the second at byte 44"),
            (36 + 12, 5, "shares more"),
            (36 + 11, 200, "cut off"),
        ] {
            let mut file = file();
            file[at] = byte;
            let (_, error) = Names::read4(&file);
            assert!(error.as_ref().is_some_and(|error| error.contains(says)), "{at}: {error:?}");
        }
        for len in 0..36 {
            assert!(Names::read4(&file()[..len]).1.is_some());
        }
    }

    #[test]
    fn names_of_version_5_are_numbered_as_they_come() {
        let file = b"\x08A\x09E\x64descriptionx\x08B\x6cdescriptionyz\x0bq".to_vec();
        let (names, error) = Names::read5(file.into());
        assert_eq!((names.get(0, 0), names.get(1, 0)), (Some("A".into()), Some("E".into())));
        assert_eq!((names.description.as_str(), error), ("yz", None));
        assert_eq!(names.get(3, 0), Some("q".into()));
        let (names, error) = Names::read5(b"\x08A\x0f?".to_vec().into());
        assert!(names.count(0) == 1 && error.unwrap().contains("byte 2 is of an unknown kind"));
        let (_, error) = Names::read5(b"\x08A\xff\xff\xff\xff\xff\xff".to_vec().into());
        assert!(error.unwrap().contains("byte 2 is cut off"));
    }
}
