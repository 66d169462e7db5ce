class Tmuxmcp < Formula
  desc "{{.Summary}}"
  homepage "{{.Homepage}}"
  version "{{.Number}}"
  license "MIT"

  depends_on "tmux"
{{- range $os, $archives := .BySystem}}

  on_{{if eq $os "darwin"}}macos{{else}}linux{{end}} do
{{- range $archives}}
    on_{{if eq .Arch "amd64"}}intel{{else}}arm{{end}} do
      url "{{$.Downloads}}/{{.Name}}"
      sha256 "{{.SHA256}}"
    end
{{- end}}
  end
{{- end}}

  def install
    bin.install Dir["bin/*"]
    man1.install Dir["share/man/man1/*"]
    bash_completion.install Dir["share/bash-completion/completions/*"]
    fish_completion.install Dir["share/fish/vendor_completions.d/*"]
    zsh_completion.install Dir["share/zsh/site-functions/*"]
    doc.install Dir["share/doc/tmuxmcp/*"]
  end

  def caveats
    <<~EOS
      To add the server to the agents on this machine:
        tmux-mcp setup
    EOS
  end

  test do
{{- range .Programs}}
    assert_match version.to_s, shell_output("#{bin}/{{.}} --version")
{{- end}}
    request = <<~JSON
      {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}
    JSON
    assert_match '"serverInfo"', pipe_output("#{bin}/tmux-mcp -L tmuxmcp-test", request, 0)
  end
end
