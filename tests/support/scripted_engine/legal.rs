//! A legal move of the position that the peer described.

use std::hash::{DefaultHasher, Hash, Hasher};

use shakmaty::fen::Fen;
use shakmaty::uci::UciMove;
use shakmaty::variant::{Variant, VariantPosition};
use shakmaty::{CastlingMode, Position};

/// By which rules a position is read.
#[derive(Clone, Copy)]
pub struct Rules {
    pub variant: Variant,
    pub mode: CastlingMode,
}

/// The move as UCI text, the same for the same position and `go`; `(none)` when the game is over, and `0000` when
/// the position cannot be understood.
///
/// `position` and `go` are lines without their ends; an empty `position` is the starting position.
pub fn choose(position: &[u8], go: &[u8], rules: Rules) -> String {
    let Some(chess) = parse(&String::from_utf8_lossy(position), rules) else {
        return "0000".to_owned();
    };
    let mut moves: Vec<String> =
        chess.legal_moves().iter().map(|mv| mv.to_uci(rules.mode).to_string()).collect();
    if moves.is_empty() {
        return "(none)".to_owned();
    }
    let go = String::from_utf8_lossy(go);
    let wanted: Vec<&str> = go.split_whitespace().skip_while(|&word| word != "searchmoves").collect();
    if moves.iter().any(|mv| wanted.contains(&mv.as_str())) {
        moves.retain(|mv| wanted.contains(&mv.as_str()));
    }
    let mut hasher = DefaultHasher::new();
    position.hash(&mut hasher);
    let index = hasher.finish() % moves.len() as u64;
    moves.swap_remove(index as usize)
}

/// A score from `-most` to `most` centipawns, the same for the same position and `searchmoves`; `None` if `most` is 0.
pub fn any_score(position: &[u8], go: &[u8], most: i64) -> Option<String> {
    let go = String::from_utf8_lossy(go);
    let mut hasher = DefaultHasher::new();
    (position, go.split_once(" searchmoves ").map(|(_, moves)| moves)).hash(&mut hasher);
    let score = hasher.finish() % (2 * most.unsigned_abs() + 1);
    (most > 0).then(|| format!("cp {}", score.cast_signed() - most))
}

/// The position behind a whole `position` line; `None` for a broken FEN or an illegal move.
fn parse(line: &str, rules: Rules) -> Option<VariantPosition> {
    let mut words = line.split_whitespace().skip(1).peekable();
    let mut chess = VariantPosition::new(rules.variant);
    if words.next_if_eq(&"fen").is_some() {
        let mut fen = Vec::new();
        while let Some(word) = words.next_if(|&word| word != "moves") {
            fen.push(word);
        }
        let setup = Fen::from_ascii(fen.join(" ").as_bytes()).ok()?.into_setup();
        chess = VariantPosition::from_setup(rules.variant, setup, rules.mode).ok()?;
    } else {
        words.next_if_eq(&"startpos");
    }
    words.next_if_eq(&"moves");
    for word in words {
        let mv = UciMove::from_ascii(word.as_bytes()).ok()?.to_move(&chess).ok()?;
        chess.play_unchecked(mv);
    }
    Some(chess)
}
