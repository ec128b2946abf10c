package mask

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Forms of secrets that attackers found unmasked.
func TestSecretsAreFoundInUnusualForms(t *testing.T) {
	t.Parallel()

	m := newMasker(t, Config{Alerts: DefaultRules()})

	const secret = "hunter2Xk29"

	for _, c := range []struct{ in, kept string }{
		{"curl -u ada:hunter2Xk29 https://a.example", "curl -u ada:"},
		{"curl -uada:hunter2Xk29 https://a.example", "curl -uada:"},
		{"curl -u=ada:hunter2Xk29 https://a.example", "curl"},
		{"curl -su ada:hunter2Xk29 https://a.example", "curl -su ada:"},
		{"curl -u 'ada:hunter2Xk29' https://a.example", "curl -u 'ada:"},
		{"curl -u \"ada:hunter2Xk29\" https://a.example", "https://a.example"},
		{"curl -u \"ada\":\"hunter2Xk29\" https://a.example", "https://a.example"},
		{"curl --user ada:hunter2Xk29 https://a.example", "--user ada:"},
		{"curl --user=ada:hunter2Xk29 https://a.example", "--user=ada:"},
		{"curl --user='ada:hunter2Xk29' https://a.example", "https://a.example"},
		{"curl -u 'ada:hunter2 Xk29hunter2Xk29' https://a.example", "https://a.example"},
		{"curl -u :hunter2Xk29 https://a.example", "https://a.example"},
		{"curl --proxy-user ada:hunter2Xk29 https://a.example", "--proxy-user ada:"},
		{"curl -U ada:hunter2Xk29 https://a.example", "curl -U ada:"},
		{"wget --user ada --password hunter2Xk29 https://a.example", "--user ada"},
		{"args: [\"curl\", \"-u\", \"ada:hunter2Xk29\"]", "\"-u\""},
		{"Authorization: hunter2Xk29hunter2Xk29", "Authorization: "},
		{"authorization=hunter2Xk29hunter2Xk29", "authorization="},
		{"Authorization: Custom-Scheme hunter2Xk29hunter2Xk29", "Authorization: Custom-Scheme "},
		{"Authorization: Custom hunter2Xk29", "Authorization: Custom "},
		{"Proxy-Authorization: Basic hunter2Xk29", "Proxy-Authorization: Basic "},
		{"-H 'Authorization: SSWS hunter2Xk29hunter'", "Authorization: SSWS "},
		{`{"Authorization":"hunter2Xk29hunter2Xk29"}`, `{"Authorization":"`},
		{`"authorization": ["hunter2Xk29hunter2Xk29"]`, `"authorization": [`},
		{"Authorization: OAuth oauth_token=\"hunter2Xk29\", oauth_version=\"1.0\"", "Authorization: OAuth "},
		{"https://api.telegram.org/bot123456789:hunter2Xk29hunter2Xk29hunter2Xk29/sendMessage", "/sendMessage"},
		{"https://api.telegram.org/bot123456789%3Ahunter2Xk29hunter2Xk29hunter2Xk29/getMe", "/getMe"},
		{"mysql -uroot -phunter2Xk29 shop", "mysql -uroot -p"},
		{"mysql -u root -p'hunter2Xk29' shop", "mysql -u root -p"},
		{"mysql -p\"hunter2Xk29\" shop", "shop"},
		{"mysqldump --password=hunter2Xk29 shop", "mysqldump --password="},
		{"mysqldump -h db -phunter2Xk29 shop", "mysqldump -h db -p"},
		{"mysqlimport -phunter2Xk29 shop", "mysqlimport -p"},
		{"PGPASSWORD=hunter2Xk29 psql -h db", "PGPASSWORD="},
		{"MYSQL_PWD=hunter2Xk29 mysql", "MYSQL_PWD="},
		{"PGPASSWORD='hunter2Xk29' psql -h db", "psql -h db"},
		{"a=1&password%3Dhunter2Xk29%26b%3D2", "%26b%3D2"},
		{"redirect=https%3A%2F%2Fa.example%2F%3Fpassword%3Dhunter2Xk29%26x%3D1", "%26x%3D1"},
		{"url=postgres%3A%2F%2Fapp%3Ahunter2Xk29%40db%2Forders", "%40db%2Forders"},
		{`<user name="ada" password="hunter2Xk29"/>`, `name="ada"`},
		{`<add key="DbPassword" value="hunter2Xk29" />`, `key="DbPassword"`},
		{`<property name="password" value="hunter2Xk29"/>`, `name="password"`},
		{`<Setting Name='Password' Value='hunter2Xk29'/>`, `Name='Password'`},
		{`<property value="hunter2Xk29" name="password"/>`, `name="password"`},
		{"NAME    PASSWORD      AGE\nada     hunter2Xk29   3d\nbob     hunter2Xk29x  4d\n", "NAME    PASSWORD      AGE\nada     "},
		{"USER  API_TOKEN\nada   hunter2Xk29hunter2Xk29\n", "USER  API_TOKEN\nada   "},
		{"| user | password |\n|------|----------|\n| ada  | hunter2Xk29 |\n", "| user | password |"},
		{"pass\u200bword=hunter2Xk29", "=["},
		{"pass\u00adword: hunter2Xk29", ": ["},
		{"DB_PASS\u2060WORD=hunter2Xk29", "=["},
		{"\ufeffpassword=hunter2Xk29", "=["},
		{"password\u200b=\u200bhunter2Xk29", "password"},
	} {
		masked := written(m, c.in)
		assert.NotContains(t, masked, secret, c.in)
		assert.Contains(t, masked, c.kept, c.in)
		assert.Contains(t, masked, "[MASKED_", c.in)
		assert.Equal(t, masked, written(m, masked), "masking twice is masking once")
	}
}

func TestHarmlessLookalikesAreUnchanged(t *testing.T) {
	t.Parallel()

	m := newMasker(t, Config{Alerts: DefaultRules()})

	for _, text := range []string{
		"key=3f8a9c2e-7b1d-4e6f-9a0c-5d2b8e4f1a7c", "cache key: 3f8a9c2e-7b1d-4e6f-9a0c-5d2b8e4f1a7c",
		"curl -u ada https://a.example", "curl --user-agent tarsy:1.0 https://a.example", "curl -u $USER:$PASS https://a.example",
		"Authorization: required", "authorization: enabled", "Authorization header is missing", "authorization=RBAC,Node", "authorization: rbac.authorization.k8s.io/v1",
		"mysql -p shop", "mysql -P 3306 shop", "PASSWORD EXPIRES", "NAME      TOKEN-COUNT\nada       12345678901\n",
		"NAME        SECRETS   AGE\ndefault     1         5d\nbuilder     2         5d\n", "the password column\nis hidden today\n", "emoji \u200d joined 👩\u200d💻 and zero\u200bwidth",
		"password%20policy%3A%20strict", "NAME    KEY     VALUE\nada     size    100\n",
	} {
		assert.Equal(t, text, written(m, text))
	}
}
