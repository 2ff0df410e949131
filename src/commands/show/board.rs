//! A picture of the board, in letters or chess pieces, with or without colours.

use std::io::{self, Write};

use shakmaty::{File, Piece, Position, Rank, Square};

use crate::output::Look;

/// Colours of a terminal with 256 colors: browns for the light and the dark squares, black for the pieces.
const LIGHT: &str = "\x1b[48;5;223m\x1b[38;5;16m";
const DARK: &str = "\x1b[48;5;179m\x1b[38;5;16m";
const PLAIN: &str = "\x1b[0m";

/// Draws the board, White below.
pub(crate) fn picture(chess: &impl Position, look: Look, out: &mut dyn Write) -> io::Result<()> {
    for rank in Rank::ALL.into_iter().rev() {
        write!(out, " {} ", rank.char())?;
        for file in File::ALL {
            let square = Square::from_coords(file, rank);
            let sign = sign(chess.board().piece_at(square), square, look);
            if look.colour {
                write!(out, "{} {sign} ", if square.is_light() { LIGHT } else { DARK })?;
            } else {
                write!(out, " {sign}")?;
            }
        }
        writeln!(out, "{}", if look.colour { PLAIN } else { "" })?;
    }
    write!(out, "   ")?;
    for file in File::ALL {
        write!(out, " {}{}", file.char(), if look.colour { " " } else { "" })?;
    }
    writeln!(out, "   {} to move", chess.turn().fold_wb("White", "Black"))
}

fn sign(piece: Option<Piece>, square: Square, look: Look) -> char {
    match piece {
        // Black's pieces are filled and White's outlined, which also shows on coloured squares.
        Some(piece) if look.unicode => piece.unicode_char(),
        Some(piece) => piece.char(),
        None if look.colour => ' ',
        None if look.unicode => '·',
        None if square.is_light() => '.',
        None => ':',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(colour: bool, unicode: bool) -> Vec<String> {
        let mut out = Vec::new();
        picture(&shakmaty::Chess::default(), Look { terminal: true, colour, unicode }, &mut out).unwrap();
        String::from_utf8(out).unwrap().lines().map(str::to_owned).collect()
    }

    #[test]
    fn the_board_is_drawn_from_whites_side() {
        let lines = drawn(false, false);
        assert_eq!(lines[0], " 8  r n b q k b n r");
        assert_eq!(lines[3], " 5  : . : . : . : .");
        assert_eq!(lines[7], " 1  R N B Q K B N R");
        assert_eq!(lines[8], "    a b c d e f g h   White to move");
    }

    #[test]
    fn pieces_and_colours_are_used_only_if_allowed() {
        assert_eq!(drawn(false, true)[7], " 1  ♖ ♘ ♗ ♕ ♔ ♗ ♘ ♖");
        let coloured = &drawn(true, false)[7];
        assert!(coloured.starts_with(" 1 \x1b[48;5;179m\x1b[38;5;16m R \x1b[48;5;223m"), "{coloured:?}");
        assert!(coloured.ends_with(PLAIN));
    }
}
