//! A line: a position, and what is said of its moves (docs/formats/text.md).

use std::fmt::Write as _;

use shakmaty::Move;
use shakmaty::fen::Fen;
use shakmaty::san::SanPlus;

use tabiya_base::encoding::decode_text;
use tabiya_chess::notation::{self, parts};
use tabiya_chess::{Position, Variant, may_be_move};

/// The bytes of the longest line that is read. A position with all its moves, written in full, has some thousands.
pub(super) const LONGEST: usize = 1 << 16;

/// Bytes from the start of a file that decide whether it is a book.
const HEAD: usize = 4096;

/// Fields of a position; counters may follow.
const FIELDS: usize = 4;

/// The field of the square for en passant.
const PASSED_FIELD: usize = 3;

/// What a line that begins with this is.
const REMARK: &str = "#";

/// The mark of UTF-8 at the start of a file.
const BOM: &[u8] = b"\xef\xbb\xbf";

/// How moves are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// As operations of EPD: `bm`, `am`, and weights in `c0`.
    Epd,
    /// After a semicolon, each with its weight after it.
    Fen,
}

impl Form {
    pub(super) const ALL: [Self; 2] = [Self::Epd, Self::Fen];
}

/// What an operation says.
enum Said<'a> {
    /// Moves to be played, or after a semicolon moves with numbers.
    Moves(&'a str),
    /// Moves to be avoided.
    Avoided(&'a str),
    /// Weights of moves: `e4=60, d4=40`, as suites have points of moves.
    Weights(&'a str),
    /// Words on the position.
    Comment(&'a str),
    /// Anything else.
    Other,
}

/// A line of a position.
pub(super) struct Line<'a> {
    /// The position as it is written, with counters if it has them.
    pub fen: &'a str,
    /// How its moves are written.
    pub form: Form,
    operations: Vec<&'a str>,
}

/// A move with what a line says of it.
struct Known {
    mv: Move,
    weight: Option<u64>,
    is_avoided: bool,
}

/// Why a line is not read.
pub(super) enum LineError {
    /// It is longer than any that is written.
    TooLong,
    /// It does not begin with a position.
    NoPosition,
}

impl<'a> Line<'a> {
    /// Reads a line; `None` if it is empty or a remark.
    pub(super) fn read(text: &'a str) -> Result<Option<Self>, LineError> {
        let text = text.trim();
        if text.is_empty() || text.starts_with(REMARK) {
            return Ok(None);
        }
        let mut operations = parts(text, ';');
        let first = operations.next().unwrap_or_default();
        let (fen, operation) = position_of(first).ok_or(LineError::NoPosition)?;
        let form = if operation.is_empty() { Form::Fen } else { Form::Epd };
        let operation = Some(operation).filter(|operation| !operation.is_empty());
        Ok(Some(Self { fen, form, operations: operation.into_iter().chain(operations).collect() }))
    }

    /// The position.
    pub(super) fn position(&self, variant: Variant) -> Option<Position> {
        Position::from_any_fen_of(variant, self.fen.as_bytes()).ok()
    }

    fn said(&self) -> impl Iterator<Item = Said<'a>> {
        self.operations.iter().map(|operation| said(self.form, operation))
    }

    /// Whether it names a move.
    pub(super) fn has_moves(&self) -> bool {
        self.said().any(|said| match said {
            Said::Moves(words) | Said::Avoided(words) => words_of(words).any(is_move),
            Said::Weights(_) => true,
            Said::Comment(_) | Said::Other => false,
        })
    }

    /// What it says of the position in words.
    pub(super) fn comment(&self) -> Option<String> {
        let words = self.said().find_map(|said| match said {
            Said::Comment(words) if !words.is_empty() => Some(words),
            _ => None,
        });
        words.map(str::to_owned)
    }

    /// What it says beside moves and weights, as it is written.
    pub(super) fn others(&self) -> impl Iterator<Item = &'a str> {
        let is_other =
            |operation: &&str| matches!(said(self.form, operation), Said::Comment(_) | Said::Other);
        self.operations.iter().copied().filter(is_other)
    }

    /// Adds its moves to those of other lines of the position, and weights of the same move up. `wrong` gets the words that are
    /// no legal moves.
    pub(super) fn add_moves(&self, at: &Position, sum: &mut Vec<(Move, u64)>, wrong: &mut dyn FnMut(&str)) {
        let mut known: Vec<Known> = Vec::new();
        let mut note = |word: &str, number: Option<u64>, is_avoided: bool| {
            let Ok(mv) = notation::read(word.trim_end_matches(['!', '?']), at) else { return wrong(word) };
            let place = known.iter().position(|known| known.mv == mv).unwrap_or(known.len());
            if place == known.len() {
                known.push(Known { mv, weight: None, is_avoided: false });
            }
            let Some(known) = known.get_mut(place) else { return };
            known.is_avoided |= is_avoided;
            if let Some(number) = number {
                known.weight = Some(known.weight.unwrap_or(0).saturating_add(number));
            }
        };
        for said in self.said() {
            match said {
                Said::Moves(words) if self.form == Form::Fen => each_weighed(words, &mut note),
                Said::Moves(words) => words_of(words).for_each(|word| note(word, None, false)),
                Said::Avoided(words) => words_of(words).for_each(|word| note(word, None, true)),
                Said::Weights(words) => {
                    words
                        .split(',')
                        .filter_map(weighed)
                        .for_each(|(word, number)| note(word, Some(number), false));
                }
                Said::Comment(_) | Said::Other => {}
            }
        }
        for Known { mv, weight, is_avoided } in known {
            let weight = if is_avoided { 0 } else { weight.unwrap_or(1) };
            match sum.iter_mut().find(|(other, _)| *other == mv) {
                Some((_, sum)) => *sum = sum.saturating_add(weight),
                None => sum.push((mv, weight)),
            }
        }
    }
}

/// Whether letters of this kind are between moves.
fn is_between(letter: char) -> bool {
    letter.is_whitespace() || letter == ','
}

fn words_of(words: &str) -> impl Iterator<Item = &str> {
    words.split(is_between).filter(|word| !word.is_empty())
}

/// Moves with the numbers after them, as `e4 60, d4=40`.
fn each_weighed(words: &str, note: &mut dyn FnMut(&str, Option<u64>, bool)) {
    let mut last: Option<&str> = None;
    for word in words_of(words) {
        // A word that is no number is no weight, whatever a move it would be.
        let number = word.parse::<u64>().ok();
        match (last.take(), number) {
            (Some(mv), Some(_)) => {
                note(mv, number, false);
                continue;
            }
            (Some(mv), None) => note(mv, None, false),
            (None, _) => {}
        }
        match weighed(word) {
            Some((mv, number)) => note(mv, Some(number), false),
            None => last = Some(word),
        }
    }
    if let Some(mv) = last {
        note(mv, None, false);
    }
}

/// A move with its weight: `e4=60`.
fn weighed(text: &str) -> Option<(&str, u64)> {
    let (mv, weight) = text.trim().rsplit_once('=')?;
    Some((mv.trim(), weight.trim().parse().ok()?)).filter(|(mv, _)| is_move(mv))
}

fn is_move(word: &str) -> bool {
    may_be_move(word.as_bytes())
}

/// What an operation says. After a position with a semicolon there are moves, unless it is a known operation.
fn said(form: Form, operation: &str) -> Said<'_> {
    let (code, rest) = operation.split_once(char::is_whitespace).unwrap_or((operation, ""));
    let words = rest.trim().trim_matches('"');
    let is_weights = || words.split(',').all(|part| weighed(part).is_some());
    match code {
        "bm" if form == Form::Epd => Said::Moves(words),
        "am" => Said::Avoided(words),
        "c0" if is_weights() => Said::Weights(words),
        "c0" | "c1" => Said::Comment(words.trim()),
        _ if form == Form::Fen => Said::Moves(operation),
        _ => Said::Other,
    }
}

/// The position that a text begins with, and what follows it.
fn position_of(text: &str) -> Option<(&str, &str)> {
    let (mut rest, mut fields) = (text, 0);
    loop {
        let next = rest.trim_start();
        let (word, after) = next.split_at_checked(next.find(char::is_whitespace).unwrap_or(next.len()))?;
        // Checks that are left or were given have signs.
        let is_counter = word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'+');
        if word.is_empty() || fields >= FIELDS && !is_counter {
            let fen = text.strip_suffix(next)?.trim();
            let is_fen = fields >= FIELDS && Fen::from_ascii(fen.replace("[-]", "[]").as_bytes()).is_ok();
            return is_fen.then_some((fen, next));
        }
        fields += 1;
        rest = after;
    }
}

/// The lines of a file, with their offsets.
pub(super) fn lines(data: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut next = 0;
    data.split_inclusive(|byte| *byte == b'\n').map(move |line| {
        let at = next;
        next += line.len();
        (at, line)
    })
}

/// Reads a line as it is in the file.
pub(super) fn with_line<T>(bytes: &[u8], read: impl FnOnce(Line<'_>) -> T) -> Result<Option<T>, LineError> {
    let bytes = bytes.strip_prefix(BOM).unwrap_or(bytes);
    if bytes.len() > LONGEST {
        return Err(LineError::TooLong);
    }
    let text = decode_text(bytes);
    Ok(Line::read(&text)?.map(read))
}

/// The form of a book's first position with moves, if what is before it are empty lines, remarks and positions; in a file with the
/// name of a book, other lines too.
pub(super) fn is_book(data: &[u8], is_named: bool) -> Option<Form> {
    let head = data.get(..HEAD).unwrap_or(data);
    for (_, line) in lines(head) {
        match with_line(line, |line| (line.form, line.has_moves())) {
            Ok(Some((form, true))) => return Some(form),
            Ok(Some((_, false)) | None) => {}
            Err(_) if is_named => {}
            Err(_) => return None,
        }
    }
    None
}

/// The first fields of a new line of a position. En passant is written where a pawn attacks the square, as keys have it, so that the
/// same position is read.
pub(super) fn fields(form: Form, at: &Position) -> String {
    let (epd, fen) = (at.epd(), at.fen());
    let passed = fen.split(' ').nth(PASSED_FIELD);
    let written = epd.split(' ').enumerate();
    let mut fields: Vec<&str> =
        written.map(|(place, field)| passed.filter(|_| place == PASSED_FIELD).unwrap_or(field)).collect();
    if form == Form::Fen {
        // How long the game was is no matter of a book.
        fields.extend(["0", "1"]);
    }
    fields.join(" ")
}

/// A line of a position with its moves, in order, and what else is said of it.
pub(super) fn written<'a>(
    form: Form,
    fields: &str,
    at: &Position,
    moves: &[(Move, u64)],
    others: impl IntoIterator<Item = &'a str>,
) -> String {
    let named: Vec<(String, u64)> = moves
        .iter()
        .map(|(mv, weight)| (SanPlus::from_move(at.chess().clone(), *mv).to_string(), *weight))
        .collect();
    let mut line = fields.to_owned();
    if form == Form::Fen {
        for (number, (mv, weight)) in named.iter().enumerate() {
            let between = if number == 0 { ';' } else { ',' };
            let _ = write!(line, "{between} {mv} {weight}");
        }
    } else {
        for (code, is_avoided) in [(" bm", false), (" am", true)] {
            let of = named.iter().filter(|(_, weight)| (*weight == 0) == is_avoided);
            let words: String = of.map(|(mv, _)| format!(" {mv}")).collect();
            if !words.is_empty() {
                let _ = write!(line, "{code}{words};");
            }
        }
        if named.iter().any(|(_, weight)| *weight > 1) {
            let weights: Vec<String> = named.iter().map(|(mv, weight)| format!("{mv}={weight}")).collect();
            let _ = write!(line, " c0 \"{}\";", weights.join(", "));
        }
    }
    for other in others {
        let _ = write!(
            line,
            "{}{other}{}",
            if form == Form::Fen { "; " } else { " " },
            if form == Form::Fen { "" } else { ";" }
        );
    }
    line
}
