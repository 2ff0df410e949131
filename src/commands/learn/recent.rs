//! The games that a book has learned last, one per line.

use std::io::{self, Write};

use tabiya_chess::MoveCode;
use tabiya_learn::journal::GameRecord;
use tabiya_workshop::view::PositionLine;

use crate::output::rows::many;
use crate::output::shortened;

/// The most characters of a game's title if moves follow it.
const MAX_TITLE: usize = 44;

/// Moves are left out if there is room for fewer characters than this.
const MIN_MOVES: usize = 8;

/// Lists games in lines of at most `columns` columns: when each was learned, its result, its title and its first moves.
pub fn list(games: &[GameRecord], columns: usize, out: &mut dyn Write) -> io::Result<()> {
    let rows: Vec<[String; 4]> = games
        .iter()
        .map(|game| [date(game.time), result_of(Some(game.result)).to_owned(), title(game), opening(game)])
        .collect();
    let widest = |column: usize, most: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        cells.max().unwrap_or_default().min(most)
    };
    let (dates, results) = (widest(0, usize::MAX), widest(1, usize::MAX));
    // Each column follows two blanks.
    let room = columns.saturating_sub(2 + dates + 2 + results + 2);
    let has_moves = widest(3, 1) > 0 && room > MAX_TITLE / 2;
    let titles = widest(2, if has_moves { room.min(MAX_TITLE).min(room / 2) } else { room });
    let moves = room.saturating_sub(titles + 2);
    for [date, result, title, opening] in &rows {
        let title = shortened(title, titles);
        let opening = if has_moves && moves >= MIN_MOVES { shortened(opening, moves) } else { String::new() };
        let line = format!("  {date:dates$}  {result:results$}  {title:titles$}  {opening}");
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

/// A result by the half-points of White; `None` if the game has no result.
pub fn result_of(white: Option<u8>) -> &'static str {
    let results = ["0-1", "1/2-1/2", "1-0"];
    white.and_then(|white| results.get(usize::from(white))).copied().unwrap_or("*")
}

/// How the result was found, of the name of a game that was learned while it was played; else the whole name.
pub fn cause(title: &str) -> &str {
    title.rsplit_once(": ").map_or(title, |(_, cause)| cause)
}

/// The date in UTC.
fn date(seconds: u64) -> String {
    let time =
        i64::try_from(seconds).ok().and_then(|time| time::OffsetDateTime::from_unix_timestamp(time).ok());
    time.map_or_else(|| "?".to_owned(), |time| time.date().to_string())
}

/// The game's title without what the other columns say, and how many entries it changed.
fn title(game: &GameRecord) -> String {
    let title = game.title();
    // The adapter counts its games from its start; later these numbers mean nothing.
    let numbered = title.strip_prefix("game ").and_then(|rest| rest.split_once(" as "));
    let title = match numbered {
        Some((number, rest)) if number.parse::<u32>().is_ok() => rest,
        _ => title,
    };
    format!("{title} ({})", many(game.changes.len() as u64, "entry"))
}

fn opening(game: &GameRecord) -> String {
    PositionLine::from_moves(game.first_moves().into_iter().map(MoveCode::from_move)).text
}

#[cfg(test)]
mod tests {
    use shakmaty::{ByColor, KnownOutcome};
    use tabiya_chess::Position;
    use tabiya_learn::FinishedGame;

    use super::*;

    fn record(note: &str, moves: &str) -> GameRecord {
        let mut game = tabiya_chess::Game::start();
        assert!(moves.split_whitespace().all(|mv| game.push_uci(mv.as_bytes())));
        let game = FinishedGame {
            start: Position::start(),
            moves: game.moves().to_vec(),
            first: 0,
            sides: ByColor { white: true, black: false },
            result: KnownOutcome::Draw,
            note: note.to_owned(),
        };
        let note = game.record_note();
        let (time, changes) = (1_700_000_000, vec![]);
        GameRecord { id: [0; 16], sides: 1, result: 1, guess: false, time, note, changes }
    }

    fn lines(games: &[GameRecord], columns: usize) -> Vec<String> {
        let mut out = Vec::new();
        list(games, columns, &mut out).unwrap();
        String::from_utf8(out).unwrap().lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_line_has_date_result_name_and_first_moves_within_its_columns() {
        let line = "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 e1g1 g8f6 d2d3 e8g8";
        let games = [
            record("game 1 as White against Stockfish 17, drawn: both engines saw a draw", line),
            record("Us - Them 1/2-1/2, round 2", ""),
        ];
        let wide = lines(&games, 140);
        assert_eq!(
            wide[0],
            "  2023-11-14  1/2-1/2  White against Stockfish 17, drawn: both e...  \
             1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. O-O Nf6 5. d3 O-O"
        );
        assert_eq!(wide[1], "  2023-11-14  1/2-1/2  Us - Them 1/2-1/2, round 2 (0 entries)");
        for columns in 40..160 {
            for line in lines(&games, columns) {
                assert!(line.chars().count() <= columns, "{columns}: {line}");
                assert!(line.starts_with("  2023-11-14  1/2-1/2  "), "{line}");
            }
        }
    }

    #[test]
    fn records_without_moves_and_with_any_text_are_listed() {
        let plain = |note: &str| GameRecord { note: note.to_owned(), ..record("", "") };
        for note in ["", "game 1", "game one as two", "\t", "\tAB??", "x\t\t"] {
            assert_eq!(lines(&[plain(note)], 60).len(), 1);
        }
        assert_eq!(
            lines(&[plain("game 7 as Black, won: mate")], 80)[0],
            "  2023-11-14  1/2-1/2  Black, won: mate (0 entries)"
        );
    }
}
