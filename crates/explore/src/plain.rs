//! A text that a person typed, as plain letters.

use super::request::Query;

/// What a person typed, with letters for figurines; of a link to a position, as Lichess has them, its FEN.
pub(super) fn plain(typed: &str) -> String {
    let is_link = typed.starts_with("http") && !typed.contains(char::is_whitespace);
    if let Some((_, path)) = typed.split_once("://").filter(|_| is_link) {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let in_query = Query::parse(query);
        let decoded = Query::parse(&format!("path={path}"));
        let path = decoded.get("path").unwrap_or_default();
        // The board is the last eight parts of the path, or nine with pieces in hand.
        let part = |number: usize| path.rsplit('/').nth(number).filter(|part| !part.is_empty());
        let is_rank = |part: &str| part.chars().all(|letter| "12345678pnbrqkPNBRQK~".contains(letter));
        let strokes = if part(8).is_some_and(is_rank) { 8 } else { 7 };
        let board = path.rmatch_indices('/').nth(strokes).and_then(|(at, _)| path.get(at + 1..));
        return in_query.get("fen").or(board).unwrap_or_default().replace('_', " ");
    }
    let letter = |letter: char| match letter {
        '\u{2654}' | '\u{265a}' => Some('K'),
        '\u{2655}' | '\u{265b}' => Some('Q'),
        '\u{2656}' | '\u{265c}' => Some('R'),
        '\u{2657}' | '\u{265d}' => Some('B'),
        '\u{2658}' | '\u{265e}' => Some('N'),
        '\u{2659}' | '\u{265f}' | '\u{fe0e}' | '\u{fe0f}' => None,
        other => Some(other),
    };
    typed.chars().filter_map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figurines_and_links_are_read() {
        assert_eq!(
            plain("1. e4 e5 2. \u{2658}f3 \u{265e}\u{fe0e}c6 3. \u{2659}d4"),
            "1. e4 e5 2. Nf3 Nc6 3. d4"
        );
        let fen = "rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2";
        let path = fen.replace(' ', "_");
        for link in [
            format!("https://lichess.org/analysis/{path}"),
            format!("https://lichess.org/analysis/standard/{path}?color=black"),
            format!("https://lichess.org/editor/{}", fen.replace(' ', "%20")),
            format!("https://example.org/x?fen={}", fen.replace(' ', "+")),
        ] {
            assert_eq!(plain(&link), fen, "{link}");
        }
        let held = "rnb1kbnr/ppp1pppp/8/q7/8/2N5/PPPP1PPP/R1BQKBNR/Pp w KQkq - 2 4";
        let link = format!("https://lichess.org/analysis/crazyhouse/{}", held.replace(' ', "_"));
        assert_eq!(plain(&link), held);
        assert_eq!(
            (plain("https://lichess.org/abcdefgh"), plain("e4 c5")),
            (String::new(), "e4 c5".to_owned())
        );
    }
}
