package corpus

import (
	"encoding/base64"
	"fmt"
	"strings"
)

// commandPlaces are the contexts in which command lines appear.
var commandPlaces = []context{
	alone,
	{"shell prompt", func(r *random, _, text string) string { return "root@" + r.word() + "-1:~# " + text + "\nok\n" }, plain},
	{"history", func(r *random, _, text string) string {
		return fmt.Sprintf("  %d  ls -la\n  %d  %s\n  %d  exit\n", 100+r.number(9), 110+r.number(9), text, 120+r.number(9))
	}, plain},
	{"process list", func(r *random, _, text string) string {
		return fmt.Sprintf("root  %s  0.0  0.1  12345  6789 ?  Ss  06:00  0:00 %s\n", r.digits(4), text)
	}, plain},
	{"audit", func(r *random, _, text string) string {
		return fmt.Sprintf("Nov 18 06:00:00 %s sudo: ada : TTY=pts/0 ; PWD=/root ; USER=root ; COMMAND=/usr/bin/%s", r.word(), text)
	}, plain},
	{"pipeline step", func(_ *random, _, text string) string { return "steps:\n  - name: run\n    run: " + text + "\n" }, plain},
	{"trace", func(_ *random, _, text string) string { return "+ " + text + "\n+ exit 1\n" }, plain},
}

// hardLines returns the kinds of secrets in command lines and in other lines with a fixed format.
func hardLines() []kind {
	word := hardPassword
	of := func(places []context, name, format string, secret func(*random) string) kind {
		return kind{name: name, contexts: places, make: func(r *random) value {
			made := secret(r)

			return value{strings.ReplaceAll(format, "SECRET", made), []string{made}}
		}}
	}
	command := func(name, format string) kind { return of(commandPlaces, name, format, word) }
	logged := func(name, format string, secret func(*random) string) kind {
		return of([]context{alone, inProse}, name, format, secret)
	}
	basic := func(r *random) string {
		return base64.StdEncoding.EncodeToString([]byte("svc-" + r.word() + ":" + r.alnum(12)))
	}
	encoded := func(r *random) string { return base64.StdEncoding.EncodeToString([]byte(hardPassword(r))) }

	return []kind{
		command("mongo", "mongo --host db-1 -u admin -p SECRET --authenticationDatabase admin"),
		command("mongosh, glued", "mongosh -u admin -pSECRET db-1/orders"),
		command("mongodump", "mongodump --username admin -p 'SECRET' --out /backup"),
		command("az login", "az login --service-principal -u http://deploy -p SECRET --tenant example.com"),
		command("az sql", "az sql server create -n db-1 -u admin -p SECRET -g rg1"),
		command("openssl passin", "openssl rsa -in key.pem -passin pass:SECRET -out plain.pem"),
		command("openssl passout", "openssl genrsa -aes256 -passout 'pass:SECRET' 2048"),
		command("openssl pass", "openssl enc -aes-256-cbc -salt -in a -out b -pass pass:SECRET"),
		command("openssl enc -k", "openssl enc -d -aes-256-cbc -in a.enc -k SECRET"),
		command("keytool", "keytool -list -keystore trust.jks -storepass SECRET"),
		command("keytool -keypass", "keytool -genkey -alias web -keypass SECRET -keystore web.jks"),
		command("keytool import", "keytool -importkeystore -srckeystore a.p12 -srcstorepass SECRET -destkeystore b.jks"),
		command("ldapsearch", "ldapsearch -x -H ldap://ldap-1 -D cn=admin,dc=example -w SECRET -b dc=example"),
		command("ldapmodify", `ldapmodify -D "cn=admin" -w "SECRET" -f change.ldif`),
		command("ldappasswd", "ldappasswd -D cn=admin -W -s SECRET uid=ada"),
		command("ipmitool", "ipmitool -I lanplus -H 10.0.0.9 -U admin -P SECRET chassis status"),
		command("chpasswd", "echo 'root:SECRET' | chpasswd"),
		command("chpasswd, unquoted", "echo ada:SECRET | sudo chpasswd"),
		command("chpasswd, here-string", "chpasswd <<< \"ada:SECRET\""),
		command("passwd stdin", "echo SECRET | passwd --stdin ada"),
		command("sudo stdin", "echo 'SECRET' | sudo -S systemctl restart web"),
		command("docker login stdin", "echo SECRET | docker login -u ci --password-stdin registry.example.com"),
		command("mysql", "mysql -h db-1 -u root -pSECRET shop"),
		command("smbclient", "smbclient //files/share -U ada%SECRET -c ls"),
		command("sqlcmd", "sqlcmd -S db-1 -U sa -P SECRET -Q 'SELECT 1'"),
		command("htpasswd", "htpasswd -b /etc/nginx/.htpasswd ada SECRET"),
		command("rabbitmqctl", "rabbitmqctl change_password guest SECRET"),
		command("unzip", "unzip -P SECRET backup.zip -d /tmp"),
		command("7z", "7z x -pSECRET backup.7z"),
		command("skopeo", "skopeo copy --src-creds ci:SECRET docker://a docker://b"),
		command("podman login", "podman login -u ci -p SECRET quay.io"),
		command("helm login", "helm registry login -u ci -p SECRET registry.example.com"),
		command("oc login", "oc login https://api:6443 -u admin -p SECRET"),
		command("httpie", "http -a ada:SECRET https://api.example.com/v1"),
		command("lftp", "lftp -u ada,SECRET ftp.example.com"),
		command("cqlsh", "cqlsh -u cassandra -p SECRET db-1"),
		command("mqtt", "mosquitto_pub -h mq-1 -u app -P SECRET -t t -m m"), //nolint:misspell // the program's name
		command("sqlplus", "sqlplus system/SECRET@db-1:1521/XE"),
		command("snmpwalk", "snmpwalk -v3 -u ops -a SHA -A SECRET -l authPriv 10.0.0.1"),
		command("cifs", "mount -t cifs -o username=ada,password=SECRET //files/share /mnt"),
		command("wget", "wget --http-user=ada --http-password=SECRET https://a.example.com"),
		command("gpg", "gpg --batch --passphrase SECRET -d a.gpg"),
		command("net use", `net use Z: \\files\share /user:ada SECRET`),
		command("sshpass", "sshpass -p 'SECRET' ssh root@10.0.0.7"),
		command("redis-cli", "redis-cli -h cache-1 -a SECRET info"),
		command("ansible", "ansible-playbook site.yml -e ansible_become_pass=SECRET"),
		command("xfreerdp", "xfreerdp /v:win-1 /u:ada /p:SECRET"),

		logged("nginx authorization", `10.0.0.1 - - [18/Nov/2026:06:00:00 +0000] "GET / HTTP/1.1" 401 0 Authorization "Basic SECRET"`, basic),
		logged("envoy headers", "':path', '/v1'\n'authorization', 'Basic SECRET'\n'accept', '*/*'", basic),
		logged("haproxy capture", "haproxy[12]: 10.0.0.1:5000 [18/Nov] web app/s1 0/0/1 401 {app.example.com|Basic SECRET} \"GET / HTTP/1.1\"", basic),
		logged("header tuple", "headers: [('Host', 'a'), ('Authorization', 'Basic SECRET')]", basic),
		logged("header pair bearer", `"Authorization" "Bearer SECRET" 200`, hardKey),
		logged("header dump", "Proxy-Authorization = [Basic SECRET], Accept = [*/*]", basic),
		logged("ssws header", "Authorization: SSWS SECRET", func(r *random) string { return "00" + r.url64(39) + r.digits(1) }),
		logged("ldif", "dn: uid=ada,dc=example\nuid: ada\nuserPassword:: SECRET\n", encoded),
		logged("ldif unicode", "dn: cn=ada\nchangetype: modify\nreplace: unicodePwd\nunicodePwd:: SECRET\n-\n", encoded),
		logged("ldif plain", "dn: uid=ada\nuserPassword: SECRET\n", word),
		logged("nslcd", "uri ldap://ldap-1\nbinddn cn=admin\nbindpw SECRET\n", word),
		logged("cisco", "username admin privilege 15 password 0 SECRET", word),
		logged("sql set password", "SET PASSWORD FOR 'app'@'%' = PASSWORD('SECRET');", word),
		logged("proxmox ticket", "CSRFPreventionToken: SECRET", hardKey),
		logged("chat", "the new root password is SECRET, do not share it", func(r *random) string { return r.alnum(8) + r.digits(3) }),
		logged("chat with colon", "login: admin / password: SECRET", word),
		logged("slashed", "credentials admin/SECRET for the console", func(r *random) string { return r.alnum(10) + r.digits(2) }),
	}
}

func rawBase64(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
