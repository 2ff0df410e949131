//! The words that name arguments and commands of the program: the only place in this crate.

use std::net::SocketAddr;
use std::path::Path;

/// The command that tries the configuration, and the argument that names its file.
pub(super) const DOCTOR: &str = "tabiya doctor";
pub(super) const DOCTOR_LINE: [&str; 2] = ["doctor", "--json"];
pub(super) const CONFIG: &str = "--config";

/// What to do about an address that cannot be listened on.
pub(super) const OTHER_ADDRESS: &str = "name another address with --listen, such as 127.0.0.1:0";

/// What to do where settings would be shown to other machines, and where these would be answered.
pub(super) const NO_SETTINGS: &str = "leave out --settings, or --listen";
pub(super) const NO_OPEN_API: &str = "leave out --open-api, or --listen";

/// Why requests are refused for which the server was not started.
pub(super) const SETTINGS: &str =
    "start `tabiya explore` with --settings to see, change and check the settings";
pub(super) const EDIT: &str = "start `tabiya explore` with --edit to change books";
pub(super) const ENGINE: &str = "there is no engine: name one with --engine";
pub(super) const GAMES: &str = "there are no games: name files of them with --games";

/// Why a request is refused that only games can answer.
pub(super) fn only_games(asked: &str) -> String {
    format!(
        "{asked}: books do not know it, and there are no games of this variant: name files of them with --games"
    )
}

/// Why a request is refused that the guard does not admit.
pub(super) const STRANGER: &str = "the server does not know who asks: a page needs the address in the last line that `tabiya explore` \
     printed, a program the token of --token-file";
pub(super) const USED: &str = "this address works once, and has been used: open the one in the last line that `tabiya explore` printed. If you \
     have not used it, somebody else has: end `tabiya explore`";
pub(super) const NO_SESSION: &str = "this page belongs to whoever started `tabiya explore`: open the address in the last line that it printed";

/// Why a request by another name is refused.
pub(super) fn other_name(address: SocketAddr) -> String {
    format!(
        "the server does not answer to this name: open the address that `tabiya explore` printed, at {address}"
    )
}

/// Why an engine does not search a position of a variant.
pub(super) fn lacks_variant(variant: &str) -> String {
    format!("the engine does not offer {variant}: name one that plays it with --engine")
}

/// Why games of a file that has changed cannot be shown.
pub(super) fn games_changed(path: &Path) -> String {
    let path = path.display();
    format!("{path} has changed: start `tabiya explore` again to read its games again")
}
