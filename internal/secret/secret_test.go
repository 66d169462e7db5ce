package secret

import "testing"

func TestVariable(t *testing.T) {
	t.Parallel()
	for _, v := range [][2]string{
		{"GITHUB_TOKEN", "x"}, {"OPENAI_API_KEY", "x"}, {"DB_PASSWORD", "x"}, {"MYSQL_PWD", "x"}, {"AWS_SECRET_ACCESS_KEY", "x"}, {"AWS_SESSION_TOKEN", "x"},
		{"GOOGLE_APPLICATION_CREDENTIALS", "x"}, {"CLIENT_SECRET", "x"}, {"SSH_PRIVATE_KEY", "x"}, {"PGPASSFILE", "ghp_0123456789abcdef"}, {"KEY", "x"}, {"token", "x"},
		{"DATABASE_URL", "postgres://user:pass@host/db"}, {"HTTP_PROXY", "http://user:pass@proxy:3128"}, {"SOMETHING", "sk-0123456789abcdef"},
		{"GH", "Bearer ghp_aaaaaaaaaaaaaaaa"}, {"OPTS", "--password=x --user y"}, {"CONN", "Server=h;Password=x;"}, {"HTTP_PROXY", "user:x@proxy:3128"},
		{"MANY", "a=1 https://u:p@h/"}, {"BAD_ESCAPE", "postgres://u:p%zz@h/db"}, {"QUERY", "https://h/?access_token=x"}, {"JSON", `{"token":"x"}`},
		{"PEM", "-----BEGIN PRIVATE KEY-----"}, {"HOOK", "https://hooks.example/x"}, {"ARGS", "-k sk-0123456789abcdef"},
		{"DB_PASS1", "x"}, {"PIN2", "x"}, {"MYKEY", "x"}, {"SESSKEY", "x"},
	} {
		if !Variable(v[0], v[1]) {
			t.Errorf("%s=%s is no secret", v[0], v[1])
		}
	}
	for _, v := range [][2]string{
		{"PATH", "/usr/bin:/bin"}, {"PWD", "/home/user"}, {"OLDPWD", "/"}, {"HOME", "/home/user"}, {"XDG_SESSION_ID", "4"}, {"KEYBOARD", "us"}, {"PS1", "$ "}, {"PAGER", "less"},
		{"DBUS_SESSION_BUS_ADDRESS", "unix:path=/run/user/1000/bus"}, {"HTTP_PROXY", "http://proxy:3128"}, {"LANG", "C.UTF-8"}, {"EMPTY", ""},
		{"LS_COLORS", "rs=0:di=01;34"}, {"TMUX", "/run/user/1000/tmux,1,0"}, {"LESSOPEN", "| /usr/bin/lesspipe %s"}, {"GOPROXY", "https://proxy.example,direct"},
		{"MANPATH", "/a/b:/c/d"}, {"DISPLAY", ":0"}, {"EDITOR", "vim -u NONE"}, {"VERSION", "go@1.26"},
	} {
		if Variable(v[0], v[1]) {
			t.Errorf("%s=%s is a secret", v[0], v[1])
		}
	}
}
