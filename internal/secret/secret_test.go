package secret

import "testing"

func TestVariable(t *testing.T) {
	t.Parallel()
	for _, v := range [][2]string{
		{"GITHUB_TOKEN", "x"}, {"OPENAI_API_KEY", "x"}, {"DB_PASSWORD", "x"}, {"MYSQL_PWD", "x"}, {"AWS_SECRET_ACCESS_KEY", "x"}, {"AWS_SESSION_TOKEN", "x"},
		{"GOOGLE_APPLICATION_CREDENTIALS", "x"}, {"CLIENT_SECRET", "x"}, {"SSH_PRIVATE_KEY", "x"}, {"PGPASSFILE", "ghp_0123456789abcdef"}, {"KEY", "x"}, {"token", "x"},
		{"DATABASE_URL", "postgres://user:pass@host/db"}, {"HTTP_PROXY", "http://user:pass@proxy:3128"}, {"SOMETHING", "sk-0123456789abcdef"},
	} {
		if !Variable(v[0], v[1]) {
			t.Errorf("%s=%s is no secret", v[0], v[1])
		}
	}
	for _, v := range [][2]string{
		{"PATH", "/usr/bin:/bin"}, {"PWD", "/home/user"}, {"OLDPWD", "/"}, {"HOME", "/home/user"}, {"XDG_SESSION_ID", "4"}, {"KEYBOARD", "us"}, {"PS1", "$ "}, {"PAGER", "less"},
		{"DBUS_SESSION_BUS_ADDRESS", "unix:path=/run/user/1000/bus"}, {"HTTP_PROXY", "http://proxy:3128"}, {"LANG", "C.UTF-8"}, {"EMPTY", ""},
	} {
		if Variable(v[0], v[1]) {
			t.Errorf("%s=%s is a secret", v[0], v[1])
		}
	}
}
