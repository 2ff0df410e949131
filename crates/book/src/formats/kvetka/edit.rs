//! Edits of a book: the elements of a position and of those that its moves lead to are changed or added, and everything else
//! is unchanged. A block without room is divided.
#![allow(clippy::cast_possible_truncation, reason = "a block has 2048 bytes, and an element 255 moves")]

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::path::PathBuf;

use shakmaty::{Chess, Position as _};

use tabiya_base::error::{Error, ErrorKind, Remedy, Result};
use tabiya_base::patch::Patch;
use tabiya_chess::Position;
use tabiya_chess::normal::Normal;

use super::element::put_results;
use super::key::Key;
use super::layout::{BLOCK_HEADER, BLOCK_LEN, KEY_LEN, MAX_ELEMENT};
use super::moves::{code, legal};
use super::read::Kvetka;
use super::wire::put_compact;
use crate::edit::{Change, Edit, PositionEdits, no_moves_left, other_variant};
use crate::{Counts, MoveFacts, Moves as _};

/// Bytes in place of a range.
type KvetkaPatch = (Range<usize>, Vec<u8>);

/// An element that is changed or added.
struct KvetkaEdit {
    key: Key,
    /// Its bytes before; `None` if the book does not have it.
    old: Option<Vec<u8>>,
    results: Counts,
    /// Whether an edit of a move that leads to it has set its results.
    is_set: bool,
    moves: Vec<u8>,
    /// The bytes after its moves.
    tail: Vec<u8>,
}

impl KvetkaEdit {
    /// Its bytes.
    ///
    /// # Errors
    /// When it is longer than an element may be.
    fn bytes(&self) -> Result<Vec<u8>> {
        let mut body = self.key.0.to_vec();
        put_results(self.results, &mut body);
        body.push(self.moves.len() as u8);
        body.extend(self.moves.iter().chain(&self.tail));
        let mut bytes = Vec::new();
        put_compact(body.len() as u64, &mut bytes);
        bytes.extend(body);
        if bytes.len() > MAX_ELEMENT || self.moves.len() > u8::MAX.into() {
            let what = format!("a Kvetka book has room for {MAX_ELEMENT} bytes of a position");
            return Err(Error::new(ErrorKind::Format, what).advice("edit a book of another format"));
        }
        Ok(bytes)
    }
}

/// The weight of a move to a position that the book has results of.
pub(super) fn weight_of(book: &Kvetka, target: &Position) -> Option<u64> {
    let found = book.find(&Key::from_chess(target.standard()?)?)?;
    let results = found.element.body().ok()?.results;
    results.has_results().then(|| results.swapped().points())
}

/// What edits change in the files of a book.
///
/// A move's results are in the element of the position that it leads to, so all moves that lead there get them.
///
/// # Errors
/// When a move to add is in the book, or another is not; when the value is no number; when the format has no code for the
/// move, no room for it or no key for its position; when the last move of the book is deleted; when a block is damaged where it
/// has to change.
pub(super) fn patches(book: &Kvetka, all: &[PositionEdits]) -> Result<Vec<(PathBuf, Patch)>> {
    let mut drafts = Drafts { book, known: Vec::new(), elements: Vec::new(), places: HashMap::new() };
    for PositionEdits { at, edits } in all {
        drafts.known = book.moves_in(at);
        edits.iter().try_for_each(|edit| drafts.edit(at.standard().ok_or_else(other_variant)?, edit))?;
    }
    if PositionEdits::any_deletes(all) && !drafts.has_moves() {
        return Err(no_moves_left());
    }
    let mut blocks: BTreeMap<u64, Vec<(Key, Vec<u8>)>> = BTreeMap::new();
    for draft in &drafts.elements {
        let bytes = draft.bytes()?;
        if draft.old.as_ref() != Some(&bytes) {
            blocks.entry(book.home(&draft.key).unwrap_or_default()).or_default().push((draft.key, bytes));
        }
    }
    changes(book, blocks)
}

/// The elements that edits open.
struct Drafts<'a> {
    book: &'a Kvetka,
    /// What the book says of the moves of the position that is edited.
    known: Vec<MoveFacts>,
    elements: Vec<KvetkaEdit>,
    /// The place of each among them.
    places: HashMap<Key, usize>,
}

impl Drafts<'_> {
    /// The draft of a position's element, if the book has the element or it is to be added.
    fn open(&mut self, chess: &Chess, adds: bool) -> Result<Option<&mut KvetkaEdit>> {
        let Some(key) = Key::from_chess(chess) else {
            let what = "a Kvetka book cannot have this position: it has no castling of Chess960, and no room for so \
                        many pieces";
            let error = Error::new(ErrorKind::Usage, what).advice("edit a book of another format");
            return if adds { Err(error) } else { Ok(None) };
        };
        let place = match (self.places.get(&key), self.book.find(&key)) {
            (Some(place), _) => *place,
            (None, None) if !adds => return Ok(None),
            (None, found) => {
                let body = found.and_then(|found| found.element.body().ok());
                self.elements.push(KvetkaEdit {
                    key,
                    old: found.map(|found| found.element.bytes()),
                    results: body.map_or_else(Counts::default, |body| body.results),
                    is_set: false,
                    moves: body.map_or_else(Vec::new, |body| body.moves.to_vec()),
                    tail: body.map_or_else(|| vec![0], |body| body.rest().to_vec()),
                });
                let place = self.elements.len() - 1;
                self.places.insert(key, place);
                place
            }
        };
        Ok(self.elements.get_mut(place))
    }

    fn edit(&mut self, chess: &Chess, edit: &Edit) -> Result<()> {
        let normal = Normal::from_chess(chess);
        let is_it = |code: &u8| normal.is_some_and(|normal| legal(*code, &normal, chess) == Some(edit.mv));
        let has = self.open(chess, false)?.is_some_and(|draft| draft.moves.iter().any(is_it));
        let had = self.known.iter().any(|facts| facts.mv == edit.mv);
        if edit.is_made_already(had, has) {
            return Ok(());
        }
        edit.expect_known(has)?;
        let weight = match edit.change {
            Change::Delete => {
                if let Some(draft) = self.open(chess, false)? {
                    draft.moves.retain(|code| !is_it(code));
                }
                return Ok(());
            }
            Change::Set(value) | Change::Add(value) => value.weight("Kvetka")?,
        };
        let known = self.known.iter().find(|facts| facts.mv == edit.mv).map(|facts| facts.weight);
        if known == Some(weight) && has {
            return Ok(());
        }
        let code = normal.and_then(|normal| code(edit.mv, &normal)).ok_or_else(|| {
            let what =
                format!("a Kvetka book cannot have the move {}: the format has no code for it", edit.name);
            Error::new(ErrorKind::Usage, what).advice("edit a book of another format")
        })?;
        let mut next = chess.clone();
        next.play_unchecked(edit.mv);
        let Some(child) = self.open(&next, true)? else { return Ok(()) };
        let counts = weighing(weight, child.results.games);
        // What it has already stays, down to each result.
        if !child.results.has_results() || child.results.swapped().points() != weight {
            child.results = counts.swapped();
        }
        child.is_set = true;
        if let (false, Some(draft)) = (has, self.open(chess, true)?) {
            draft.moves.push(code);
            if draft.old.is_none() && !draft.is_set {
                draft.results = draft.results.plus(counts);
            }
        }
        Ok(())
    }

    /// Whether any element has a move.
    fn has_moves(&self) -> bool {
        let is_open = |key: &[u8; KEY_LEN]| self.places.contains_key(&Key(*key));
        let blocks = (0..self.book.blocks()).filter_map(|number| self.book.parts.block(number));
        self.elements.iter().any(|draft| !draft.moves.is_empty())
            || blocks.flat_map(|block| block.elements().map_while(std::result::Result::ok)).any(|element| {
                element.body().is_ok_and(|body| !body.moves.is_empty()) && !is_open(element.key)
            })
    }
}

/// The results of a mover that weigh this: two for a win and one for a draw. Of so many games at least, the others were lost.
fn weighing(weight: u64, games: u64) -> Counts {
    let (wins, draws) = (weight / 2, weight % 2);
    Counts::ended(wins, draws, games.saturating_sub(wins + draws))
}

/// The changes of the files for elements that are changed or added, by the blocks where they are or belong.
fn changes(book: &Kvetka, blocks: BTreeMap<u64, Vec<(Key, Vec<u8>)>>) -> Result<Vec<(PathBuf, Patch)>> {
    let Some(first) = book.parts.files.first() else { return Ok(Vec::new()) };
    let mut files: Vec<Vec<KvetkaPatch>> = book.parts.files.iter().map(|_| Vec::new()).collect();
    let (mut keys, mut more) = (Vec::new(), 0_u32);
    for (number, new) in blocks {
        // A book without blocks gets its first one.
        let (part, at) = book.parts.place(number).unwrap_or((first, first.start));
        let old = book.parts.block(number).filter(|block| !block.data().is_empty());
        let mut elements = Vec::new();
        for element in old.iter().flat_map(|block| block.elements()) {
            let element = element.map_err(|(offset, _)| {
                Error::format(&part.path, format!("block {number} of the book is damaged"))
                    .at_offset(at + offset as u64)
                    .advice("convert the book, and edit the new one")
                    .remedied_by(Remedy::Convert)
            })?;
            elements.push((Key(*element.key), element.bytes()));
        }
        for (key, bytes) in new {
            match elements.iter_mut().find(|(known, _)| *known == key) {
                Some((_, old)) => *old = bytes,
                None => {
                    let place = elements.iter().position(|(known, _)| *known > key);
                    elements.insert(place.unwrap_or(elements.len()), (key, bytes));
                }
            }
        }
        let tail = old.map(|block| block.data()).unwrap_or_default();
        let packed = packed(&elements, tail);
        let start = usize::try_from(at).unwrap_or(usize::MAX);
        let at_key = usize::try_from(number).unwrap_or(usize::MAX).saturating_mul(KEY_LEN);
        let old_keys = if old.is_some() { at_key.saturating_add(KEY_LEN) } else { at_key };
        keys.push((at_key..old_keys, packed.iter().flat_map(|(key, _)| key.0).collect()));
        more += (packed.len() - usize::from(old.is_some())) as u32;
        let place = book.parts.files.iter().position(|known| known.number == part.number);
        if let Some(changes) = place.and_then(|place| files.get_mut(place)) {
            let bytes = packed.into_iter().flat_map(|(_, block)| block).collect();
            changes.push((start..start.saturating_add(tail.len()), bytes));
        }
    }
    if let (Some(header), Some(changes), Ok(end), 1..) =
        (book.header(), files.first_mut(), usize::try_from(first.start), more)
    {
        changes.insert(
            0,
            (end.saturating_sub(4)..end, header.blocks.saturating_add(more).to_be_bytes().to_vec()),
        );
    }
    let of_parts = book.parts.files.iter().zip(files);
    let mut patches: Vec<_> =
        of_parts.map(|(part, changes)| (&part.path, Patch::new(&part.map, changes))).collect();
    patches.extend(book.index.as_ref().map(|index| (&index.path, Patch::new(index.bytes(), keys))));
    let mut all = Vec::new();
    for (path, patch) in patches {
        let patch = patch.ok_or_else(|| {
            Error::format(path, "the book's blocks and its index are not about the same elements")
                .advice("convert the book, and edit the new one")
                .remedied_by(Remedy::Convert)
        })?;
        all.extend(Some((path.clone(), patch)).filter(|(_, patch)| !patch.is_empty()));
    }
    Ok(all)
}

/// Blocks of these elements, as many as they need and about equally full, each with the key of its first element. What
/// follows the elements in the first means nothing: it stays as it was, as far as there is room.
fn packed(elements: &[(Key, Vec<u8>)], old: &[u8]) -> Vec<(Key, Vec<u8>)> {
    let room = BLOCK_LEN as usize - BLOCK_HEADER;
    let all: usize = elements.iter().map(|(_, bytes)| bytes.len()).sum();
    // More than one block is filled to this at least, so that none is nearly empty.
    let enough = if all <= room { room } else { all / all.div_ceil(room) };
    let mut blocks: Vec<(Key, Vec<u8>)> = Vec::new();
    for (key, bytes) in elements {
        match blocks.last_mut() {
            Some((_, block))
                if block.len() - BLOCK_HEADER < enough && block.len() + bytes.len() <= BLOCK_LEN as usize =>
            {
                block.extend(bytes);
            }
            _ => blocks.push((*key, [&[0; BLOCK_HEADER], &**bytes].concat())),
        }
    }
    for (number, (_, block)) in blocks.iter_mut().enumerate() {
        let used = block.len();
        block.splice(..BLOCK_HEADER, (used as u16).to_be_bytes());
        block.extend(old.iter().skip(used).filter(|_| number == 0));
        block.resize(BLOCK_LEN as usize, 0);
    }
    blocks
}
