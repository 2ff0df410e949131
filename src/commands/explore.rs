//! `tabiya explore`: books in a browser.

use std::io::Write;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use tabiya_base::error::Result;
use tabiya_base::progress::Progress;
use tabiya_explore::{Options, is_local, serve};
use tabiya_workshop::source::books_and_games;

use crate::args::screens::{Screen, VARIANT};
use crate::args::slices::SliceArgs;
use crate::args::variant::VariantArgs;
use crate::output::browser::open;
use crate::output::exit::Exit;
use crate::output::{advice, interrupts, progress, unwritable, warn, window};

/// What `-h` shows, and which pages describe it.
pub(crate) const SCREENS: &[Screen] = &[Screen {
    command: "explore",
    shown: &[
        ("books", "The books [default: those of tabiya.toml, and the starter book]"),
        ("edit", ""),
        ("games", "Show the games of these files that reach a position"),
        ("engine", "The engine for analysis [default: of tabiya.toml]"),
        ("variant", VARIANT),
        ("open_api", "Answer programs on this machine without a token"),
        ("listen", "The address; port 0: any"),
        ("no_open", ""),
    ],
    examples: &["tabiya explore book.bin --edit --games games.pgn", "tabiya explore book.bin"],
    pages: &[("explore.md", "")],
}];

/// Show books in the browser, and edit them there
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The books [default: those of tabiya.toml, and the starter book]; PGN files, databases and folders of them are games, as
    /// with --games
    #[arg(value_name = "SOURCE")]
    books: Vec<PathBuf>,
    /// The address to listen on. With any address but this machine's own, others who know the code or the token can
    /// connect. Port 0 means any free port
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:0", value_parser = address)]
    listen: SocketAddr,
    /// Also answer programs that send the token in this file, which is created if it is missing [default: only the page]
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Do not open the browser
    #[arg(long)]
    no_open: bool,
    /// Allow editing the books
    #[arg(long)]
    edit: bool,
    /// Show tabiya.toml as a form, save it, and run doctor; refused if other machines can connect, because settings name
    /// programs to run
    #[arg(long)]
    settings: bool,
    /// Answer programs on this machine without a token, as Lichess's explorer and chessdb.cn would; refused if other
    /// machines can connect
    #[arg(long)]
    open_api: bool,
    /// Give programs only the moves that tabiya would play
    #[arg(long)]
    playable: bool,
    /// Show which games of these PGN files and databases (.cbh, .cbv, .si4, .si5) reach a position; they are indexed once, in a file beside the
    /// first book
    #[arg(long, value_name = "FILE", num_args = 1..)]
    games: Vec<PathBuf>,
    /// The engine for analysis [default: that of tabiya.toml]
    #[arg(long, value_name = "PROGRAM")]
    engine: Option<String>,
    /// The configuration file [default: tabiya.toml in the working folder, else beside tabiya]
    #[arg(long, value_name = "FILE")]
    config: Option<String>,
    #[command(flatten)]
    variant: VariantArgs,
    #[command(flatten)]
    slices: SliceArgs,
}

/// An address to listen on; a port alone, and the name `localhost`, stand for this machine, and without a port any free one is taken.
fn address(text: &str) -> std::result::Result<SocketAddr, String> {
    let text = text.trim();
    let (host, port) = match text.rsplit_once(':') {
        Some(("" | "localhost", port)) if !port.is_empty() => ("127.0.0.1", port),
        _ if text == "localhost" => ("127.0.0.1", "0"),
        _ if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) => ("127.0.0.1", text),
        _ => (text, ""),
    };
    let whole = if port.is_empty() { host.to_owned() } else { format!("{host}:{port}") };
    let any_port = || whole.parse().map(|host: IpAddr| SocketAddr::new(host, 0));
    let wrong = "write ADDR:PORT with numbers, such as 127.0.0.1:8421, or a port alone, such as 8421";
    whole.parse().or_else(|_| any_port()).map_err(|_| wrong.to_owned())
}

/// Serves the books until the process is asked to end.
///
/// # Errors
/// When no book can be opened, the address cannot be listened on, or the engine is not found.
pub fn run(args: &Args) -> Result<Exit> {
    let (books, named) = books_and_games(&args.books, tabiya_games::is_named);
    let games = [named, args.games.clone()].concat();
    let has_games = !games.is_empty();
    let options = Options {
        books,
        variant: args.variant.variant(),
        listen: args.listen,
        token_file: args.token_file.clone(),
        edit: args.edit,
        settings: args.settings,
        open_api: args.open_api,
        playable: args.playable,
        games,
        engine: args.engine.clone(),
        config: args.config.clone(),
        among: args.slices.among(),
        other_rules: advice::other_rules,
    };
    let announce = |address: &str, warnings: Vec<String>| {
        warnings.iter().for_each(|warning| warn(warning));
        if !is_local(&args.listen) {
            warn(&format!(
                "{}: other machines can connect, without encryption; anyone who reads the traffic sees the \
                 books{}",
                args.listen,
                if args.edit { " and may edit them" } else { "" },
            ));
        }
        let mut out = std::io::stdout().lock();
        writeln!(out, "{address}").and_then(|()| out.flush()).map_err(|error| unwritable(&error))?;
        if window::is_own() {
            warn("the browser shows it; to end, close this window");
        }
        if !args.no_open {
            open(address);
        }
        Ok(())
    };
    // Where nobody reads it, nobody misses it.
    let progress = if has_games { progress::on_terminal("games") } else { Progress::none() };
    interrupts::watch();
    serve(&options, progress, announce, |address| {
        drop(writeln!(std::io::stdout(), "for another browser: {address}"))
    })?;
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_may_be_a_port_alone() {
        for (text, whole) in [
            ("127.0.0.1:0", "127.0.0.1:0"),
            ("8421", "127.0.0.1:8421"),
            (":8421", "127.0.0.1:8421"),
            ("localhost:8421", "127.0.0.1:8421"),
            ("localhost", "127.0.0.1:0"),
            ("192.168.0.3", "192.168.0.3:0"),
            ("[::1]:8421", "[::1]:8421"),
            ("::1", "[::1]:0"),
        ] {
            assert_eq!(address(text).unwrap().to_string(), whole, "{text}");
        }
        for wrong in ["", "65536", "example.org:80", "127.0.0.1:x", ":"] {
            assert!(address(wrong).unwrap_err().contains("8421"), "{wrong}");
        }
    }
}
