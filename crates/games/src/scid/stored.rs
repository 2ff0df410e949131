//! A game as it is stored: tags, start, moves, comments.

use super::layout::{COMMON_TAGS, FIRST_COMMON, HAS_FEN, MAX_NESTING, OLD_DATE_TAG, mark};

/// The parts of a game. They were found to fit together: marks are in their places, and there is a comment for each that is marked.
#[derive(Clone, Copy, Debug)]
pub struct Stored<'a> {
    /// Names and values of tags that are not in the index.
    tags: &'a [u8],
    /// The position that it starts from.
    pub fen: Option<&'a [u8]>,
    /// Moves and marks, with the one that ends the game.
    pub moves: &'a [u8],
    /// Where they begin, in bytes from the start of the game.
    pub moves_at: u64,
    /// The comments, each with a zero byte at its end.
    pub comments: &'a [u8],
    /// Whether the game has comments or glyphs.
    pub is_annotated: bool,
}

/// The name and the value of a tag.
pub type StoredTag<'a> = (&'a [u8], &'a [u8]);

/// Where something is wrong, in bytes from the start of the game, and what it is, as a clause.
pub type Wrong = (u64, &'static str);

/// Takes parts off the front of bytes.
#[derive(Clone, Copy)]
struct Parts<'a> {
    all: &'a [u8],
    at: usize,
}

impl<'a> Parts<'a> {
    fn wrong(&self, what: &'static str) -> Wrong {
        (self.at as u64, what)
    }

    fn byte(&mut self, what: &'static str) -> Result<u8, Wrong> {
        let byte = self.all.get(self.at).copied().ok_or(self.wrong(what))?;
        self.at += 1;
        Ok(byte)
    }

    fn take(&mut self, len: usize, what: &'static str) -> Result<&'a [u8], Wrong> {
        let end = self.at.checked_add(len);
        let part = end.and_then(|end| self.all.get(self.at..end)).ok_or(self.wrong(what))?;
        self.at += len;
        Ok(part)
    }

    /// The bytes up to a zero, which is taken too.
    fn text(&mut self, what: &'static str) -> Result<&'a [u8], Wrong> {
        let rest = self.all.get(self.at..).unwrap_or_default();
        let len = memchr::memchr(0, rest).ok_or(self.wrong(what))?;
        let text = self.take(len, what)?;
        self.at += 1;
        Ok(text)
    }

    fn since(&self, from: usize) -> &'a [u8] {
        self.all.get(from..self.at).unwrap_or_default()
    }

    /// A tag that is not in the index: its name, empty if it has none that is known, and its value; `None` after the last one.
    fn tag(&mut self) -> Result<Option<StoredTag<'a>>, Wrong> {
        const CUT: &str = "its tags are cut off";
        let name = match self.byte(CUT)? {
            0 => return Ok(None),
            OLD_DATE_TAG => return self.take(3, CUT).map(|_| Some((&[][..], &[][..]))),
            kind @ FIRST_COMMON.. => {
                let known = COMMON_TAGS.get(usize::from(kind - FIRST_COMMON));
                known.map_or(&[][..], |name| name.as_bytes())
            }
            len => self.take(len.into(), CUT)?,
        };
        let len = self.byte(CUT)?;
        Ok(Some((name, self.take(len.into(), CUT)?)))
    }
}

impl<'a> Stored<'a> {
    /// Finds the parts of a game.
    ///
    /// # Errors
    /// When they do not fit together.
    pub fn read(data: &'a [u8]) -> Result<Self, Wrong> {
        let mut parts = Parts { all: data, at: 0 };
        while parts.tag()?.is_some() {}
        let tags = parts.since(0);
        let flags = parts.byte("it ends before its moves")?;
        let fen =
            if flags & HAS_FEN != 0 { Some(parts.text("its starting position has no end")?) } else { None };
        let moves_at = parts.at;
        let (comments, glyphs) = marks(&mut parts)?;
        let moves = parts.since(moves_at);
        let comments_at = parts.at;
        for _ in 0..comments {
            parts.text("a comment has no end")?;
        }
        if parts.at < data.len() {
            return Err(parts.wrong("bytes follow its last comment"));
        }
        let is_annotated = comments + glyphs > 0;
        let comments = parts.since(comments_at);
        Ok(Self { tags, fen, moves, moves_at: moves_at as u64, comments, is_annotated })
    }

    /// Names and values of the tags that are not in the index, in their order.
    pub fn tags(&self) -> impl Iterator<Item = StoredTag<'a>> + use<'a> {
        let mut parts = Parts { all: self.tags, at: 0 };
        std::iter::from_fn(move || parts.tag().ok().flatten()).filter(|(name, _)| !name.is_empty())
    }
}

/// Goes past the moves, and returns how many comments and glyphs are marked among them.
fn marks(parts: &mut Parts<'_>) -> Result<(u32, u32), Wrong> {
    const CUT: &str = "its moves are cut off";
    let (mut comments, mut glyphs, mut depth) = (0, 0, 0);
    // Whether the line has a move: one around a variation always has.
    let mut moved = false;
    loop {
        let before = *parts;
        match parts.byte(CUT)? {
            mark::GLYPH => {
                parts.byte(CUT)?;
                glyphs += 1;
            }
            mark::COMMENT => comments += 1,
            mark::OPEN if !moved => return Err(before.wrong("a variation begins before the first move")),
            mark::OPEN if depth >= MAX_NESTING => {
                return Err(before.wrong("its variations are nested too deep"));
            }
            mark::OPEN => (depth, moved) = (depth + 1, false),
            mark::CLOSE if depth == 0 => return Err(before.wrong("a variation ends that has not begun")),
            mark::CLOSE => (depth, moved) = (depth - 1, true),
            mark::END if depth > 0 => return Err(before.wrong("it ends within a variation")),
            mark::END => return Ok((comments, glyphs)),
            _ => moved = true,
        }
    }
}
