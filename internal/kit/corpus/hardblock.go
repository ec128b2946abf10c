package corpus

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
)

// hardBlocks returns lists of secrets, and keys with a part missing.
func hardBlocks() []kind {
	several := func(name, format string, secret func(*random) string) kind {
		return kind{name: name, contexts: []context{alone, inProse, inFile}, make: func(r *random) value {
			a, b := secret(r), secret(r)

			return value{fmt.Sprintf(format, a, b), []string{a, b}}
		}}
	}
	key := func(name string, head []byte, size int, cut func(lines []string) string) kind {
		return kind{name: name, contexts: []context{alone, inProse, inFile}, make: func(r *random) value {
			raw := base64.StdEncoding.EncodeToString(append(slices.Clone(head), r.bytes(size)...))

			var lines []string
			for part := range slices.Chunk([]byte(raw), 64) {
				lines = append(lines, string(part))
			}

			text := cut(lines)

			return value{text, lines[2 : len(lines)-1]}
		}}
	}
	const end = "-----END RSA " + "PRIVATE" + " KEY-----"

	joined := func(lines []string) string { return "reading key\n" + strings.Join(lines, "\n") + "\ndone\n" }
	ended := func(lines []string) string { return strings.Join(lines[2:], "\n") + "\n" + end + "\n" }
	pkcs1 := []byte{0x30, 0x82, 0x04, 0xa4, 0x02, 0x01, 0x00, 0x02, 0x82, 0x01, 0x01, 0x00}
	pkcs8 := []byte{0x30, 0x82, 0x04, 0xbd, 0x02, 0x01, 0x00, 0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01}
	ec := []byte{0x30, 0x77, 0x02, 0x01, 0x01, 0x04, 0x20}
	openssh := []byte("openssh-key-v1\x00\x00\x00\x00\x04none\x00\x00\x00\x04none")

	return []kind{
		several("yaml list", "passwords:\n  - %s\n  - %s\nport: 80\n", hardPassword),
		several("yaml list, quoted", "admin_passwords:\n- \"%s\"\n- '%s'\n", hardPassword),
		several("yaml flow list", "passwords: [%s, %s]\n", hardPassword),
		several("json list", `{"passwords":["%s","%s"],"n":2}`, hardPassword),
		several("json list, pretty", "{\n  \"passwords\": [\n    \"%s\",\n    \"%s\"\n  ]\n}", hardPassword),
		several("toml list", "api_tokens = [\"%s\", \"%s\"]\n", hardKey),
		several("yaml keys", "api_keys:\n  - %s\n  - %s\n", hardKey),
		several("yaml map", "passwords:\n  admin: %s\n  ada: %s\nport: 80\n", hardPassword),
		several("comma list", "API_KEYS=%s,%s\nPORT=80\n", hardKey),
		several("csv rows", "user,password\nada,%s\nbob,%s\n", hardPassword),
		several("psql rows", " user | passwd \n------+--------\n ada  | %s\n bob  | %s\n(2 rows)\n", hardPassword),
		several("keytool, both", "keytool -genkey -storepass %s -keypass %s -alias a", hardPassword),
		several("openssl, both", "openssl pkcs12 -export -passin pass:%s -passout pass:%s", hardPassword),
		several("snmp, both", "snmpget -v3 -u ops -A %s -X %s 10.0.0.1 sysName.0", hardPassword),
		several("chpasswd document", "chpasswd <<EOF\nroot:%s\nada:%s\nEOF\n", hardPassword),
		several("alias use", "base: &b\n  password: &p %s\nother:\n  token: &t %s\n  copy: *p\n", hardPassword),
		key("key without its begin", pkcs1, 1180, ended),
		key("key without lines", pkcs1, 1180, joined),
		key("pkcs8 without lines", pkcs8, 1190, joined),
		key("ec key without lines", ec, 220, joined),
		key("openssh key without lines", openssh, 360, joined),
	}
}

var inFile = context{"file dump", func(r *random, _, text string) string {
	return "==> /etc/" + r.word() + ".conf <==\n" + text + "\n==> /etc/hosts <==\n127.0.0.1 localhost\n"
}, plain}
