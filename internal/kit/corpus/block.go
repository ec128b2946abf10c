package corpus

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
)

// urls returns the kinds of URLs that contain credentials.
func urls() []kind {
	of := func(name, key, format string) kind {
		return kind{name, key, func(r *random) value {
			password := r.pick(r.alnum(18), r.from(lower+digits, 6)+"-"+r.from(lower, 6)+"."+r.digits(4), "p%40ss"+r.alnum(8))

			return value{text: fmt.Sprintf(format, password, r.host()), secrets: []string{password}}
		}, []context{bareLog, barePath, inYAML, inQuotedYAML, inJSON, inEnv, inPodEnv, inNestedJSON, inProse, inFlag}}
	}

	return []kind{
		of("postgres url", "DATABASE_URL", "postgres://app:%s@%s:5432/orders?sslmode=require"),
		of("mysql url", "MYSQL_URL", "mysql://root:%s@%s:3306/shop"),
		of("mysql dsn", "MYSQL_DSN", "app:%s@tcp(%s:3306)/shop?parseTime=true"),
		of("mongodb url", "MONGO_URI", "mongodb+srv://svc:%s@%s/admin?retryWrites=true"),
		of("redis url", "REDIS_URL", "redis://:%s@%s:6379/0"),
		of("amqp url", "AMQP_URL", "amqps://guest:%s@%s:5671/vhost"),
		of("https url", "REPO_URL", "https://ci-bot:%s@%s/platform/infra.git"),
		of("jdbc url", "JDBC_URL", "jdbc:postgresql://db:5432/app?user=app&password=%s&host=%s"),
		of("jdbc sqlserver", "MSSQL_URL", "jdbc:sqlserver://db:1433;user=sa;password=%s;trustServerCertificate=true;host=%s"),
		of("kafka jaas", "SASL_JAAS_CONFIG", `org.apache.kafka.common.security.plain.PlainLoginModule required username='app' password='%s' host='%s';`),
		of("smtp url", "SMTP_URL", "smtp://mailer:%s@%s:587"),
		of("ldap url", "PROXY_URL", "http://proxyuser:%s@%s:3128"),
		of("query token", "CALLBACK_URL", "https://hooks.example.com/in?access_token=%s&host=%s"),
	}
}

// pem returns a PEM block: base64 between its BEGIN and END lines.
func pem(r *random, label string, size int) string {
	var lines []string
	for part := range slices.Chunk([]byte(r.base64(size)), 64) {
		lines = append(lines, string(part))
	}

	const dashes = "-----"

	return dashes + "BEGIN " + label + dashes + "\n" + strings.Join(lines, "\n") + "\n" + dashes + "END " + label + dashes
}

// blocks returns the kinds of secrets that span several lines.
func blocks() []kind {
	of := func(name, key, label string, size int) kind {
		return kind{name, key, whole(func(r *random) string { return pem(r, label, size) }), append([]context{inBase64Env}, block...)}
	}
	kubeconfig := func(name, format string, secret func(*random) string) kind {
		return kind{name: name, contexts: line, make: func(r *random) value {
			made := secret(r)

			return value{text: fmt.Sprintf("apiVersion: v1\nkind: Config\nusers:\n- name: admin\n  user:\n    "+format+"\n", made), secrets: []string{made}}
		}}
	}
	encoded := func(label string) func(*random) string {
		return func(r *random) string {
			return base64.StdEncoding.EncodeToString([]byte(pem(r, label, 600)))
		}
	}
	const private = "PRIVATE" + " KEY"

	return []kind{
		of("rsa key", "TLS_KEY", "RSA "+private, 1190),
		of("ec key", "EC_KEY", "EC "+private, 121),
		of("openssh key", "SSH_PRIVATE_KEY", "OPENSSH "+private, 400),
		of("pkcs8 key", "SIGNING_KEY", private, 1218),
		of("encrypted key", "CA_KEY", "ENCRYPTED "+private, 1300),
		of("dsa key", "LEGACY_KEY", "DSA "+private, 600),
		of("pgp key", "GPG_KEY", "PGP "+private+" BLOCK", 1500),
		of("certificate", "TLS_CERT", "CERTIFICATE", 900),
		kubeconfig("client-key-data", "client-key-data: %s", encoded("RSA "+private)),
		kubeconfig("client-certificate-data", "client-certificate-data: %s", encoded("CERTIFICATE")),
		kubeconfig("certificate-authority-data", "certificate-authority-data: %s", encoded("CERTIFICATE")),
		kubeconfig("kubeconfig token", "token: %s", serviceAccountToken),
		{"gcp service account", "", func(r *random) value {
			key := pem(r, private, 1218) + "\n"

			return value{text: fmt.Sprintf("{\n  \"type\": \"service_account\",\n  \"project_id\": \"orders-prod\",\n  \"private_key\": %s,\n  \"client_email\": \"svc@orders-prod.iam.gserviceaccount.com\"\n}", jsonOf(key)), secrets: []string{quoted(strings.TrimSuffix(key, "\n"))}}
		}, line},
		{"truncated key", "", func(r *random) value {
			key := pem(r, "RSA "+private, 1190)
			key = key[:900]

			return value{text: "writing the key\n" + key, secrets: []string{key}}
		}, []context{alone}},
	}
}

// manifests returns Kubernetes Secrets in the formats in which tools print them.
func manifests(r *random) []Sample {
	var samples []Sample

	for _, m := range []struct{ context, format string }{
		{"yaml", "apiVersion: v1\ndata:\n  username: %s\n  conn: %s\nkind: Secret\nmetadata:\n  name: db\ntype: Opaque\n"},
		{"yaml kind first", "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\n  namespace: prod\ntype: Opaque\ndata:\n  username: %s\n  conn: %s\n"},
		{"json", `{"apiVersion":"v1","data":{"username":"%s","conn":"%s"},"kind":"Secret","metadata":{"name":"db"}}`},
		{"pretty json", "{\n  \"kind\": \"Secret\",\n  \"apiVersion\": \"v1\",\n  \"metadata\": {\"name\": \"db\"},\n  \"data\": {\n    \"username\": \"%s\",\n    \"conn\": \"%s\"\n  }\n}"},
		{"list", "apiVersion: v1\nitems:\n- apiVersion: v1\n  data:\n    motd: hello there everybody\n  kind: ConfigMap\n  metadata:\n    name: motd\n- apiVersion: v1\n  data:\n    username: %s\n    conn: %s\n  kind: Secret\n  metadata:\n    name: db\nkind: List\n"},
		{"secret list", `{"kind":"SecretList","apiVersion":"v1","items":[{"metadata":{"name":"db"},"data":{"username":"%s","conn":"%s"}}]}`},
		{"prose and fence", "Here is what kubectl says about it:\n\n```yaml\napiVersion: v1\nkind: Secret\nmetadata:\n  name: db\nstringData:\n  username: %s\n  conn: |\n    %s\ntype: Opaque\n```\nWhat do you think?"},
		{"json in json", `{"tool":"kubectl","output":"{\"apiVersion\":\"v1\",\"data\":{\"username\":\"%s\",\"conn\":\"%s\"},\"kind\":\"Secret\"}"}`},
		{"yaml in json", `{"content":[{"type":"text","text":"apiVersion: v1\nkind: Secret\ndata:\n  username: %s\n  conn: %s\n"}]}`},
		{"last applied", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  annotations:\n    kubectl.kubernetes.io/last-applied-configuration: |\n      {\"apiVersion\":\"v1\",\"data\":{\"username\":\"%s\",\"conn\":\"%s\"},\"kind\":\"Secret\",\"metadata\":{\"annotations\":{},\"name\":\"db\"}}\n  name: db\n"},
		{"after prose", "I ran kubectl get secret db -o yaml and got this:\napiVersion: v1\ndata:\n  username: %s\n  conn: %s\nkind: Secret\nmetadata:\n  name: db\n"},
	} {
		for range 3 {
			user, conn := base64.StdEncoding.EncodeToString([]byte("svc-"+r.word()+"-"+r.alnum(4))), r.base64(30+r.number(40))
			samples = append(samples, Sample{Kind: "kubernetes secret", Context: m.context, Text: fmt.Sprintf(m.format, user, conn), Secrets: []string{user, conn}})
		}
	}

	return samples
}
