package secret

import "testing"

// Usual words of configs that are no secrets, and tokens of the forms that their issuers give them.
func TestText(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		// packages
		"skaffold-mcp-server", "sketch-context-mcp", "npm-check-updates", "npm-run-all", "npmlog-viewer-mcp", "pypi-query-mcp-server", "hf-mcp-server",
		"ghost-mcp-server", "pkgconfig-mcp", "hfsplus-tools", "@modelcontextprotocol/server-filesystem", "@acme/demo-mcp@1.2.3", "mcp-server-git==2025.1.14", "my.server[extra]",
		"github.com/acme/srv/cmd/srv@latest", "s3-bucket-explorer-model-context-protocol-server", "model-context-protocol-server-for-postgresql-16-and-timescale",
		"ghcr.io/acme/srv:1.2.3", "acme/srv@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		// numbers, times, versions, ports, addresses
		"30000", "120000", "8080", "127.0.0.1:8080", "0.0.0.0:65535", "30s", "1h30m", "1.2.3", "v1.2.3-rc.1", "2025-11-30", "20251130", "2025-11-30T18:00:00Z", "asia-southeast1-docker",
		// paths
		"/usr/local/lib/node_modules/npm/bin/npm-cli.js", "~/.npm-packages/bin", "./dist/index.js", `C:\Users\me\srv.exe`, "/nix/store/0q7y8z1mhk2rc4v6w9j3p5s8t2a4b6c8-srv/bin/srv",
		// models
		"claude-sonnet-4-5-20250929", "claude-3-5-sonnet-latest", "gpt-4o-mini-2024-07-18", "gemini-2.5-pro", "anthropic.claude-3-5-sonnet-20241022-v2:0", "meta-llama/Llama-3.3-70B-Instruct",
		"qwen2-coder", "text-embedding-3-large",
		// commits in short, and digests with their algorithm
		"f4a50a7c", "f4a50a7cee2a", "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
	} {
		if Text(s) {
			t.Errorf("%s is a secret", s)
		}
	}
	for _, s := range []string{
		"sk-0123456789abcdef", "sk-proj-aB3dE5fG7hI9", "sk-ant-api03-aB3dE5fG7hI9jK1l", "sk-mysecretkey", "sk_live_aB3dE5fG7hI9", "pk_test_aB3dE5fG7hI9", "rk_live_aB3dE5fG7hI9", "sk0123456789abcdef",
		"ghp_aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5", "gho_aaaaaaaaaaaaaaaa", "ghs_0123456789abcdef", "ghu_0123456789abcdef", "github_pat_11AB3dE5fG7hI9jK1l", "ghp-0123456", "glpat-aB3dE5fG7hI9jK1lM3nO",
		"xoxb-123456789012-abcdef", "xoxp-aB3dE5fG7hI9", "npm_aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5", "npm_abcdefghijkl", "pypi-AgEIcHlwaS5vcmcCJGI4", "hf_aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgH", "hf_abcdefghijkl",
		"AKIAIOSFODNN7EXAMPLE", "ASIAIOSFODNN7EXAMPLE", "AIzaSyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln",
		// without a mark: as long and mixed as a key, which a digest and a UUID may be
		"9f86d081884c7d659a2feaa0c55ad015", "0fb06c2b53d1f4a50a7cee2a5b1ba1f6deef7e65", "550e8400-e29b-41d4-a716-446655440000",
		"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6-x", "1234-5678-9012-3456-7890-1234-5678-9012",
	} {
		if !Text(s) {
			t.Errorf("%s is no secret", s)
		}
	}
}

func TestName(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"--max-tokens", "maxTokens", "max_new_tokens", "MAX_OUTPUT_TOKENS", "token-limit", "TOKENIZERS_PARALLELISM", "--tokenizer", "--author", "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "--auth-timeout", "oauth_port", "AUTH_TYPE", "token_type",
		"timeout", "startup_timeout_sec", "KEYBOARD", "--keymap", "monkey", "PINNED", "--passive", "COMPASS", "cwd", "type", "url",
	} {
		if Name(s) {
			t.Errorf("%s is a secret's", s)
		}
	}
	for _, s := range []string{
		"Authorization", "X-Auth-Token", "--token", "GITHUB_TOKEN", "tokens", "maxTokenSecret", "NEW_TOKEN", "INPUT_TOKEN", "MAX_TOKEN", "AUTH_TYPE_TOKEN", "--auth", "oauth", "authToken", "auth", "--author-token", "x-api-key", "apikey", "API_KEY", "private_key",
		"password", "PGPASSWORD", "pwd", "--key", "ssl-key", "pin", "--pass", "Cookie", "headers", "DATABASE_DSN", "connection-string", "CREDENTIALS", "creds", "bearer_token", "token_timeout_key",
	} {
		if !Name(s) {
			t.Errorf("%s is no secret's", s)
		}
	}
}

// What contains a token, and what only has words like one.
func TestWithin(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"/home/me/.npm-packages/bin:/usr/bin", "/opt/npm-global-tools/bin", "asia-southeast1-docker.pkg.dev/acme", "--registry hf-mirror-server", "-y npm-check-updates",
	} {
		if Variable("X", s) {
			t.Errorf("%s is a secret", s)
		}
	}
	for _, s := range []string{
		"use AKIAIOSFODNN7EXAMPLE here", "a sk-abcdefgh1", "x=hf_abcdefgh1", "-t pypi-AgEIcHlwaS5vcmc", "npm-aB3dE5fG7hI9 x", "a:ghp_0123456789", "k AIzaSyA1b2C3d4E5", "jwt eyJhbGciOiJIUzI1NiJ9",
	} {
		if !Variable("X", s) {
			t.Errorf("%s is no secret", s)
		}
	}
}
