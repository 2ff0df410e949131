//! Requests to the explorer: whatever they are, no answer is a failure of the server, and JSON is JSON.
//!
//! The first line is the method and the target, the next ones headers, and what follows an empty line the body.

use std::sync::LazyLock;

use tabiya_explore::InProcess;

/// The server over the starter book.
static SERVER: LazyLock<InProcess> = LazyLock::new(|| {
    let book = tabiya_book::starter_book().expect("the starter book is sound");
    InProcess::new(book).expect("a server")
});

/// One input of the fuzzer.
pub fn run(data: &[u8]) {
    let end = data.windows(2).position(|pair| pair == b"\n\n").unwrap_or(data.len());
    let (head, body) = data.split_at(end);
    let Ok(head) = std::str::from_utf8(head) else { return };
    let mut lines = head.lines();
    let Some((method, target)) = lines.next().and_then(|line| line.split_once(' ')) else { return };
    let headers: Vec<_> = lines.filter_map(|line| line.split_once(": ")).collect();
    let Some((status, answer)) = SERVER.ask(method, target, &headers, body.get(2..).unwrap_or_default())
    else {
        return;
    };
    assert!(status != 500, "{}", String::from_utf8_lossy(&answer));
    if target.starts_with("/api/") && status >= 400 && method != "HEAD" && status != 405 {
        let text = String::from_utf8_lossy(&answer);
        assert!(text.starts_with("{\"error\":") && text.ends_with('}'), "{status}: {text}");
    }
}
