class Fsmtx < Formula
  desc "Holds coding agents to the steps of their skills"
  homepage "@REPOSITORY@"
  version "@VERSION@"
  license "Apache-2.0"

@PLATFORMS@
  def install
    bin.install "fsmtx", "fsmtx-tools"
    man1.install Dir["man/man1/*.1"]
    bash_completion.install "completions/fsmtx.bash" => "fsmtx"
    zsh_completion.install "completions/_fsmtx"
    fish_completion.install "completions/fsmtx.fish"
  end

  def caveats
    <<~EOS
      Type "fsmtx init" in a project of yours. After an upgrade the hooks run the new
      version by themselves.
    EOS
  end

  test do
    assert_match "fsmtx #{version} ", shell_output("#{bin}/fsmtx version")
    assert_match "fsmtx #{version}", shell_output("#{bin}/fsmtx-tools --version")
  end
end
