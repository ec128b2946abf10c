package mask

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Kinds of secrets that an external corpus found unmasked. No case was masked before its kind was added.
func TestMissedKindsAreMasked(t *testing.T) {
	t.Parallel()

	m := newMasker(t, Config{Alerts: DefaultRules()})
	key := "MIIEpAIBAAKCAQEA7bq1Xk29fLq8Zt71mW3vR5bNXk29fLq8Zt71mW3vR5bNXk29"

	for _, c := range []struct{ in, want string }{
		// names
		{"pass: hunter2x", "pass: [MASKED_PASSWORD]"},
		{"ROOT_PW=hunter2x", "ROOT_PW=[MASKED_PASSWORD]"},
		{"DB_CREDS=ada:hunter2x", "DB_CREDS=[MASKED_SECRET_KEY]"},
		{"DB_PASSWORD_2=hunter2x", "DB_PASSWORD_2=[MASKED_PASSWORD]"},
		{"password_prod: hunter2x", "password_prod: [MASKED_PASSWORD]"},
		{"-storepass hunter2x", "-storepass [MASKED_PASSWORD]"},
		// YAML
		{"password: &p hunter2x\n", "password: &p [MASKED_PASSWORD]\n"},
		{"password: &p\n  hunter2x\n", "password: &p\n  [MASKED_PASSWORD]\n"},
		{"password: !!str hunter2x\n", "password: !!str [MASKED_PASSWORD]\n"},
		{"- name: DB_PASSWORD\n  value: >-\n    hunter2x\n", "- name: DB_PASSWORD\n  value: >-\n    [MASKED_PASSWORD]\n"},
		{"password: |- # old\n  hunter2x\nport: 80\n", "password: |- # old\n  [MASKED_PASSWORD]\nport: 80\n"},
		{`"body":"password: >-\n  hunter2x\nport: 80"`, `"body":"password: >-\n  [MASKED_PASSWORD]\nport: 80"`},
		{"passwords:\n- hunter2x\n- hunter3x\n", "passwords:\n- [MASKED_PASSWORD]\n- [MASKED_PASSWORD]\n"},
		{"passwords:\n  ada: hunter2x9\n", "passwords:\n  ada: [MASKED_PASSWORD]\n"},
		{`{"passwords":["hunter2x","hunter3x"]}`, `{"passwords":["[MASKED_PASSWORD]","[MASKED_PASSWORD]"]}`},
		{"passwords: [hunter2x, hunter3x]", "passwords: [[MASKED_PASSWORD], [MASKED_PASSWORD]]"},
		{"- value: hunter2x\n  name: DB_PASSWORD\n", "- value: [MASKED_PASSWORD]\n  name: DB_PASSWORD\n"},
		{`{"value":"hunter2x","name":"DB_PASSWORD"}`, `{"value":"[MASKED_PASSWORD]","name":"DB_PASSWORD"}`},
		{`{"value":"hunter2x","type":"text","name":"DB_PASSWORD"}`, `{"value":"[MASKED_PASSWORD]","type":"text","name":"DB_PASSWORD"}`},
		{`{"name":"DB_PASSWORD","type":"text","value":"hunter2x"}`, `{"name":"DB_PASSWORD","type":"text","value":"[MASKED_PASSWORD]"}`},
		// tables
		{"user,password\nada,hunter2x\n", "user,password\nada,[MASKED_PASSWORD]\n"},
		{"\"user\";\"password\"\n\"ada\";\"hunter2x\"\n", "\"user\";\"password\"\n\"ada\";\"[MASKED_PASSWORD]\"\n"},
		{"user\tpassword\nada\thunter2x\n", "user\tpassword\nada\t[MASKED_PASSWORD]\n"},
		{" user | password \n------+----------\n ada  | hunter2x\n", " user | password \n------+----------\n ada  | [MASKED_PASSWORD]\n"},
		{"user  password\nada   hunter2x\n", "user  password\nada   [MASKED_PASSWORD]\n"},
		{`"out":"user,password\nada,hunter2x\n"`, `"out":"user,password\nada,[MASKED_PASSWORD]\n"`},
		{"user | ada\npassword | hunter2x\n", "user | ada\npassword | [MASKED_PASSWORD]\n"},
		// disguises
		{"\x1b[36mpassword\x1b[0m=hunter2x", "\x1b[36mpassword\x1b[0m=[MASKED_PASSWORD]"},
		{`\u001b[36mpassword\u001b[0m=hunter2x`, `\u001b[36mpassword\u001b[0m=[MASKED_PASSWORD]`},
		{"^[[36mpassword^[[0m=hunter2x", "^[[36mpassword^[[0m=[MASKED_PASSWORD]"},
		{"&quot;password&quot;:&quot;hunter2x&quot;", "&quot;password&quot;:&quot;[MASKED_PASSWORD]&quot;"},
		{`\u0022password\u0022:\u0022hunter2x\u0022`, `\u0022password\u0022:\u0022[MASKED_PASSWORD]\u0022`},
		{"password%253Dhunter2x", "password%253D[MASKED_PASSWORD]"},
		// headers, LDIF and keys
		{`Authorization "Basic YWRhOmh1bnRlcjJ4"`, `Authorization "Basic [MASKED_TOKEN]"`},
		{"'authorization', 'Bearer hunter2hunter2x'", "'authorization', 'Bearer [MASKED_TOKEN]'"},
		{"uid: ada\nuserPassword:: aHVudGVyMng=\n", "uid: ada\nuserPassword:: [MASKED_PASSWORD]\n"},
		{"cut\n" + key + "\n" + key + "\n", "cut\n[MASKED_PRIVATE_KEY]\n"},
		{text("cut off\n", key[16:], "\n", key[16:], "\n-----END ", "RSA PRIVATE KEY-----\n"), "cut off\n[MASKED_PRIVATE_KEY]\n"},
		// commands
		{"mongo -u ada -p hunter2x admin", "mongo -u ada -p [MASKED_PASSWORD] admin"},
		{"az login -u ada -p hunter2x --tenant t", "az login -u ada -p [MASKED_PASSWORD] --tenant t"},
		{"openssl rsa -passin pass:hunter2x", "openssl rsa -passin pass:[MASKED_PASSWORD]"},
		{"openssl enc -k hunter2x -in a", "openssl enc -k [MASKED_PASSWORD] -in a"},
		{"keytool -keypass hunter2x -storepass hunter3x", "keytool -keypass [MASKED_PASSWORD] -storepass [MASKED_PASSWORD]"},
		{"ldapsearch -D cn=a -w hunter2x", "ldapsearch -D cn=a -w [MASKED_PASSWORD]"},
		{"ipmitool -U a -P hunter2x power on", "ipmitool -U a -P [MASKED_PASSWORD] power on"},
		{"echo 'ada:hunter2x' | chpasswd", "echo 'ada:[MASKED_PASSWORD]' | chpasswd"},
		{"chpasswd <<< ada:hunter2x", "chpasswd <<< ada:[MASKED_PASSWORD]"},
		{"sqlcmd -U sa -P hunter2x", "sqlcmd -U sa -P [MASKED_PASSWORD]"},
		{`["mongosh","-p","hunter2x"]`, `["mongosh","-p","[MASKED_PASSWORD]"]`},
		// programs
		{`Config { password: Some("hunter2x") }`, `Config { password: Some("[MASKED_PASSWORD]") }`},
		{`let password: &str = "hunter2x";`, `let password: &str = "[MASKED_PASSWORD]";`},
		{`os.Setenv("DB_PASSWORD", "hunter2x")`, `os.Setenv("DB_PASSWORD", "[MASKED_PASSWORD]")`},
		{`<property name="password">hunter2x</property>`, `<property name="password">[MASKED_PASSWORD]</property>`},
		{"ENV DB_PASSWORD hunter2x", "ENV DB_PASSWORD [MASKED_PASSWORD]"},
		{`<ns:password type="text">hunter2x</ns:password>`, `<ns:password type="text">[MASKED_PASSWORD]</ns:password>`},
		{`if (apiKey == "Kx7vQ2mZ9-t_R5bNw") {`, `if (apiKey == "[MASKED_API_KEY]") {`},
		{`if db_pass != "hunter2x" {`, `if db_pass != "[MASKED_PASSWORD]" {`},
		{`if (dbPassword !== 'hunter2x')`, `if (dbPassword !== '[MASKED_PASSWORD]')`},
		{"SLAPIKEY=Kx7vQ2mZ9tR5bNw", "SLAPIKEY=[MASKED_API_KEY]"},
		{"slapi_key: Kx7vQ2mZ9tR5bNw", "slapi_key: [MASKED_API_KEY]"},
		{"<password><![CDATA[hunter2x]]></password>", "<password><![CDATA[[MASKED_PASSWORD]]]></password>"},
		{"<td>password</td><td>hunter2x</td>", "<td>password</td><td>[MASKED_PASSWORD]</td>"},
		{"the default password Kx7vQ2mZ9 is in use", "the default password [MASKED_PASSWORD] is in use"},
		{"aws ssm put-parameter --name /db --value hunter2x", "aws ssm put-parameter --name /db --value [MASKED_PASSWORD]"},
		// tokens
		{text("ey", "JhbGciOiJub25lIn0.", "ey", "JzdWIiOiJhZGEiLCJpYXQiOjE1MTYyMzkwMjJ9 end"), "[MASKED_TOKEN] end"},
		{text("NTIzNDU2Nzg5MDEyMzQ1Njc4", ".DhUnTe.", "hunter2hunter2hunter2hunter"), "[MASKED_TOKEN]"},
		{text("ts", "key-auth-kXk29fLq8CNTRL-Zt71mW3vR5bNXk29"), "[MASKED_TOKEN]"},
		{text("sb", "p_0a1b2c3d4e5f60718293a4b5c6d7e8f901234567"), "[MASKED_TOKEN]"},
		{text("CCI", "PAT_Xk29fLq8Zt71mW3vR5bNXk_0a1b2c3d4e5f60718293a4b5c6d7e8f901234567"), "[MASKED_TOKEN]"},
		{text("bk", "ua_0a1b2c3d4e5f60718293a4b5c6d7e8f901234567"), "[MASKED_TOKEN]"},
		{text("fi", "gd_Xk29fLq8Zt71mW3vR5bNXk29fLq8Zt71mW3vR5bN"), "[MASKED_TOKEN]"},
		{text("r8", "_Xk29fLq8Zt71mW3vR5bNXk29fLq8Zt71mW3vR5"), "[MASKED_TOKEN]"},
		{text("(ops", "_eyJXk29fLq8Zt71mW3vR5bNXk29fLq8Zt71mW3vR5bNXk29fLq8)"), "([MASKED_TOKEN])"},
		{text("A3", "-AB12C3-ABCDEF-AB12C-AB12C-AB12C-AB12C"), "[MASKED_SECRET_KEY]"},
		{text("SSWS 00", "Xk29fLq8Zt71mW3vR5bNXk29fLq8Zt71mW3vR5"), "SSWS [MASKED_TOKEN]"},
		{text("(s.", "Xk29fLq8Zt71mW3vR5bNXk29)"), "([MASKED_TOKEN])"},
		{text("tarsy", "share_abcdefgh234567ijklmnop234567qrstuvwx234567yzabcd23"), "[MASKED_TOKEN]"},
	} {
		masked := written(m, c.in)
		assert.Equal(t, c.want, masked, c.in)
		assert.Equal(t, masked, written(m, masked), "masking twice is masking once")
	}
}

func TestLookalikesOfMissedKindsAreUnchanged(t *testing.T) {
	t.Parallel()

	m := newMasker(t, Config{Alerts: DefaultRules()})

	for _, text := range []string{
		"password_policy: min_length=12", "pass: 12 fail: 0", "PASS: TestLogin2 (0.1s)", "pass=v1.2.3", "bypass: a1b2c3d4", "render_pass: forward2",
		"creds: secret/data/db", "creds = localhost:5432", "passwords: 3 weak", "passwords:\n  minLength: 12\n", "tokens: [a, b, c]", "secrets:\n- name: regcred2\n", "password:\n  type: string\n",
		"- value: prod\n  name: PASSWORD_POLICY", "- value: /run/secrets/p\n  name: DB_PASSWORD\n", "name,password_changed,role\nada,2026-11-18,admin\n", "SECRET NAME   VERSION\nweb-tls-v2    12\n",
		"NAME   PASSWORD\nada    \n2026-11-18T06:00:00Z INFO started\n", "Basic dGhlIHF1aWNrIGJyb3duIGZveA==", "Token::new2", "az group list -p 2", `if password == "" {`, `if (token != null)`, `if password == other.password {`, `password != "required"`, `"kind" == "password"`, "ssh login -p 22022", "ldapsearch -s base", "echo done123 | tee /x",
		"PASSWORD  USER\n2026-11-18T06:00:00Z INFO started web-1\n", "password:\n  rotation: every90days\n", "\"nextPageToken\": \"CAUQAA1B2c3D4e5F6\"",
		"s.processBatchWithTimeouts2", "org.apache.kafka.common.Metrics", "password | text | not null", "a &quot;password&quot; is needed", "token 3f8a9c2e-7b1d-4e6f-9a0c-5d2b8e4f1a7c not found",
		"MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAu1SU1LfVLPHCozMxH2Mo4lgOEePzNm0tRgeLezV6ffAt0gunVTLw7onLRnrq0",
	} {
		assert.Equal(t, text, written(m, text))
	}
}
