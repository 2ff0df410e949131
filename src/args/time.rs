//! A length of time as people write it.

use std::time::Duration;

/// The units, in seconds.
const UNITS: [(char, u64); 4] = [('s', 1), ('m', 60), ('h', 3600), ('d', 86_400)];

/// Reads a text such as `90s`, `30m`, `8h` or `1h30m`.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || "must be a time such as 90s, 30m, 8h or 1h30m".to_owned();
    let (mut seconds, mut number) = (0_u64, String::new());
    for letter in text.trim().chars() {
        if letter.is_ascii_digit() {
            number.push(letter);
            continue;
        }
        let (_, unit) =
            UNITS.iter().find(|(name, _)| *name == letter.to_ascii_lowercase()).ok_or_else(wrong)?;
        let count: u64 = number.parse().map_err(|_| wrong())?;
        seconds = count.checked_mul(*unit).and_then(|more| seconds.checked_add(more)).ok_or_else(wrong)?;
        number.clear();
    }
    if !number.is_empty() || seconds == 0 { Err(wrong()) } else { Ok(Duration::from_secs(seconds)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_people_write_them() {
        for (text, seconds) in [("90s", 90), ("30m", 1800), ("8h", 28_800), ("1h30m", 5400), ("2D", 172_800)]
        {
            assert_eq!(duration(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for text in ["", "8", "h", "8x", "-1h", "1.5h", "0s", "99999999999999999999h", "9999999999999999999d"]
        {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
