//! The writer: tags, moves in lines of less than 80 columns, variations, comments, glyphs.
#![allow(clippy::cast_possible_truncation, reason = "a digit is below 10")]
#![allow(clippy::indexing_slicing, reason = "the table is computed at compile time")]

use tabiya_base::bytes::Parts as _;
use tabiya_chess::{Position, Variant, variant_facts, variant_name};

use std::io;

use super::tree::{MoveTree, Notes, San, TreeStep};

/// Columns of a line of moves, without its end (the PGN standard, 8.2.1).
const COLUMNS: usize = 79;

/// Move numbers with their dots, enough for almost all games.
static NUMBERS: [San; 500] = {
    let mut numbers = [San::EMPTY; 500];
    let mut number = 0;
    while number < numbers.len() {
        let mut place = 100;
        while place > 0 {
            if number >= place || place == 1 {
                numbers[number].push(b'0' + (number / place % 10) as u8);
            }
            place /= 10;
        }
        numbers[number].push(b'.');
        number += 1;
    }
    numbers
};

/// Writes games one after another into memory.
///
/// ```
/// use tabiya_games::export::{MoveTree, Notes, PgnWriter, San};
/// let mut tree = MoveTree::default();
/// ["e4", "e5"].iter().for_each(|mv| tree.add(San::new(mv.as_bytes())));
/// let mut writer = PgnWriter::default();
/// writer.tag("White", "Anderssen \"A.\"");
/// writer.moves(&tree, &Notes::default(), "*");
/// assert_eq!(writer.text(), b"[White \"Anderssen \\\"A.\\\"\"]\n\n1. e4 e5 *\n\n");
/// ```
#[derive(Clone, Debug, Default)]
pub struct PgnWriter {
    out: Vec<u8>,
    /// Where the current line begins.
    line: usize,
    /// Whether the next word follows without a space: after an opening parenthesis.
    tight: bool,
}

/// What is known of a game before its moves; empty texts are not known.
#[derive(Clone, Copy, Debug, Default)]
pub struct PgnHead<'a> {
    /// The tournament.
    pub event: &'a str,
    /// The place.
    pub site: &'a str,
    /// As PGN writes it.
    pub date: &'a str,
    /// The round.
    pub round: &'a str,
    /// The player of the white pieces.
    pub white: &'a str,
    /// The player of the black pieces.
    pub black: &'a str,
    /// The result.
    pub result: &'a str,
    /// The position that it starts from, if that is not the usual one.
    pub start: Option<&'a str>,
    /// Its variant; standard chess has no tag.
    pub variant: Variant,
    /// Whether it is a game of Chess960.
    pub chess960: bool,
    /// The code and the name of the opening.
    pub opening: Option<(&'a str, &'a str)>,
}

impl PgnWriter {
    /// What was written.
    pub fn text(&self) -> &[u8] {
        &self.out
    }

    /// Discards what was written, and keeps the memory.
    pub fn clear(&mut self) {
        self.out.clear();
    }

    /// Writes a tag. Control characters become spaces, since a value is one line.
    pub fn tag(&mut self, name: &str, value: &str) {
        self.out.reserve(name.len() + value.len() + 8);
        self.out.push(b'[');
        self.out.extend_from_slice(name.as_bytes());
        self.out.extend_from_slice(b" \"");
        // No early end, so that the compiler can look at several bytes in one step.
        let special = |byte| byte < b' ' || byte == b'"' || byte == b'\\' || byte == 0x7f;
        if value.bytes().fold(false, |any, byte| any | special(byte)) {
            for byte in value.bytes() {
                match byte {
                    b'"' | b'\\' => self.out.extend_from_slice(&[b'\\', byte]),
                    0..b' ' | 0x7f => self.out.push(b' '),
                    _ => self.out.push(byte),
                }
            }
        } else {
            self.out.extend_from_slice(value.as_bytes());
        }
        self.out.extend_from_slice(b"\"]\n");
    }

    /// Writes a tag, unless its value is empty.
    pub fn known_tag(&mut self, name: &str, value: &str) {
        if !value.is_empty() {
            self.tag(name, value);
        }
    }

    /// Writes the tags that every game has: the seven of the PGN standard, and what else is known.
    pub fn head(&mut self, head: &PgnHead<'_>) {
        for (name, value, unknown) in [
            ("Event", head.event, "?"),
            ("Site", head.site, "?"),
            ("Date", head.date, "????.??.??"),
            ("Round", head.round, "?"),
            ("White", head.white, "?"),
            ("Black", head.black, "?"),
            ("Result", head.result, "*"),
        ] {
            self.tag(name, if value.is_empty() { unknown } else { value });
        }
        if head.variant != Variant::Chess {
            self.tag("Variant", variant_name(head.variant));
        }
        // Lichess names the start of these variants in each game, and so programs that know the ordinary one alone read it.
        let own = variant_facts(head.variant).has_own_start;
        let own = own.then(|| Position::start_of(head.variant).fen());
        if let Some(fen) = head.start.or(own.as_deref()) {
            if head.chess960 {
                self.tag("Variant", "Chess960");
            }
            self.tag("SetUp", "1");
            self.tag("FEN", fen);
        }
        if let Some((eco, name)) = head.opening {
            self.tag("ECO", eco);
            self.tag("Opening", name);
        }
    }

    /// Writes the tags that another writer wrote.
    pub(crate) fn tags(&mut self, other: &Self) {
        self.out.extend_from_slice(&other.out);
    }

    /// Writes the finished lines out and discards them: a game may have more moves than fit in memory.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn write_lines(&mut self, out: &mut dyn io::Write) -> io::Result<()> {
        let finished = std::mem::take(&mut self.line).min(self.out.len());
        out.write_all(self.out.part(..finished))?;
        self.out.drain(..finished);
        Ok(())
    }

    /// Begins the moves, after the tags.
    pub fn begin_moves(&mut self) {
        self.out.push(b'\n');
        self.line = self.out.len();
    }

    /// Ends the moves with the result; the next game may follow.
    pub fn end_moves(&mut self, result: &str) {
        self.word(result.as_bytes());
        self.out.extend_from_slice(b"\n\n");
        self.line = self.out.len();
    }

    /// Writes the moves after the tags, with their variations and annotations, and the result.
    pub fn moves(&mut self, tree: &MoveTree, notes: &Notes, result: &str) {
        self.begin_moves();
        if let Some(whole) = notes.get(&0) {
            self.comment(&whole.before);
            whole.glyphs.iter().for_each(|&glyph| self.glyph(glyph));
            self.comment(&whole.after);
        }
        match tree.line().filter(|_| notes.is_empty()) {
            Some(line) => self.line(line, tree),
            None => self.tree(tree, notes),
        }
        self.end_moves(result);
    }

    /// Writes moves without variations and annotations, as most games have them.
    fn line(&mut self, moves: &[San], tree: &MoveTree) {
        let mut numbered = true;
        for (ply, &mv) in (u32::from(tree.first.is_black())..).zip(moves) {
            if ply & 1 == 0 || numbered {
                self.number(tree.number.saturating_add(ply / 2), ply & 1 != 0);
                numbered = false;
            }
            self.put(mv);
        }
    }

    /// Writes a short word after another one, together with what separates them.
    #[inline]
    fn put(&mut self, word: San) {
        let column = self.out.len() - self.line;
        let full = column + 1 + word.len() > COLUMNS;
        if full {
            self.line = self.out.len() + 1;
        }
        let between = if full { b'\n' } else { b' ' };
        let end = self.out.len() + 1 + word.len();
        self.out.extend_from_slice(&(word.characters() << 8 | u64::from(between)).to_le_bytes());
        self.out.truncate(end);
    }

    /// Writes moves with their variations and annotations.
    fn tree(&mut self, tree: &MoveTree, notes: &Notes) {
        let odd = u32::from(tree.first.is_black());
        // Whether the next move needs its number, even if it is Black's.
        let mut numbered = true;
        for step in tree.walk() {
            let (at, node) = match step {
                TreeStep::Move(at, node) => (at, node),
                TreeStep::Open => {
                    self.parenthesis();
                    numbered = true;
                    continue;
                }
                TreeStep::Close => {
                    self.close();
                    numbered = true;
                    continue;
                }
            };
            let remark = notes.get(&at);
            if let Some(remark) = remark {
                numbered |= self.comment(&remark.before);
            }
            let ply = node.ply - 1 + odd;
            let black = ply & 1 != 0;
            if numbered || !black {
                self.number(tree.number.saturating_add(ply / 2), black);
            }
            self.san(node.mv);
            numbered = false;
            if let Some(remark) = remark {
                remark.glyphs.iter().for_each(|&glyph| self.glyph(glyph));
                numbered = self.comment(&remark.after);
            }
        }
    }

    /// Makes room for a word of this length: after a space, or in a new line.
    #[inline]
    fn begin(&mut self, len: usize) {
        let column = self.out.len() - self.line;
        if column == 0 || self.tight {
            self.tight = false;
        } else if column + 1 + len > COLUMNS {
            self.out.push(b'\n');
            self.line = self.out.len();
        } else {
            self.out.push(b' ');
        }
    }

    fn word(&mut self, word: &[u8]) {
        self.begin(word.len());
        self.out.extend_from_slice(word);
    }

    /// Writes a move.
    #[inline]
    pub fn san(&mut self, san: San) {
        // One more column, for a parenthesis that may follow.
        self.begin(san.len() + 1);
        self.short(san);
    }

    /// Writes a short word: copies eight bytes at once, and takes back those that do not belong to it.
    #[inline]
    fn short(&mut self, word: San) {
        let end = self.out.len() + word.len();
        self.out.extend_from_slice(&word.padded());
        self.out.truncate(end);
    }

    /// Writes the number of a move, with three dots if it is Black's.
    #[inline]
    pub fn number(&mut self, number: u32, black: bool) {
        let known = usize::try_from(number).ok().and_then(|number| NUMBERS.get(number)).copied();
        let Some(mut word) = known else { return self.great_number(number, black) };
        if black {
            word.push(b'.');
            word.push(b'.');
        }
        if self.out.len() > self.line && !self.tight {
            self.put(word);
        } else {
            self.begin(word.len());
            self.short(word);
        }
    }

    #[cold]
    fn great_number(&mut self, number: u32, black: bool) {
        let text = format!("{number}{}", if black { "..." } else { "." });
        self.word(text.as_bytes());
    }

    /// Writes a numeric annotation glyph.
    pub fn glyph(&mut self, glyph: u8) {
        let text = format!("${glyph}");
        self.word(text.as_bytes());
    }

    /// Opens a variation.
    pub fn parenthesis(&mut self) {
        self.begin(8);
        self.out.push(b'(');
        self.tight = true;
    }

    /// Closes a variation.
    pub fn close(&mut self) {
        if self.out.len() - self.line >= COLUMNS {
            self.out.push(b'\n');
            self.line = self.out.len();
        }
        self.out.push(b')');
    }

    /// Writes a comment, unless it is empty, and returns whether it did. Braces, which PGN does not allow in comments,
    /// become parentheses.
    pub fn comment(&mut self, text: &str) -> bool {
        let mut words = text.split([' ', '\t', '\n', '\r']).filter(|word| !word.is_empty()).peekable();
        if words.peek().is_none() {
            return false;
        }
        let mut mark = "{";
        while let Some(word) = words.next() {
            let end = if words.peek().is_none() { "}" } else { "" };
            // A column is a character.
            self.begin(word.chars().count() + mark.len() + end.len());
            self.out.extend_from_slice(mark.as_bytes());
            for byte in word.bytes() {
                self.out.push(match byte {
                    b'{' => b'(',
                    b'}' => b')',
                    0..b' ' | 0x7f => b' ',
                    _ => byte,
                });
            }
            self.out.extend_from_slice(end.as_bytes());
            mark = "";
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tree from the notation of docs/formats/cbh.md: `<` keeps a position, `>` goes back to it.
    fn tree(text: &str) -> MoveTree {
        let mut tree = MoveTree::default();
        for word in text.split_whitespace() {
            match word {
                "<" => tree.push(),
                ">" => tree.pop(),
                san => tree.add(San::new(san.as_bytes())),
            }
        }
        tree
    }

    fn written(tree: &MoveTree, notes: &Notes) -> String {
        let mut writer = PgnWriter::default();
        writer.moves(tree, notes, "*");
        String::from_utf8(writer.text().to_vec()).unwrap()
    }

    #[test]
    fn variations_follow_the_move_that_they_replace() {
        let tree = tree("e4 < c5 Nf3 < d6 d4 > Nc6 Bb5 > < c6 d4 > Nf6 e5 >");
        let text = "\n1. e4 c5 (1... c6 2. d4) (1... Nf6 2. e5) 2. Nf3 d6 (2... Nc6 3. Bb5) 3. d4 *\n\n";
        assert_eq!(written(&tree, &Notes::default()), text);
    }

    #[test]
    fn variations_are_nested_in_variations() {
        let tree = tree("< e4 < e5 > c5 > d4 < d5 > Nf6 >");
        let text = "\n1. e4 (1. d4 d5 (1... Nf6)) 1... e5 (1... c5) *\n\n";
        assert_eq!(written(&tree, &Notes::default()), text);
    }

    #[test]
    fn remarks_surround_their_moves() {
        let tree = tree("e4 e5 < Nf3 Nc6 > Nc3");
        let mut notes = Notes::default();
        let remark = |before: &str, glyphs: &[u8], after: &str| super::super::Remark {
            before: before.into(),
            glyphs: glyphs.into(),
            after: after.into(),
        };
        notes.insert(0, remark("", &[], "a {game}"));
        notes.insert(1, remark("before", &[1, 16], "behind  it"));
        notes.insert(5, remark("or", &[], ""));
        let text =
            "\n{a (game)} {before} 1. e4 $1 $16 {behind it} 1... e5 2. Nf3 ({or} 2. Nc3) 2... Nc6 *\n\n";
        assert_eq!(written(&tree, &notes), text.replace("2... Nc6", "2...\nNc6"));
    }

    #[test]
    fn a_game_written_in_parts_is_the_same() {
        let tree = tree("e4 < c5 Nf3 < d6 d4 > Nc6 Bb5 > < c6 d4 > Nf6 e5 >");
        let (mut writer, mut parts) = (PgnWriter::default(), Vec::new());
        writer.tag("Event", "?");
        writer.write_lines(&mut parts).unwrap();
        writer.begin_moves();
        for number in 1..200 {
            writer.write_lines(&mut parts).unwrap();
            writer.number(number, false);
            writer.san(San::new(b"Nf3"));
            assert!(writer.text().len() < 100);
        }
        writer.end_moves("*");
        writer.write_lines(&mut parts).unwrap();
        assert!(writer.text().is_empty());
        writer.moves(&tree, &Notes::default(), "*");
        let parts = String::from_utf8(parts).unwrap();
        let (tags, moves) = parts.split_once("\n\n").unwrap();
        assert_eq!(tags, "[Event \"?\"]");
        assert!(moves.starts_with("1. Nf3 2. Nf3 3. ") && moves.ends_with(" 199. Nf3 *\n\n"), "{moves}");
        assert!(moves.lines().rev().skip(2).all(|line| (70..80).contains(&line.len())), "{moves}");
        assert_eq!(writer.text(), written(&tree, &Notes::default()).as_bytes());
    }

    #[test]
    fn black_may_begin_with_any_number() {
        let mut tree = tree("e5 Nf3 Nc6");
        (tree.first, tree.number) = (shakmaty::Color::Black, 17);
        assert_eq!(written(&tree, &Notes::default()), "\n17... e5 18. Nf3 Nc6 *\n\n");
    }

    #[test]
    fn no_line_is_too_long() {
        let mut tree = MoveTree::default();
        (0..500).for_each(|_| tree.add(San::new(b"Qa1xb2+")));
        let mut notes = Notes::default();
        notes.entry(30).or_default().after.push_str(&"word ".repeat(100));
        let text = written(&tree, &notes);
        assert!(text.lines().all(|line| line.chars().count() < 80), "{text}");
        assert!(text.lines().filter(|line| line.len() > 70).count() > 50);
    }
}
