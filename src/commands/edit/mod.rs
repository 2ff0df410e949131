//! `tabiya edit`: changes moves of a position by hand, or a line.

mod line;

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::ArgGroup;
use shakmaty::{Color, Move};

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_book::edit::{Change, Edit, EditValue};
use tabiya_book::{self as book, Edits, Format};
use tabiya_chess::{Game, Variant, notation};
use tabiya_workshop::edit::{self, EditOutcome, Editor, KeptPlace, MadeMove, MoveState, Way, Wish};
use tabiya_workshop::view::{place_in_words, san};

use crate::args::positions::game_at;
use crate::args::screens::Screen;
use crate::args::side;
use crate::args::variant::VariantArgs;
use crate::output::exit::Exit;
use crate::output::interrupts;
use crate::output::lines::mark;
use crate::output::{self, complain, progress, written};

/// What `-h` shows, and which pages describe it.
pub(crate) const SCREENS: &[Screen] = &[Screen {
    command: "edit",
    shown: &[
        ("book", ""),
        ("moves", "The moves from the start, such as \"1. e4 c5\""),
        ("fen", ""),
        ("set", "Give a move this weight, such as Nf3=60; repeatable"),
        ("add", "Add a move with this weight; repeatable"),
        ("delete", ""),
        ("add_line", "Add a line, such as \"1. e4 c5 2. c3\" or \"1. e4 e5=20\""),
        ("side", "With --add-line: only the moves of this side"),
        ("delete_line", "Delete this line's last move, and what only it reaches"),
        ("undo", "Undo the last edit of a Polyglot book"),
        ("redo", "Redo the edit that was undone last"),
    ],
    examples: &[
        "tabiya edit book.bin --set e4=60 --delete f4",
        "tabiya edit book.bin --moves \"1. e4 c5\" --add Nc3=20",
        "tabiya edit book.bin --add-line \"1. e4 c5 2. c3\" --side white",
        "tabiya edit book.bin --undo",
    ],
    pages: &[("change-a-book.md", "## One move by hand")],
}];

/// Change, add or delete moves of a position by hand
#[derive(clap::Args, Debug)]
#[command(override_usage = "tabiya edit <BOOK> [OPTIONS]")]
#[command(group(ArgGroup::new("what").required(true).multiple(true).args(["set", "add", "delete", "add_line", "delete_line", "undo", "redo"])))]
pub struct Args {
    /// The book
    #[arg(value_name = "BOOK")]
    book: PathBuf,
    /// The moves from the start to the position, such as "1. e4 c5" [default: the starting position]
    #[arg(long, value_name = "MOVES", conflicts_with = "fen")]
    moves: Option<String>,
    /// The position, as a FEN
    #[arg(long, value_name = "FEN")]
    fen: Option<String>,
    #[command(flatten)]
    variant: VariantArgs,
    /// Give a move of the book this weight, such as Nf3=60; repeatable
    ///
    /// In a Polyglot book the weight is a number from 0 (never played) to 65535. In an Arena book it is a priority from 0
    /// to 9. In a Kvetka book it is the number of half-points: two for a win, one for a draw. A CTG book has no weights.
    /// There, write green, red, a mark (!, ?, !!, ??, !?, ?!, only, zugzwang), both (as in Nf3=green,!), or none
    #[arg(long, value_name = "MOVE=WEIGHT")]
    set: Vec<String>,
    /// Add a move with this weight, as for --set; repeatable
    #[arg(long, value_name = "MOVE=WEIGHT")]
    add: Vec<String>,
    /// Delete a move; repeatable
    #[arg(long, value_name = "MOVE")]
    delete: Vec<String>,
    /// Add the moves of a line, such as "1. e4 c5 2. c3"; with =WEIGHT at its end, each gets this weight
    ///
    /// The line goes on from --moves or --fen. It may be a game as PGN with variations and comments, a file of games, or -.
    /// Without a weight, moves of the book stay as they are, and a new move gets the median weight of its position
    #[arg(long, value_name = "LINE", conflicts_with_all = ["set", "add", "delete", "delete_line"])]
    add_line: Option<String>,
    /// With --add-line: only the moves of this side
    ///
    /// An Arena book is a tree: it gets the other side's moves with priority 0
    #[arg(long, value_name = "SIDE", value_parser = side(), requires = "add_line")]
    side: Option<Color>,
    /// Delete the last move of this line, and all moves that only this move leads to
    #[arg(long, value_name = "LINE", conflicts_with_all = ["set", "add", "delete"])]
    delete_line: Option<String>,
    /// Only say what --add-line or --delete-line would do
    #[arg(long, conflicts_with_all = ["set", "add", "delete", "undo", "redo"])]
    dry_run: bool,
    /// Undo the last edit of a Polyglot book; again, the one before
    #[arg(long, conflicts_with_all = ["set", "add", "delete", "add_line", "delete_line", "moves", "fen", "redo"])]
    undo: bool,
    /// Redo the edit that was undone last; again, the next one
    #[arg(long, conflicts_with_all = ["set", "add", "delete", "add_line", "delete_line", "moves", "fen"])]
    redo: bool,
}

/// Edits the book, and reports what each move had before and has now.
///
/// # Errors
/// When a move or a weight is not valid, a move to add is in the book or another is not, or the book cannot be written: it
/// is unchanged then.
pub fn run(args: &Args) -> Result<Exit> {
    written::whole(make(args))
}

fn make(args: &Args) -> Result<Exit> {
    let path = &args.book;
    let variant = args.variant.variant();
    interrupts::watch();
    let mut editor = Editor::new(path).of_variant(variant);
    if args.undo || args.redo {
        return reverse(path, (editor, variant), if args.undo { Way::Back } else { Way::Again });
    }
    if args.add_line.is_some() || args.delete_line.is_some() {
        return line::make(args, &mut editor);
    }
    let (game, _) = game_at(args.fen.as_deref(), args.moves.as_deref(), variant)?;
    let edits = args.edits(&game)?;
    let note = edit::kept(&game, args.fen.is_some());
    let wish = Wish { at: game.position(), edits: &edits, note: &note, expected: None };
    let progress = || progress::on_terminal(path.to_string_lossy());
    let EditOutcome::Made(made) = editor.edit(&wish, progress)? else { return Ok(Exit::Findings) };
    output::print_work(|out| {
        writeln!(out, "{}, {}:", path.display(), in_words(&note, variant))?;
        for (edit, MadeMove { said, .. }) in edits.iter().zip(&made.moves) {
            report(&san(game.position(), edit.mv), said.map(|said| said.as_ref().map(describe)), out)?;
        }
        let Some(error) = &made.unread else { return Ok(Exit::Done) };
        writeln!(out, "  the edit is made, but the book cannot be read again")?;
        out.flush()?;
        complain(error);
        Ok(Exit::Findings)
    })
}

impl Args {
    /// The edits, each of another move.
    fn edits(&self, game: &Game) -> Result<Vec<Edit>> {
        let mut edits: Vec<Edit> = Vec::new();
        let with_value = |option: &str, text: &str, change: fn(EditValue) -> Change| -> Result<Edit> {
            let Some((word, text)) = text.rsplit_once('=') else {
                return Err(Error::new(ErrorKind::Usage, format!("{option}: \"{text}\" has no weight"))
                    .advice("write the move and its weight, such as Nf3=60"));
            };
            let mv = move_of(option, word, game)?;
            let noun =
                Format::all().find(|format| format.edits() == Edits::Verdicts).map_or("", Format::noun);
            let value = EditValue::from_words(text).ok_or_else(|| {
                Error::new(ErrorKind::Usage, format!("{option}: \"{text}\" is not a weight"))
                    .advice(format!("write a number, or in {noun} green, red, none or a mark such as !"))
            })?;
            Ok(Edit { mv, name: word.to_owned(), change: change(value) })
        };
        for text in &self.set {
            edits.push(with_value("--set", text, Change::Set)?);
        }
        for text in &self.add {
            edits.push(with_value("--add", text, Change::Add)?);
        }
        for text in &self.delete {
            let mv = move_of("--delete", text, game)?;
            edits.push(Edit { mv, name: text.clone(), change: Change::Delete });
        }
        for (place, edit) in edits.iter().enumerate() {
            if edits.iter().take(place).any(|other| other.mv == edit.mv) {
                let what = format!("the move {} is edited twice", edit.name);
                return Err(Error::new(ErrorKind::Usage, what).advice("name each move once"));
            }
        }
        Ok(edits)
    }
}

/// The move of a word, in SAN or UCI notation.
fn move_of(option: &str, word: &str, game: &Game) -> Result<Move> {
    let at = game.position();
    notation::read(word, at).map_err(|kind| {
        let what = match kind {
            notation::MoveErrorKind::Illegal => format!("is not a legal move in {}", at.fen()),
            notation::MoveErrorKind::Ambiguous(moves) => {
                format!("is ambiguous: it can be {}", moves.join(" or "))
            }
        };
        Error::new(ErrorKind::Usage, format!("{option}: \"{word}\" {what}"))
            .advice("write a move such as Nf3 or g1f3")
    })
}

/// The place of an edit in words.
fn in_words(note: &str, variant: Variant) -> String {
    match edit::place_of(note, variant) {
        KeptPlace::Line(game) => place_in_words(&game),
        KeptPlace::Fen(fen) => fen.to_owned(),
    }
}

/// Takes an edit back, or makes it again.
fn reverse(path: &Path, (mut editor, variant): (Editor, Variant), way: Way) -> Result<Exit> {
    let format = book::open_book(path)?.format();
    if !format.learns() {
        let learning = Format::learning();
        let what = format!(
            "edits can be undone only in {}, and this is a book of the format {format}",
            learning.map_or_else(String::new, Format::plural)
        );
        return Err(Error::new(ErrorKind::Usage, what)
            .at_path(path)
            .advice("set the old value again, as the edit reported it"));
    }
    let [wanted, done] = match way {
        Way::Back => ["undo", "undone"],
        Way::Again => ["redo", "redone"],
    };
    let EditOutcome::Made(made) = editor.reverse(way, None)? else {
        let line = format!("{}: there is no edit to {wanted}", path.display());
        return output::print_lines(&[line], Exit::Findings);
    };
    let at = edit::place_of(&made.note, variant).position(variant);
    if !at.as_ref().is_none_or(|at| made.is_at(at)) {
        let (place, counts) = (in_words(&made.note, variant), line::done(made.counts()));
        let text = format!("{}, {place}, {done}: {counts}", path.display());
        return output::print_lines(&[text], Exit::Done);
    }
    output::print_work(|out| {
        writeln!(out, "{}, {}, {done}:", path.display(), in_words(&made.note, variant))?;
        for MadeMove { uci, said, .. } in &made.moves {
            let mv = at.as_ref().and_then(|at| Some((at, notation::read(uci, at).ok()?)));
            let name = mv.map_or_else(|| uci.clone(), |(at, mv)| san(at, mv));
            report(&name, said.map(|said| said.as_ref().map(describe)), out)?;
        }
        Ok(Exit::Done)
    })
}

/// What a book says of a move, in words: what an edit can set first.
fn describe(said: &MoveState) -> String {
    if let Some((name, number)) = said.own {
        return format!("{name} {number}");
    }
    let colour = said.recommended.map(|colour| format!(", {}", colour.as_str())).unwrap_or_default();
    let mark = mark(said.annotation);
    format!("weight {}{colour}{}{mark}", said.weight, if mark.is_empty() { "" } else { ", " })
}

/// Prints a line of what a move had and has.
fn report(mv: &str, facts: [Option<String>; 2], out: &mut dyn Write) -> std::io::Result<()> {
    match facts {
        [None, None] => writeln!(out, "  {mv}: not shown by the book"),
        [None, Some(new)] => writeln!(out, "  {mv}: added, {new}"),
        [Some(old), None] => writeln!(out, "  {mv}: deleted ({old})"),
        [Some(old), Some(new)] if old == new => writeln!(out, "  {mv}: {new}, as before"),
        [Some(old), Some(new)] => {
            // The name of what changes is said once.
            let name = old.split_inclusive(' ').next().unwrap_or_default();
            writeln!(out, "  {mv}: {old} -> {}", new.strip_prefix(name).unwrap_or(&new))
        }
    }
}
