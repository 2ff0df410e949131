class Tabiya < Formula
  desc "Gives any UCI chess engine any opening book"
  homepage "@REPOSITORY@"
  version "@VERSION@"
  license "GPL-3.0-or-later"

  on_macos do
    on_arm do
      url "@REPOSITORY@/releases/download/v@VERSION@/tabiya-@VERSION@-macos-aarch64.tar.gz"
      sha256 "@SHA256:tabiya-@VERSION@-macos-aarch64.tar.gz@"
    end
    on_intel do
      url "@REPOSITORY@/releases/download/v@VERSION@/tabiya-@VERSION@-macos-x86_64.tar.gz"
      sha256 "@SHA256:tabiya-@VERSION@-macos-x86_64.tar.gz@"
    end
  end

  on_linux do
    on_arm do
      url "@REPOSITORY@/releases/download/v@VERSION@/tabiya-@VERSION@-linux-aarch64.tar.gz"
      sha256 "@SHA256:tabiya-@VERSION@-linux-aarch64.tar.gz@"
    end
    on_intel do
      url "@REPOSITORY@/releases/download/v@VERSION@/tabiya-@VERSION@-linux-x86_64.tar.gz"
      sha256 "@SHA256:tabiya-@VERSION@-linux-x86_64.tar.gz@"
    end
  end

  def install
    bin.install "tabiya"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/tabiya.bash" => "tabiya"
    fish_completion.install "completions/tabiya.fish"
    zsh_completion.install "completions/_tabiya"
    doc.install "guide"
  end

  test do
    # An engine that says only who it is: the move comes from the starter book.
    (testpath/"engine").write <<~SH
      #!/bin/sh
      while read -r line; do
        case $line in
          uci) echo "id name none"; echo uciok ;;
          isready) echo readyok ;;
          quit) exit ;;
        esac
      done
    SH
    chmod "+x", testpath/"engine"
    moves = pipe_output("#{bin}/tabiya --engine #{testpath}/engine", "uci\nisready\nposition startpos\ngo movetime 1\n")
    assert_match(/^bestmove [a-h][1-8][a-h][1-8]$/, moves)
  end
end
