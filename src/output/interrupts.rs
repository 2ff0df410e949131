//! What Ctrl-C means to a command.

use std::sync::{LazyLock, Once};

use tabiya_base::interrupt::Interrupt;

/// What Ctrl-C asks for.
static CTRL_C: LazyLock<Interrupt> = LazyLock::new(Interrupt::new);

/// Runs a command, which stops once Ctrl-C asks it to.
pub fn scope<T>(command: impl FnOnce() -> T) -> T {
    CTRL_C.scope(command)
}

/// From now on Ctrl-C, a closed terminal or a request to terminate only asks the work to stop.
pub fn watch() {
    static ONCE: Once = Once::new();
    // Without the handler the process ends at once, as it does by default.
    ONCE.call_once(|| drop(ctrlc::set_handler(|| CTRL_C.ask())));
}
