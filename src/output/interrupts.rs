//! What Ctrl-C means to a command.

use std::sync::Once;

use tabiya_base::interrupt;

/// From now on Ctrl-C, a closed terminal or a request to terminate only asks the work to stop.
pub fn watch() {
    static ONCE: Once = Once::new();
    // Without the handler the process ends at once, as it does by default.
    ONCE.call_once(|| drop(ctrlc::set_handler(interrupt::ask)));
}
