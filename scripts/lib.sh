# shellcheck shell=bash
# Sourced by the other scripts: the project's folders, Debian's packages, Rust, Python.

# A relative path from the caller's folder, before that folder is left.
if [ -n "${TABIYA_SAMPLES:-}" ]; then
    TABIYA_SAMPLES=$(realpath -m -- "$TABIYA_SAMPLES")
    export TABIYA_SAMPLES
fi

if [ -n "${TABIYA_GAMES_DIR:-}" ]; then
    TABIYA_GAMES_DIR=$(realpath -m -- "$TABIYA_GAMES_DIR")
    export TABIYA_GAMES_DIR
fi

# Every script runs in the project's folder, wherever it was called from.
ROOT=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
cd -- "$ROOT" || exit 1

# Where cargo builds: a relative CARGO_TARGET_DIR is relative to the project's folder, as it is for cargo itself.
TARGET=${CARGO_TARGET_DIR:-target}
case $TARGET in
/*) ;;
*) TARGET=$ROOT/$TARGET ;;
esac

# Where scripts/fetch-games keeps the games of Debian's source package gnuchess-book.
# shellcheck disable=SC2034
GNUCHESS_GAMES=${TABIYA_GAMES_DIR:-$TARGET/games}/book_1.02.pgn

# Where Debian's package gnuchess-book puts its book.
GNUCHESS_BOOK=/usr/share/games/gnuchess/book.bin

say() {
    printf '== %s\n' "$*"
}

die() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

# The path of a program; Debian's games are in a folder that root's PATH lacks.
find_program() {
    PATH=$PATH:/usr/games:/usr/local/games type -P -- "$1"
}

# Steps ----------------------------------------------------------------------------------------------------------

# step NAME SECONDS COMMAND...: runs a command or function in a shell of its own, ends it and all that it started when the
# seconds are over, and notes how long it took. Where it fails, the script ends and names it.
# TABIYA_PATIENCE=4 gives every step and test four times as long. After keep_going the script runs the steps that follow one
# that failed, and fails at its end.
PATIENCE=${TABIYA_PATIENCE:-1}
STEPS=() FAILED_STEPS=() KEEP_GOING='' STEP='' STEP_PID='' STEP_GUARD='' PASSED=''

# Steps that pass are noted for this commit and these settings, which say what is skipped and how much is done; those that a run
# before has passed are not run again. What is not committed may be anything, so nothing is noted then.
go_on() {
    [ -z "$(git status --porcelain)" ] || die "there are changes that are not committed: a run goes on for a commit only"
    PASSED=$TARGET/passed/$(git rev-parse HEAD)-$(env | sed -n '/^TABIYA_/p' | LC_ALL=C sort | cksum | cut -d ' ' -f 1)
    mkdir -p -- "$PASSED"
}

keep_going() {
    KEEP_GOING=yes
}

step() {
    local limit=$(($2 * PATIENCE)) start=$SECONDS status=0
    if [ -n "$PASSED" ] && [ -s "$PASSED/$1" ]; then
        STEPS+=("$(cat -- "$PASSED/$1") (before)")
        return
    fi
    STEP=$1
    shift 2
    printf '\n#### %s\n' "$STEP"
    # With job control each of the two has a process group of its own.
    set -m
    ("$@") </dev/null &
    STEP_PID=$!
    (
        sleep "$limit"
        {
            printf '\n#### %s: still running after %s s, so it is ended\n' "$STEP" "$limit"
            printf '#### On a slow or busy machine, run this again: what was built so far is kept, and with\n'
            printf '#### TABIYA_PATIENCE=%s in the environment every step has four times as long as now.\n' "$((4 * PATIENCE))"
        } >&9
        kill -TERM -- "-$STEP_PID"
        sleep 10
        kill -KILL -- "-$STEP_PID"
    ) 9>&2 2>/dev/null </dev/null &
    STEP_GUARD=$!
    set +m
    wait "$STEP_PID" || status=$?
    end_step
    STEPS+=("$(printf '%6d s  %s' "$((SECONDS - start))" "$STEP")")
    if [ "$status" -ne 0 ]; then
        [ -n "$KEEP_GOING" ] || exit "$status"
        FAILED_STEPS+=("$STEP (exit code $status)")
    elif [ -n "$PASSED" ]; then
        printf '%s\n' "${STEPS[-1]}" >"$PASSED/$STEP"
    fi
    STEP=''
}

# Ends what the step has left running, and its guard.
end_step() {
    kill -TERM -- "-$STEP_PID" 2>/dev/null || true
    kill -KILL -- "-$STEP_GUARD" 2>/dev/null || true
    wait "$STEP_GUARD" 2>/dev/null || true
    STEP_PID='' STEP_GUARD=''
}

# at_once FIRST SECOND: two functions at the same time, which may have steps. What the second prints comes after what the first
# prints. Fails where one of them fails.
at_once() {
    local log first second status=0
    log=$(mktemp)
    # What one leaves running is ended with the step that both are in.
    set +m
    (trap_steps; "$1") &
    first=$!
    (trap_steps; "$2") >"$log" 2>&1 &
    second=$!
    wait "$first" || status=$?
    wait "$second" || status=$?
    cat -- "$log"
    rm -f -- "$log"
    return "$status"
}

# For scripts with steps, and for parts of them that have their own: they print their table however they end.
trap_steps() {
    STEPS=() FAILED_STEPS=() SECONDS=0
    trap finish_steps EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
}

# The table of steps, whether all of them passed or not.
finish_steps() {
    local status=$?
    trap - EXIT
    [ -z "$STEP_PID" ] || end_step
    if [ ${#STEPS[@]} -gt 0 ]; then
        printf '\n#### seconds by step\n'
        printf '%s\n' "${STEPS[@]}"
        printf '%6d s  %s in all\n' "$SECONDS" "${0##*/}"
    fi
    [ "$status" -eq 0 ] || [ -z "$STEP" ] || FAILED_STEPS+=("$STEP (exit code $status)")
    if [ ${#FAILED_STEPS[@]} -gt 0 ]; then
        printf '\n#### failed: %s\n' "${FAILED_STEPS[@]}" >&2
        [ "$status" -ne 0 ] || status=1
    fi
    exit "$status"
}

# Debian packages ------------------------------------------------------------------------------------------------

WANTED=()

# want PACKAGE PROBE...: notes the package for install_wanted unless the probe command succeeds.
want() {
    local package=$1
    shift
    "$@" >/dev/null 2>&1 || WANTED+=("$package")
}

# Both compilers make a program: a compiler without its C library's headers is of no use as a linker.
compilers_work() {
    local out status=0
    out=$(mktemp)
    {
        printf 'int main(void) { return 0; }\n' | cc -x c - -o "$out" &&
            printf '#include <string>\nint main() { return 0; }\n' | c++ -x c++ - -o "$out"
    } || status=1
    rm -f -- "$out"
    return "$status"
}

want_compilers() {
    want build-essential compilers_work
}

want_program() {
    want "$1" find_program "$1"
}

# CHROMIUM names the machine's browser, or Debian's that has no windows: nothing here opens one, and without them it draws in two
# thirds of the time. Before a release it is the one that users have.
want_chromium() {
    local package=${TABIYA_FULL_TESTS:+chromium}
    package=${package:-chromium-headless-shell}
    CHROMIUM=${CHROMIUM:-$(type -P "$package" chromium chromium-browser google-chrome | sed 1q || true)}
    if [ -z "$CHROMIUM" ]; then
        WANTED+=("$package")
        CHROMIUM=/usr/bin/$package
    fi
}

want_gnuchess_book() {
    want gnuchess-book test -r "$GNUCHESS_BOOK"
}

# Installs what `want` found missing; touches neither apt nor the network where nothing is.
install_wanted() {
    [ ${#WANTED[@]} -gt 0 ] || return 0
    local packages="${WANTED[*]}" log apt=(env DEBIAN_FRONTEND=noninteractive apt-get -qq)
    type -P apt-get >/dev/null ||
        die "these Debian packages are missing, and there is no apt-get to install them: $packages"
    if [ "$(id -u)" -ne 0 ]; then
        # Without a terminal sudo cannot ask for a password.
        if ! type -P sudo >/dev/null || { [ ! -t 0 ] && ! sudo -n true 2>/dev/null; }; then
            die "these Debian packages are missing, and neither root's rights nor sudo are at hand:" \
                "run \`apt-get update && apt-get install $packages\` as root, then this again"
        fi
        apt=(sudo -- "${apt[@]}")
    fi
    say "installing $packages"
    log=$(mktemp)
    mkdir -p -- "$TARGET"
    # Of two steps at once one waits: apt-get's lists are locked without patience.
    if ! {
        flock 9 &&
            "${apt[@]}" update &&
            "${apt[@]}" -y --no-install-recommends -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 \
                install "${WANTED[@]}"
    } </dev/null >"$log" 2>&1 9>"$TARGET/installing"; then
        cat "$log" >&2
        rm -f -- "$log"
        die "apt-get could not install $packages (its messages are above)"
    fi
    rm -f -- "$log"
    WANTED=()
}

# fetch_source PACKAGE FOLDER: puts the archives of a Debian source package into a new folder. Needs no root, and leaves
# the system's own lists of packages alone.
fetch_source() (
    type -P apt-get >/dev/null || die "the source package $1 comes from Debian, and there is no apt-get"
    work=$(mktemp -d)
    trap 'rm -rf -- "$work"' EXIT
    mkdir -p "$2" "$work/fetched" "$work/sources" "$work/lists/partial" "$work/cache/archives/partial"
    # apt fetches as its own user, which has to pass through this folder.
    chmod 755 "$work"
    [ "$(id -u)" -ne 0 ] || ! id _apt >/dev/null 2>&1 || chown _apt "$work/fetched"

    # The machine's own package sources, turned into sources of source packages, for this run's apt alone.
    LIST=/etc/apt/sources.list PARTS=/etc/apt/sources.list.d
    eval "$(apt-config shell LIST Dir::Etc::sourcelist/f PARTS Dir::Etc::sourceparts/d)"
    for file in "$LIST" "$PARTS"/*.list; do
        [ ! -r "$file" ] || sed -nE '/^[[:space:]]*deb(-src)?[[:space:]].*cdrom:/d
            s/^[[:space:]]*deb(-src)?[[:space:]]/deb-src /p' "$file"
    done | sort -u >"$work/sources/own.list"
    for file in "$PARTS"/*.sources; do
        [ ! -r "$file" ] || sed -E 's/^Types:.*/Types: deb-src/I' "$file" >"$work/sources/${file##*/}"
    done

    own_apt() {
        apt-get -qq -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$work/sources" \
            -o Dir::State::lists="$work/lists" -o Dir::Cache="$work/cache" "$@" </dev/null
    }
    # A foreign source that has no source packages is no hindrance: what counts is whether the package comes.
    own_apt update >"$work/apt.log" 2>&1 || true
    if ! (cd "$work/fetched" && own_apt source --download-only --tar-only "$1" >>"$work/apt.log" 2>&1); then
        cat "$work/apt.log" >&2
        die "apt-get could not fetch the source package $1 (its messages are above)"
    fi
    mv -- "$work"/fetched/* "$2"
)

# Rust -----------------------------------------------------------------------------------------------------------

# Puts cargo on PATH: rustup writes it into the shell's start files, which a script does not read.
need_cargo() {
    type -P cargo >/dev/null || PATH=${CARGO_HOME:-$HOME/.cargo}/bin:$PATH
    type -P cargo >/dev/null || die "there is no cargo: install Rust with rustup, then run this again"
    export PATH
}

# need_component NAME SUBCOMMAND: a part of Rust that rustup's minimal profile leaves out.
need_component() {
    cargo "$2" --version >/dev/null 2>&1 && return
    type -P rustup >/dev/null || die "cargo $2 is missing, and there is no rustup to add it"
    say "adding $1"
    rustup --quiet component add "$1"
}

# need_tool PROGRAM ARGUMENTS...: installs a program of crates.io unless it is there.
need_tool() {
    local program=$1
    shift
    type -P "$program" >/dev/null && return
    say "installing $program"
    cargo install --quiet --locked "$@" "$program"
    PATH=${CARGO_INSTALL_ROOT:-${CARGO_HOME:-$HOME/.cargo}}/bin:$PATH
}

# The version in Cargo.toml.
version() {
    sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | sed 1q
}

# The address of the project: TABIYA_REPOSITORY, or the `repository` of Cargo.toml; nothing while that leads nowhere.
repository() {
    local address=${TABIYA_REPOSITORY:-$(sed -n 's/^repository = "\(.*\)"$/\1/p' Cargo.toml)}
    case $address in *.invalid/*) ;; *) printf '%s\n' "$address" ;; esac
}

# The other reader of ChessBase databases, at this path. It is kept between runs.
need_cbvault() {
    [ -x "$1" ] || cargo install --quiet --locked --version 0.1.6 --root "${1%/bin/*}" cbvault-cli
}

# What cargo builds, and the folder where it is then: the executable that users get, unless for_tests is called.
PROFILE=release BUILD_ARGS=() BUILT=$TARGET/release
# What that executable has besides the defaults: Zstandard by its library in C.
FEATURES=(--features zstd)
# In a wheel, what is small is preferred.
[ -z "${TABIYA_SMALL:-}" ] || FEATURES=()

# What scripts/run plays with is built sooner, and without the library in C.
quickly() {
    # shellcheck disable=SC2034
    PROFILE=quick BUILT=${BUILT%/release}/quick FEATURES=()
}

# From here on the programs are built like those of `cargo test`: they check their arithmetic, and what they need is built
# once for all tests.
for_tests() {
    # shellcheck disable=SC2034
    PROFILE=test BUILT=$TARGET/debug
}

# Builds tabiya and the programs that tests and benches start. Always the same ones: with others, cargo would build once
# more what they share.
build_programs() {
    say "building"
    cargo build --workspace --profile "$PROFILE" --locked "${FEATURES[@]}" --bins --examples ${BUILD_ARGS[@]+"${BUILD_ARGS[@]}"}
}

# bench NAME [ARGUMENT OF CARGO...]: cargo bench with the same profile and features.
bench() {
    local name=$1
    shift
    cargo bench --workspace --profile "$PROFILE" --locked "${FEATURES[@]}" --bench "$name" ${BUILD_ARGS[@]+"${BUILD_ARGS[@]}"} "$@"
}

# On Linux that executable holds its C library: it starts in three quarters of the time, takes 1.5 MB less memory, and
# runs on every Linux of its architecture. Where the C library cannot be had so, it is an ordinary release build.
make_release_static() {
    local host
    host=$(rustc -vV | sed -n 's/^host: //p')
    case $host in *-linux-gnu) ;; *) return 0 ;; esac
    printf 'int main(void) { return 0; }\n' | cc -static -x c - -o /dev/null 2>/dev/null || return 0
    # With a target, what runs while the program is built is built without these flags.
    export RUSTFLAGS="${RUSTFLAGS:-} -C target-feature=+crt-static"
    # shellcheck disable=SC2034
    BUILD_ARGS=(--target "$host") BUILT=$TARGET/$host/release
}

# remap_paths FOLDER=NAME...: keeps the names of this machine's folders out of what is built from here on, so that the same
# sources give the same bytes wherever they are.
remap_paths() {
    local pair
    for pair in "${CARGO_HOME:-$HOME/.cargo}=/cargo" "$ROOT=/tabiya" "$@"; do
        case $pair in *[[:space:]]*) die "cannot build in a folder with a space in its name: ${pair%=*}" ;; esac
        RUSTFLAGS="${RUSTFLAGS:-} --remap-path-prefix=$pair"
    done
    export RUSTFLAGS
}

# Python ---------------------------------------------------------------------------------------------------------

# pytest_with VENV ARGUMENT...: pytest fails when it collects no test; -ra names what was skipped, and why. A test that
# takes a quarter of an hour hangs, and is named. Folders are kept of tests that fail, until the next run.
pytest_with() {
    local venv=$1
    shift
    "$venv/bin/python" -m pytest -ra -p no:cacheprovider --timeout "$((900 * PATIENCE))" \
        -o tmp_path_retention_policy=failed -o tmp_path_retention_count=1 "$@"
}

# A Python that can make virtual environments: Debian's own leaves that to the package python3-venv.
find_python() {
    local python
    for python in python3 /usr/bin/python3; do
        if "$python" -c 'import ensurepip, venv' 2>/dev/null; then
            type -P -- "$python"
            return
        fi
    done
    return 1
}

want_python() {
    want python3-venv find_python
}

# A Spark of PyPI, kept in .venv-spark, which runs on Debian's Java.
want_spark() {
    want default-jre-headless java -version
    want_python
}

need_spark() {
    need_venv .venv-spark chess,pandas,pyarrow,pyspark,pytest,pytest_timeout tests/requirements.txt tests/spark/requirements.txt
}

# need_venv [FOLDER MODULES REQUIREMENTS...]: makes .venv with what tests/requirements.txt names, or another environment;
# afresh when such a file or the machine's Python has changed.
need_venv() {
    [ $# -gt 0 ] || set -- .venv berserk,chess,duckdb,pytest,pytest_timeout,xdist tests/requirements.txt
    local python venv=$ROOT/$1 modules=$2
    shift 2
    if cat -- "$@" | cmp -s -- - "$venv/requirements.txt" && "$venv/bin/python" -c "import $modules" 2>/dev/null; then
        return
    fi
    say "making ${venv##*/}"
    python=$(find_python) || die "no Python here can make a virtual environment, not even with python3-venv installed"
    "$python" -m venv --clear "$venv"
    PIP_NO_INPUT=1 "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --use-pep517 "${@/#/--requirement=}"
    # Written last: a run that was cut short begins again.
    cat -- "$@" >"$venv/requirements.txt"
}
