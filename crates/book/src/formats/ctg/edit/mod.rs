//! Edits of a book: the entries of a position and of those that its moves lead to are changed or added, and everything else
//! in the files is unchanged.

mod pages;

use std::collections::HashMap;
use std::path::PathBuf;

use shakmaty::{Chess, Move, Position as _};

use pages::Pages;
use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::patch::Patch;
use tabiya_chess::normal::Normal;

use super::entry::{Statistics, with_mark};
use super::layout::{GREEN, MAX_MOVES, RED};
use super::moves::{code, legal};
use super::read::Ctg;
use super::read::page::Page;
use super::signature::Signature;
use crate::edit::{Change, Edit, EditValue, PositionEdits, no_moves_left, other_variant};
use crate::traverse::Forms as _;
use crate::{Annotation, Recommendation};

/// An entry that is changed or added.
struct CtgEdit {
    signature: Vec<u8>,
    /// Its bytes before, after the signature; `None` if the book does not have it.
    old: Option<Vec<u8>>,
    moves: Vec<[u8; 2]>,
    statistics: Statistics,
}

impl CtgEdit {
    /// The bytes after the signature.
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        // No more than MAX_MOVES.
        bytes.push(u8::try_from(1 + 2 * self.moves.len()).unwrap_or(u8::MAX));
        bytes.extend(self.moves.as_flattened());
        self.statistics.write(&mut bytes);
        bytes
    }

    /// Gives it a colour, unless it has that: the other bits stay.
    fn colour(&mut self, colour: Option<Recommendation>) {
        if self.statistics.recommended() != colour {
            let bits = match colour {
                None => 0,
                Some(Recommendation::Green) => GREEN,
                Some(Recommendation::Red) => RED,
            };
            self.statistics.recommendation = self.statistics.recommendation & !(GREEN | RED) | bits;
        }
    }
}

/// What a move gets; the outer `None` leaves it as it is.
#[derive(Default)]
struct CtgVerdict {
    colour: Option<Option<Recommendation>>,
    mark: Option<Option<Annotation>>,
}

impl CtgVerdict {
    fn from_value(value: EditValue) -> Result<Self> {
        match value {
            EditValue::Verdict { color, mark } => Ok(Self { colour: color.map(Some), mark: mark.map(Some) }),
            EditValue::Plain => Ok(Self { colour: Some(None), mark: Some(None) }),
            EditValue::Weight(_) => {
                Err(Error::new(ErrorKind::Usage, "a CTG book computes its weights from results")
                    .advice("write green, red, none, or a mark such as ! or ?"))
            }
        }
    }
}

/// What edits change in the files of a book.
///
/// A colour is in the entry of the position that the move leads to, so all moves that lead there get it.
///
/// # Errors
/// When a move to add is in the book, or another is not; when the value is a number; when the format has no code for the
/// move, no room for it or no signature for its position; when the last move of the book is deleted; when a page or the
/// index is damaged where it has to change.
pub(super) fn patches(book: &Ctg, all: &[PositionEdits]) -> Result<Vec<(PathBuf, Patch)>> {
    let mut drafts = Drafts { book, entries: Vec::new(), places: HashMap::new() };
    for PositionEdits { at, edits } in all {
        edits.iter().try_for_each(|edit| drafts.edit(at.standard().ok_or_else(other_variant)?, edit))?;
    }
    if PositionEdits::any_deletes(all) && !drafts.has_moves() {
        return Err(no_moves_left());
    }
    let mut pages = Pages::new(book)?;
    for draft in drafts.entries {
        let bytes = draft.bytes();
        if draft.old.as_ref() != Some(&bytes) {
            pages.put(&draft.signature, &bytes)?;
        }
    }
    pages.patches()
}

/// The entries that edits open.
struct Drafts<'a> {
    book: &'a Ctg,
    entries: Vec<CtgEdit>,
    /// The place of each among them, by its signature.
    places: HashMap<Vec<u8>, usize>,
}

impl Drafts<'_> {
    /// The place of the draft of a position's entry, if the book has the entry or it is to be added.
    fn open(&mut self, chess: &Chess, adds: bool) -> Result<Option<usize>> {
        let found = self.book.look_up(chess).map(|(_, entry)| entry);
        let signature = match found {
            Some(entry) => entry.signature.to_vec(),
            None => match Signature::from_chess(chess) {
                Some(signature) => signature.bytes().to_vec(),
                None if adds => {
                    let what = "a CTG book cannot have this position: it has no castling of Chess960, and no room \
                                for so many pieces";
                    return Err(Error::new(ErrorKind::Usage, what).advice("edit a book of another format"));
                }
                None => return Ok(None),
            },
        };
        if let Some(place) = self.places.get(&signature) {
            return Ok(Some(*place));
        }
        let draft = match found {
            Some(entry) => CtgEdit {
                signature,
                old: Some(entry.rest()),
                moves: entry.moves.to_vec(),
                statistics: entry.statistics(),
            },
            None if adds => {
                CtgEdit { signature, old: None, moves: Vec::new(), statistics: Statistics::default() }
            }
            None => return Ok(None),
        };
        self.places.insert(draft.signature.clone(), self.entries.len());
        self.entries.push(draft);
        Ok(Some(self.entries.len() - 1))
    }

    fn draft(&mut self, place: Option<usize>) -> Option<&mut CtgEdit> {
        self.entries.get_mut(place?)
    }

    fn edit(&mut self, chess: &Chess, edit: &Edit) -> Result<()> {
        let adds = matches!(edit.change, Change::Add(_));
        let place = self.open(chess, false)?;
        let normal = self.book.look_up(chess).map(|(normal, _)| normal).or_else(|| Normal::from_chess(chess));
        let is_it = |code: u8| normal.is_some_and(|normal| legal(code, &normal, chess) == Some(edit.mv));
        let has = |draft: &mut CtgEdit| draft.moves.iter().any(|[code, _]| is_it(*code));
        let has = self.draft(place).is_some_and(has);
        let known = self.book.look_up(chess).map(|(_, entry)| entry);
        let had = known.is_some_and(|entry| entry.moves.iter().any(|[code, _]| is_it(*code)));
        if edit.is_made_already(had, has) {
            return Ok(());
        }
        edit.expect_known(has)?;
        let (verdict, mask) = match edit.change {
            Change::Delete => {
                if let Some(draft) = self.draft(place) {
                    draft.moves.retain(|[code, _]| !is_it(*code));
                }
                return Ok(());
            }
            Change::Set(value) | Change::Add(value) => {
                (CtgVerdict::from_value(value)?, self.book.mark_mask())
            }
        };
        if adds {
            let code = normal
                .and_then(|normal| code(edit.mv, &normal, chess))
                .ok_or_else(|| no_code(edit.mv, edit))?;
            let place = self.open(chess, true)?;
            if let Some(draft) = self.draft(place) {
                if draft.moves.len() >= MAX_MOVES {
                    let what = format!("a CTG book has room for {MAX_MOVES} moves of a position");
                    return Err(Error::new(ErrorKind::Usage, what).advice("delete another move first"));
                }
                draft.moves.push([code, !mask]);
            }
        }
        if let Some(mark) = verdict.mark {
            let place = self.open(chess, false)?;
            let found =
                self.draft(place).and_then(|draft| draft.moves.iter_mut().find(|[code, _]| is_it(*code)));
            if let Some([_, byte]) = found {
                *byte = with_mark(*byte, mark, mask)?;
            }
        }
        if adds || verdict.colour.is_some() {
            let mut next = chess.clone();
            next.play_unchecked(edit.mv);
            let place = self.open(&next, adds || verdict.colour.flatten().is_some())?;
            if let (Some(draft), Some(colour)) = (self.draft(place), verdict.colour) {
                draft.colour(colour);
            }
        }
        Ok(())
    }

    /// Whether any entry has a move.
    fn has_moves(&self) -> bool {
        let is_open = |signature: &[u8]| self.places.contains_key(signature);
        self.entries.iter().any(|draft| !draft.moves.is_empty())
            || Page::all(&self.book.ctg)
                .flat_map(|page| page.entries())
                .any(|entry| !entry.moves.is_empty() && !is_open(entry.signature))
    }
}

fn no_code(mv: Move, edit: &Edit) -> Error {
    let why = if mv.is_promotion() {
        "promotions to other pieces than queens"
    } else {
        "moves of third pieces of a kind"
    };
    let what = format!("a CTG book cannot have the move {}: the format has no codes for {why}", edit.name);
    Error::new(ErrorKind::Usage, what).advice("edit a book of another format")
}
