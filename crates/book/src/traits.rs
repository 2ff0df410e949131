//! What a book is, whatever its format: the traits that formats and layers over books implement.

use std::collections::HashSet;
use std::fmt;
use std::path::{Path, PathBuf};

use shakmaty::Move;

use tabiya_base::error::Result;
use tabiya_base::findings::{Finding, Findings, listed, summed};
use tabiya_base::patch::Patch;
use tabiya_base::progress::Progress;
use tabiya_base::visit::Seen;
use tabiya_chess::{MoveCode, Position, Variant};

use crate::{
    Among, By, Field, Format, GameReference, Learnable, MoveFacts, OtherRules, PositionRecord, Scope, edit,
    verdict,
};

/// What a book as a whole holds, for `tabiya info`. `None` means that the format does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BookSummary {
    /// Entries or elements that the file holds.
    pub entries: u64,
    /// Different positions.
    pub positions: Option<u64>,
    /// Moves, duplicates counted once.
    pub moves: Option<u64>,
    /// Games.
    pub games: Option<u64>,
    /// Plies from the starting position to the end of the deepest line.
    pub deepest: Option<u32>,
    /// Positions that play reaches from the starting position.
    pub reachable: Option<u64>,
    /// Entries with something learned.
    pub learned: Option<u64>,
    /// What is wrong with the book, one finding for each kind.
    pub findings: Vec<Finding>,
    /// What else the file says of itself, such as its author: lines for people, each with a name.
    pub notes: Vec<(&'static str, String)>,
}

/// What a book says of itself, as its format has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    /// The format.
    pub format: Format,
    /// What people wrote, in the order of the format's fields.
    pub texts: Vec<String>,
    /// The settings, likewise.
    pub settings: Vec<i32>,
    /// Whether another format loses something that people wrote or chose, beside what acts through the weights.
    pub says_anything: bool,
    /// Whether the settings say what moves weigh, also where books are added up.
    pub weighs: bool,
}

/// What the books that are read say of themselves, for the writer of a new one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    /// What the first book of the new book's format says.
    pub heading: Heading,
    /// Whether all books that are read are of that format.
    pub alone: bool,
}

/// Takes positions one by one, until it breaks off.
pub type Visit<'a> = &'a mut dyn FnMut(&PositionRecord) -> Seen;

/// What a book says: it turns a position into moves. Layers over a book, such as one that shows a part of it, are that too.
pub trait Moves: Send + Sync {
    /// The variant whose moves these are. In positions of others there are none, though Polyglot's keys may be the same.
    fn variant(&self) -> Variant;

    /// Appends the moves in a position to `out`: legal ones only, each once, in any order.
    fn moves(&self, at: &Position, out: &mut Vec<MoveFacts>);

    /// The same moves in a list of their own.
    fn moves_in(&self, at: &Position) -> Vec<MoveFacts> {
        let mut moves = Vec::new();
        self.moves(at, &mut moves);
        moves
    }

    /// Whether [`Moves::moves`] has a legal move. Formats may know this faster.
    fn has(&self, at: &Position, mv: Move) -> bool {
        self.moves_in(at).iter().any(|known| known.mv == mv)
    }

    /// Drops those of a position's legal moves after which there is surely no move, so that the positions need not be made to ask.
    /// Formats that find positions by keys know it.
    fn drop_absent(&self, _at: &Position, _moves: &mut Vec<Move>) {}

    /// Shows the positions one by one, each with its moves and everything that is known of them, until `visit` breaks off.
    /// With [`Scope::All`] a damaged book may show the same position more than once. What cannot be read is left out, and
    /// [`Book::damage`] reports it.
    ///
    /// Returns how many positions [`Scope::Reachable`] leaves out because play does not reach them; 0 for
    /// [`Scope::All`]. The number has no meaning where `visit` breaks off.
    ///
    /// # Errors
    /// What fails in `visit`, and when the work is interrupted.
    fn each(&self, scope: Scope, progress: &Progress, visit: Visit<'_>) -> Result<u64>;

    /// How many positions with moves, and how many moves, [`Moves::each`] shows of [`Scope::All`]. Formats may know this faster, if
    /// a move that they hold in two forms counts as two.
    ///
    /// # Errors
    /// When the work is interrupted.
    fn count(&self) -> Result<(u64, u64)> {
        let (mut positions, mut moves) = (0, 0);
        self.each(Scope::All, &Progress::none(), &mut |record| {
            positions += u64::from(!record.moves.is_empty());
            moves += record.moves.len() as u64;
            Ok(())
        })?;
        Ok((positions, moves))
    }

    /// Shows the keys of the positions that [`Moves::each`] shows of [`Scope::All`] with moves. Formats may know this faster.
    ///
    /// # Errors
    /// When the work is interrupted.
    fn each_key(&self, visit: &mut dyn FnMut(u64)) -> Result<()> {
        self.each(Scope::All, &Progress::none(), &mut |record| {
            if !record.moves.is_empty() {
                visit(record.key);
            }
            Ok(())
        })?;
        Ok(())
    }

    /// Adds what is wrong with the moves of a position, where keys tell positions apart and only the position shows it: what
    /// [`Book::damage`] has and [`Book::damage_to_look_ups`] leaves out.
    fn add_illegal(&self, _at: &Position, _findings: &mut Findings<'_>) {}

    /// Whether the positions themselves are known, not only their keys. Then [`Scope::All`] has them too.
    fn holds_positions(&self) -> bool {
        true
    }

    /// What the book says of itself as a whole, where its format has room for that.
    fn heading(&self) -> Option<Heading> {
        None
    }

    /// What is said of positions in words, and the games that are named.
    fn as_remarks(&self) -> Option<&dyn Remarks> {
        None
    }
}

/// A book of a format that has words on positions and names games.
pub trait Remarks {
    /// What the book says of a position in words: mostly the name of its opening.
    fn comment(&self, at: &Position) -> Option<String>;

    /// A game with the position, if the book names one.
    fn game(&self, at: &Position) -> Option<GameReference>;

    /// Shows every game that the book names.
    ///
    /// # Errors
    /// What fails in `see`.
    fn games(&self, see: &mut dyn FnMut(GameReference) -> Seen) -> Result<()>;
}

/// A book that counts games of some kinds separately.
pub trait Sliced {
    /// What it counts separately.
    fn by(&self) -> By;

    /// Appends the moves as [`Moves::moves`] does, with counts and weights of these games alone. Returns whether the book can
    /// tell these games apart; if not, it appends nothing.
    fn moves_among(&self, at: &Position, among: &Among, out: &mut Vec<MoveFacts>) -> bool;
}

/// A book whose moves are edited by replacing some of its bytes.
pub trait Patchable {
    /// The changes of the book's files that make these edits, in order. Nothing else changes.
    ///
    /// # Errors
    /// When an edit does not fit the moves or the format, the format or a damaged file has no room for it, or the work is
    /// interrupted.
    fn patches(&self, edits: &[edit::PositionEdits], progress: &Progress) -> Result<Vec<(PathBuf, Patch)>>;

    /// The weight that a move has as soon as it is added, where weights are those of the positions that moves lead to, and the
    /// book has this one.
    fn weight_of_target(&self, _target: &Position) -> Option<u64> {
        None
    }

    /// Whether positions are one that differ only in their colours, or mirrored.
    fn merges_forms(&self) -> bool {
        false
    }

    /// Whether the book is a tree: only the moves that lead to a position give its moves a place.
    fn is_tree(&self) -> bool {
        false
    }
}

/// The file, or files, of a book.
///
/// An open book never fails: look-ups do not find what is damaged, and [`Book::check`] reports it.
pub trait Book: Moves {
    /// The file that was opened.
    fn path(&self) -> &Path;

    /// Every file of the book, the opened one first.
    fn files(&self) -> Vec<PathBuf> {
        vec![self.path().to_owned()]
    }

    /// Its format.
    fn format(&self) -> Format;

    /// The heaviest legal move, the first in the book's order among equals; where the format has colours, marks or limits,
    /// of those that they let be played in tournaments.
    fn best(&self, at: &Position) -> Option<Move> {
        verdict::best(self, at, true)
    }

    /// The legal move of the greatest weight where colours and limits do not count, and marks are factors of the weight.
    fn heaviest(&self, at: &Position) -> Option<Move> {
        verdict::heaviest(self, at)
    }

    /// What the book says of a position that only its own format has, always the same fields; none if it does not have the position.
    fn fields(&self, _at: &Position) -> Vec<Field> {
        Vec::new()
    }

    /// What was wrong when the book was opened, a line each. The book is played without its damaged parts.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }

    /// The variants whose rules its moves obey, as far as some of its positions show. Only a Polyglot book has to be looked at: it
    /// does not say its variant, and may be read as one of another.
    fn rules(&self, _progress: &Progress) -> Vec<Variant> {
        vec![self.variant()]
    }

    /// The rules that its moves obey, if they do not obey those of this variant: as [`Book::rules`], but a book that obeys them
    /// is hardly looked at for the others.
    fn other_rules(&self, variant: Variant, _progress: &Progress) -> Option<OtherRules> {
        OtherRules::new(vec![self.variant()], variant)
    }

    /// The book as one that takes results.
    fn as_learnable(&self) -> Option<&dyn Learnable> {
        None
    }

    /// The book as one that counts games separately.
    fn as_sliced(&self) -> Option<&dyn Sliced> {
        None
    }

    /// The castlings among the moves that [`Moves::each`] shows without their positions, each with its key, as far as play reaches
    /// these: what looks like a king that takes its rook could be another piece that moves to the corner.
    ///
    /// # Errors
    /// When the work is interrupted.
    fn castlings(&self, _progress: &Progress) -> Result<HashSet<(u64, MoveCode)>> {
        Ok(HashSet::new())
    }

    /// The book as one that is edited by replacing some of its bytes.
    fn as_patchable(&self) -> Option<&dyn Patchable> {
        None
    }

    /// The number of a move that edits set, where weights follow from that; `None` if the book does not have the move, too.
    fn own_number(&self, _at: &Position, _mv: Move) -> Option<u64> {
        None
    }

    /// Reads the whole book, adds what is wrong with it to `findings`, and sums up the book.
    fn survey(&self, progress: &Progress, findings: &mut Findings<'_>) -> BookSummary;

    /// Reads the whole book and adds what is wrong with it to `findings`. Formats may do this faster than
    /// [`Book::survey`].
    fn inspect(&self, progress: &Progress, findings: &mut Findings<'_>) {
        self.survey(progress, findings);
    }

    /// Reads the whole book and sums it up, including its findings.
    fn summary(&self, progress: &Progress) -> BookSummary {
        let (summary, findings) = summed(|findings| self.survey(progress, findings));
        BookSummary { findings, ..summary }
    }

    /// What is lost in the book or cannot be used, which every command that reads the book reports.
    ///
    /// Reads the whole book, unless [`Moves::each`] has done so and knows.
    fn damage(&self, progress: &Progress) -> Vec<Finding> {
        damage_of(self, progress)
    }

    /// What look-ups do not find because of damage: of [`Book::damage`] what a command that only looks positions up reports.
    /// Formats may know it without reading every position.
    fn damage_to_look_ups(&self, progress: &Progress) -> Vec<Finding> {
        self.damage(progress)
    }

    /// Reads the whole book and reports what is wrong with it: the first findings of each kind one by one, the others in
    /// one line at the end.
    fn check(&self, progress: &Progress, report: &mut dyn FnMut(Finding)) {
        listed(report, |findings| self.inspect(progress, findings));
    }
}

impl fmt::Debug for dyn Book + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Book")
            .field("path", &self.path())
            .field("format", &self.format())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for dyn Moves + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Moves").finish_non_exhaustive()
    }
}

/// What inspecting the whole book finds lost, or of no use.
pub(crate) fn damage_of<B: Book + ?Sized>(book: &B, progress: &Progress) -> Vec<Finding> {
    errors(|findings| book.inspect(progress, findings))
}

/// The errors among what `find` finds, of each kind in one line.
pub(crate) fn errors(find: impl FnOnce(&mut Findings<'_>)) -> Vec<Finding> {
    let ((), mut findings) = summed(find);
    findings.retain(Finding::is_error);
    findings
}
