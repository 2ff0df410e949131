//! A book over its three files: a position becomes its entry, and its moves.

use std::path::{Path, PathBuf};

use shakmaty::{Chess, Move, Position as _};

use super::entry::{Entry, EntryMove, Statistics};
use super::files;
use super::headers;
use super::index::Index;
use super::layout::UNSURE;
use super::moves::legal;
use super::page::{Page, RawEntry};
use super::signature::Signature;
use crate::base::error::Result;
use crate::base::map::Map;
use crate::book::{Annotation, BookMove, Ratings};
use crate::chess::Position;
use crate::chess::normal::Normal;

/// A ChessBase book.
#[derive(Debug)]
pub struct Ctg {
    name: PathBuf,
    files: [PathBuf; 3],
    ctg: Map,
    cto: Map,
    ctb: Map,
}

/// A legal move of an entry with the statistics of the position that it leads to.
#[derive(Clone, Copy)]
struct Known {
    mv: Move,
    written: EntryMove,
    statistics: Option<Statistics>,
}

impl Known {
    /// Twice the mover's wins and once its draws.
    fn weight(&self) -> u64 {
        self.statistics.map_or(0, |next| 2 * u64::from(next.losses) + u64::from(next.draws))
    }

    fn has_result(&self) -> bool {
        self.statistics.is_some_and(|next| (next.wins | next.losses | next.draws) != 0)
    }

    fn recommended(&self) -> Option<bool> {
        self.statistics.and_then(|next| next.recommended())
    }

    /// How far tournaments prefer it: the only move, a green one, any other; `None` where it is not played.
    fn class(&self) -> Option<u8> {
        let mark = self.written.annotation();
        let sound = !matches!(mark, Some(Annotation::Bad | Annotation::Blunder | Annotation::Dubious));
        match (mark, self.recommended()) {
            (_, Some(false)) => None,
            _ if !sound => None,
            (Some(Annotation::Only), _) => Some(2),
            (_, Some(true)) => Some(1),
            _ => Some(0),
        }
    }

    fn ratings(&self) -> Option<Ratings> {
        let next = self.statistics?;
        // The side to move there is the mover's opponent.
        let average = next.other.average();
        let performance = next.own.average().and_then(|opponents| next.of_mover().performance(opponents));
        (average.is_some() || performance.is_some()).then_some(Ratings { average, performance })
    }
}

impl Ctg {
    /// Opens the book that a file is a part of: any of the three, in any letter case.
    ///
    /// Maps the files and reads their headers and one page, whatever their size.
    ///
    /// # Errors
    /// When a file is missing or cannot be opened, is none of a CTG book, or belongs to another book than the others.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let name = path.as_ref();
        let real = files::in_any_case(name).unwrap_or_else(|| name.to_owned());
        // Asked first, so that a file that is not there is told by the name that was given.
        let first = Map::open(&real)?;
        let opened = files::part(&real).unwrap_or_default();
        headers::check_one(opened, &real, &first)?;
        let files = files::of(&real)?;
        let mut first = Some(first);
        let mut open = |at: usize, path: &Path| match first.take_if(|_| at == opened) {
            Some(map) => Ok(map),
            None => Map::open(path),
        };
        let [ctg, cto, ctb] = &files;
        let maps = [open(0, ctg)?, open(1, cto)?, open(2, ctb)?];
        Self::of(name.to_owned(), files, maps)
    }

    /// A book over the bytes of its three files: pages, index, bitmap. `path` is only its name.
    ///
    /// # Errors
    /// As [`Ctg::open`], but for the opening of the files.
    pub fn new(
        path: impl Into<PathBuf>,
        ctg: impl Into<Map>,
        cto: impl Into<Map>,
        ctb: impl Into<Map>,
    ) -> Result<Self> {
        let name = path.into();
        let files = files::EXTENSIONS.map(|extension| name.with_extension(extension));
        Self::of(name, files, [ctg.into(), cto.into(), ctb.into()])
    }

    fn of(name: PathBuf, files: [PathBuf; 3], maps: [Map; 3]) -> Result<Self> {
        headers::check(&files, &maps)?;
        let [ctg, cto, ctb] = maps;
        Ok(Self { name, files, ctg, cto, ctb })
    }

    /// The name by which it was opened.
    pub(super) fn name(&self) -> &Path {
        &self.name
    }

    /// Pages, index, bitmap.
    pub(super) fn parts(&self) -> &[PathBuf; 3] {
        &self.files
    }

    pub(super) fn opened_first(&self) -> Vec<PathBuf> {
        let opened = files::part(&self.name).unwrap_or_default();
        let mut files = self.files.to_vec();
        if let Some(files) = files.get_mut(..=opened) {
            files.rotate_right(1);
        }
        files
    }

    /// The bytes of the pages, the header page among them.
    pub(super) fn pages(&self) -> &Map {
        &self.ctg
    }

    /// The index; `None` never, once the book is open.
    pub(super) fn index(&self) -> Option<Index<'_>> {
        Index::new(&self.cto, &self.ctb)
    }

    /// The entry of a position, where the book has one.
    pub fn entry(&self, at: &Position) -> Option<Entry> {
        self.find(at.chess()).map(|(_, entry)| entry.decode())
    }

    /// What the book knows of a position itself, where it has it.
    pub fn statistics(&self, at: &Position) -> Option<Statistics> {
        self.find(at.chess()).map(|(_, entry)| entry.statistics())
    }

    /// The entry under a signature.
    pub(super) fn raw(&self, signature: &Signature) -> Option<RawEntry<'_>> {
        let index = self.index()?;
        let page = index.page(index.leaf(signature.hash()))?;
        Page::of(&self.ctg, page)?.find(signature.bytes())
    }

    /// A position's normal form and entry. An en-passant file that only an illegal capture gives is left out where it
    /// is not found with it: some books are written so.
    pub(super) fn find(&self, chess: &Chess) -> Option<(Normal, RawEntry<'_>)> {
        let normal = Normal::of(chess)?;
        let entry = self.raw(&Signature::of_normal(&normal)?);
        let entry = entry.or_else(|| {
            let again = normal.en_passant().is_some() && chess.legal_ep_square().is_none();
            again.then(|| self.raw(&Signature::of_normal(&normal.without_en_passant())?))?
        })?;
        Some((normal, entry))
    }

    /// Shows each legal move of a position's entry once, in its order.
    fn each_known(&self, chess: &Chess, normal: &Normal, entry: &RawEntry<'_>, see: &mut dyn FnMut(Known)) {
        let mut seen = [false; 256];
        for written in entry.moves() {
            let [first, _] = UNSURE;
            let code = if UNSURE.contains(&written.code) { first } else { written.code };
            let Some(place) = seen.get_mut(usize::from(code)) else { continue };
            if std::mem::replace(place, true) {
                continue;
            }
            let Some(mv) = legal(written.code, normal, chess) else { continue };
            let mut next = chess.clone();
            next.play_unchecked(mv);
            let statistics = self.find(&next).map(|(_, entry)| entry.statistics());
            see(Known { mv, written, statistics });
        }
    }

    /// Appends the legal moves of a position, whose normal form and entry are given with it.
    pub(super) fn append_of(
        &self,
        chess: &Chess,
        normal: &Normal,
        entry: &RawEntry<'_>,
        out: &mut Vec<BookMove>,
    ) {
        let start = out.len();
        let mut results = false;
        self.each_known(chess, normal, entry, &mut |known| {
            results |= known.has_result();
            out.push(BookMove {
                counts: known.statistics.map(|next| next.of_mover()),
                annotation: known.written.annotation(),
                recommended: known.recommended(),
                ratings: known.ratings(),
                ..BookMove::new(known.mv, known.weight())
            });
        });
        if !results {
            out.iter_mut().skip(start).for_each(|known| known.weight = 1);
        }
    }

    pub(super) fn append(&self, chess: &Chess, out: &mut Vec<BookMove>) {
        if let Some((normal, entry)) = self.find(chess) {
            self.append_of(chess, &normal, &entry, out);
        }
    }

    pub(super) fn heaviest(&self, chess: &Chess) -> Option<Move> {
        let mut results = false;
        let mut best: Option<(u8, u64, Move)> = None;
        let (normal, entry) = self.find(chess)?;
        self.each_known(chess, &normal, &entry, &mut |known| {
            results |= known.has_result();
            let Some(class) = known.class() else { return };
            let rank = (class, known.weight());
            if best.is_none_or(|(class, weight, _)| rank > (class, weight)) {
                best = Some((rank.0, rank.1, known.mv));
            }
        });
        let (_, _, mv) = best.filter(|(class, weight, _)| *class > 0 || *weight > 0 || !results)?;
        Some(mv)
    }
}
