//! The positions that a command looks at, as arguments.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use shakmaty::{CastlingMode, Position as _};

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_chess::notation::{self, MoveErrorKind};
use tabiya_chess::{Game, Position, Variant};

use crate::output::Printed;

/// Bytes of the longest line of a file of positions; a FEN has fewer than 100.
const MAX_LINE: u64 = 1024;

/// The positions: one of these arguments, or the starting position.
#[derive(clap::Args, Debug)]
#[group(multiple = false)]
pub struct Positions {
    /// The position, as a FEN
    #[arg(long, value_name = "FEN")]
    fen: Option<String>,
    /// The moves from the start to the position, such as "1. e4 e5 2. Nf3" or "e2e4 e7e5 g1f3"
    #[arg(long, value_name = "MOVES")]
    moves: Option<String>,
    /// A file with one FEN per line; blank lines and lines that start with # are ignored
    #[arg(long, value_name = "FILE")]
    fen_file: Option<PathBuf>,
}

impl Positions {
    /// Whether a position is given.
    pub(crate) fn is_given(&self) -> bool {
        self.fen.is_some() || self.moves.is_some() || self.fen_file.is_some()
    }
}

/// Calls `see` with each position and its kind of castling.
///
/// # Errors
/// When a FEN or a move is wrong, the file cannot be read, or `see` fails.
pub(crate) fn each_position(
    positions: &Positions,
    variant: Variant,
    mut see: impl FnMut(&Game, CastlingMode) -> Printed<()>,
) -> Printed<()> {
    if let Some(path) = &positions.fen_file {
        return each_line(path, variant, see);
    }
    let (game, mode) = game_at(positions.fen.as_deref(), positions.moves.as_deref(), variant)?;
    see(&game, mode)
}

/// The game that `--fen` or `--moves` leads to, or that of the starting position, and its kind of castling.
///
/// # Errors
/// When the FEN or a move is wrong.
pub(crate) fn game_at(
    fen: Option<&str>,
    moves: Option<&str>,
    variant: Variant,
) -> Result<(Game, CastlingMode)> {
    Ok(match (fen, moves) {
        (Some(fen), _) => {
            game(fen, variant).map_err(|what| Error::new(ErrorKind::Usage, format!("--fen: {what}")))?
        }
        (_, Some(moves)) => (game_after("--moves", moves, variant)?, CastlingMode::Standard),
        _ => (Game::start_of(variant), CastlingMode::Standard),
    })
}

fn each_line(
    path: &Path,
    variant: Variant,
    mut see: impl FnMut(&Game, CastlingMode) -> Printed<()>,
) -> Printed<()> {
    let cannot = |error| Error::file(path, "cannot read the file of positions", error);
    let mut file = BufReader::new(File::open(path).map_err(cannot)?);
    let mut line = Vec::new();
    for number in 1_u64.. {
        let here =
            |what: String| Error::new(ErrorKind::Usage, format!("line {number}: {what}")).at_path(path);
        line.clear();
        // The longest line with its end.
        if file.by_ref().take(MAX_LINE + 2).read_until(b'\n', &mut line).map_err(cannot)? == 0 {
            break;
        }
        let end = if line.ends_with(b"\r\n") { 2 } else { usize::from(line.ends_with(b"\n")) };
        if (line.len() - end) as u64 > MAX_LINE {
            let error = here(format!("longer than {MAX_LINE} bytes"));
            return Err(error.advice("write one FEN per line").into());
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_start_matches('\u{feff}').trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let (game, mode) = game(text, variant).map_err(here)?;
        see(&game, mode)?;
    }
    Ok(())
}

/// The position of a FEN, with Chess960 castling if its castling rights require that.
fn game(text: &str, variant: Variant) -> std::result::Result<(Game, CastlingMode), String> {
    let wrong = |error: &dyn std::fmt::Display| {
        format!(
            "\"{text}\" is not a position: {error}: write one such as \"4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\""
        )
    };
    let position = Position::from_any_fen_of(variant, text.as_bytes()).map_err(|error| wrong(&error))?;
    let mode = position.chess().castles().mode();
    Ok((Game::from_position(position), mode))
}

/// The game of the moves that an option names.
///
/// # Errors
/// When a move is not legal, or may be one of several.
pub(crate) fn game_after(option: &str, moves: &str, variant: Variant) -> Result<Game> {
    let mut game = Game::start_of(variant);
    notation::play(moves, &mut game).map_err(|wrong| {
        let error = Error::new(ErrorKind::Usage, format!("{option}: {wrong}"));
        match wrong.kind {
            MoveErrorKind::Ambiguous(_) => error.advice("write the one that you mean"),
            _ => error.advice("write moves such as \"1. e4 e5 2. Nf3\" or \"e2e4 e7e5 g1f3\""),
        }
    })?;
    Ok(game)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::Stop;

    fn all(positions: &Positions) -> Result<Vec<(String, CastlingMode)>> {
        let mut seen = Vec::new();
        let ended = each_position(positions, Variant::Chess, |game, mode| {
            seen.push((game.position().fen(), mode));
            Ok(())
        });
        ended.map_err(error).map(|()| seen)
    }

    fn error(stop: Stop) -> Error {
        let Stop::Error(error) = stop else { panic!("nothing is printed") };
        error
    }

    fn file(content: &[u8]) -> (tempfile::NamedTempFile, Positions) {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), content).unwrap();
        let positions = Positions { fen: None, moves: None, fen_file: Some(file.path().to_owned()) };
        (file, positions)
    }

    const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    const CHESS960: &str = "brnkqrnb/pppppppp/8/8/8/8/PPPPPPPP/BRNKQRNB w FBfb - 0 1";

    #[test]
    fn without_arguments_the_starting_position_is_used() {
        let positions = Positions { fen: None, moves: None, fen_file: None };
        assert_eq!(all(&positions).unwrap(), [(START.into(), CastlingMode::Standard)]);
    }

    #[test]
    fn the_kind_of_castling_follows_from_the_fen() {
        let of = |fen: &str| all(&Positions { fen: Some(fen.into()), moves: None, fen_file: None });
        assert_eq!(of(START).unwrap()[0].1, CastlingMode::Standard);
        assert_eq!(of(CHESS960).unwrap()[0].1, CastlingMode::Chess960);
        let error = of("8/8/8/8/8/8/8/9 w - -").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage);
        assert!(
            error.to_string().starts_with("--fen: \"8/8/8/8/8/8/8/9 w - -\" is not a position: "),
            "{error}"
        );
    }

    #[test]
    fn an_illegal_move_is_reported_with_its_number() {
        let of = |moves: &str| all(&Positions { fen: None, moves: Some(moves.into()), fen_file: None });
        assert_eq!(of("  e2e4  e7e5 ").unwrap().len(), 1);
        assert_eq!(of("").unwrap()[0].0, START);
        let error = of("e2e4 e7e9").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage);
        let text = error.to_string();
        assert!(
            text.starts_with("--moves: \"e7e9\", number 2, is not a legal move in rnbqkbnr/pppp"),
            "{text}"
        );
    }

    #[test]
    fn a_file_is_read_line_by_line() {
        let (_file, positions) =
            file(format!("\u{feff}# book\r\n\r\n{START}\r\n  {CHESS960}  \n#{START}\n{START}").as_bytes());
        let modes: Vec<_> = all(&positions).unwrap().into_iter().map(|(_, mode)| mode).collect();
        assert_eq!(modes, [CastlingMode::Standard, CastlingMode::Chess960, CastlingMode::Standard]);
    }

    #[test]
    fn a_bad_line_is_reported_by_its_number_after_the_good_ones() {
        let (_file, positions) = file(format!("{START}\n\nrubbish\n").as_bytes());
        let mut seen = 0;
        let ended = each_position(&positions, Variant::Chess, |_, _| {
            seen += 1;
            Ok(())
        });
        let error = error(ended.unwrap_err());
        assert_eq!((seen, error.kind()), (1, ErrorKind::Usage));
        assert!(error.to_string().contains(": line 3: \"rubbish\" is not a position: "), "{error}");
        let (_file, positions) = file(&vec![b'x'; 5000]);
        assert!(all(&positions).unwrap_err().to_string().contains("line 1: longer than 1024 bytes"));
    }

    #[test]
    fn the_end_of_a_line_does_not_count() {
        for end in ["", "\n", "\r\n"] {
            let (_file, positions) = file(format!("\n{START:1024}{end}").as_bytes());
            assert_eq!(all(&positions).unwrap().len(), 1, "{end:?}");
            let (_file, positions) = file(format!("\n{START:1025}{end}").as_bytes());
            let error = all(&positions).unwrap_err().to_string();
            assert!(error.contains("line 2: longer than 1024 bytes"), "{end:?}: {error}");
        }
    }

    #[test]
    fn a_missing_file_and_a_folder_are_file_errors() {
        let folder = tempfile::tempdir().unwrap();
        for path in [folder.path().join("none"), folder.path().to_owned()] {
            let error = all(&Positions { fen: None, moves: None, fen_file: Some(path) }).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::File);
        }
    }
}
