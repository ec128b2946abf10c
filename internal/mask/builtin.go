package mask

import (
	"encoding/base64"
	"slices"
	"strings"
)

// wordStart matches the beginning of a word. In escaped text the letter of a line break directly precedes it.
const wordStart = `(?:\b|\\[nrt])`

// curlUser matches the flag of curl before a user and a password, also among other short flags and in a list of arguments.
const curlUser = `[\s"'](?:-[A-Za-z]{0,8}[uU]["',\s=\\]{0,8}?|--(?:proxy-)?user["',\s=\\]{1,8}?)`

// builtinRules returns the expressions of the named patterns, except for what is found by its name or its prefix.
func builtinRules() []*rule {
	return slices.Concat(tokenRules(), addressRules(), commandRules(), storedRules(), []*rule{
		newRule(email, `([A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,24})\b`, "@"),
		newRule(base64Short, `(?m)^[ \t-]{0,40}["']?[\w.-]{1,80}["']?:[ \t]{1,8}["']?([A-Za-z0-9+/]{8,40}={0,2})["']?,?[ \t]{0,8}\r?$`, ": ").only(isShortText),
	})
}

// tokenRules find tokens named by a header, or with a shape but no prefix.
func tokenRules() []*rule {
	return []*rule{
		newRule(token, `(?i)`+wordStart+`authorization\\?["']?\s{0,4}[:=]\s{0,4}\\?["']?(?:bearer|basic|token|apikey|geniekey|digest|negotiate|splunk|aws4-hmac-sha256)\s{1,4}([\w.~+/=:-]{8,})`, "authorization").where(nearValue(1, 8)).only(isFilledIn).alsoGitleaks(),
		newRule(token, `(?i)`+wordStart+`authorization\\?["']?\s{0,4}[:=]\s{0,4}\[?\s{0,4}\\?["']?(?:[A-Za-z][\w-]{1,30}\s{1,4})?([\w.~+/=:-]{8,})`, "authorization").only(isRandom),
		newRule(token, `(?i)api\.telegram\.org(?:/|%2F)(?:file(?:/|%2F))?bot(\d{6,12}(?::|%3A)[\w-]{20,60})`, "api.telegram.org").only(isFilledIn),
		newRule(token, `(?i)`+wordStart+`bearer\s{1,4}([\w.~+/=-]{16,})`, "bearer").where(nearValue(0, 16)).only(isNoProse),
		newRule(token, `\b(\d{8,10}(?::|%3A)AA[\w-]{32,34})(?:[^\w-]|$)`, ":aa", "%3aaa").only(isFilledIn),
		newRule(token, `(?i)`+wordStart+`basic\s{1,4}([A-Za-z0-9+/]{8,}={0,2})`, "basic").where(nearValue(0, 8)).only(isUserPassword),
		newRule(token, `(?i)`+wordStart+`authorization\\{0,3}["'][\s,>:=]{0,6}\\{0,3}["'](?:bearer|token|apikey|ssws)\s{1,4}([\w.~+/=:-]{8,})`, "authorization").where(nearQuoted).only(isNoProse),
		newRule(token, wordStart+`SSWS\s{1,4}(00[\w-]{30,50})`, "ssws").only(isFilledIn),
		newRule(token, `(?i)discord(?:app)?\.com(?:/|%2F)api(?:/|%2F)webhooks(?:/|%2F)(\d{16,20}(?:/|%2F)[\w-]{50,80})`, "webhooks").only(isFilledIn),
		newRule(token, `\b([0-9A-Za-z]{14}\.atlasv1\.[\w-]{60,70})`, ".atlasv1.").only(isFilledIn),
		newRule(token, `\b(pat[0-9A-Za-z]{14}\.[0-9a-f]{64})`, "pat").only(isFilledIn),
		newRule(apiKey, `\b([0-9a-f]{32}-us\d{1,2})\b`, "-us"),
		newRule(apiKey, `\b([0-9a-f]{36}NRAL)\b`, "nral"),
		newRule(apiKey, `\b(SK[0-9a-f]{32})(?:[^\w]|$)`, "sk"),
		newRule(slackToken, `(?i)hooks\.slack\.com(?:/|%2F)(?:services|workflows|triggers)(?:/|%2F)([\w%/+]{20,100})`, "hooks.slack.com"),
	}
}

// addressRules find secrets in addresses: signatures, and passwords before the host.
func addressRules() []*rule {
	return []*rule{
		newRule(secretKey, `(?i)(?:[?&]|\\u0026)(?:sig|x-amz-signature|x-goog-signature|x-amz-security-token)=([\w%+/=-]{20,})`, "sig=", "signature=", "security-token="),
		newRule(password, `[A-Za-z][A-Za-z0-9+.-]{1,30}://[^\s/:@'"<>\\]{0,100}:([^\s/@'"<>\\]{3,200})@[\w\[.-]`, "://").where((*scan).nearUser).only(isFilledIn),
		newRule(password, `://([^\s/:@'"<>\\]{20,255})@[\w\[.-]`, "://").where((*scan).nearUser).only(looksRandom),
		newRule(password, `[\w.-]{1,64}:([^\s@'"<>\\/]{3,200})@(?:tcp|unix)\(`, "@tcp(", "@unix(").only(isFilledIn),
	}
}

// commandRules find passwords on command lines.
func commandRules() []*rule {
	return []*rule{
		newRule(password, wordStart+`(?:mysql\w{0,12}|mariadb[\w-]{0,12})\b[^\n]*?\s-p\\?['"]?([^\s'"$-][^\s'"]{3,100})`, "mysql", "mariadb").where(nearFlag("-p")).only(isFilledIn),
		newRule(password, wordStart+`sshpass\s{1,4}-p\s{0,4}['"]?([^\s'"$][^\s'"]{3,100})`, "sshpass").only(isFilledIn),
		newRule(password, wordStart+`redis-cli\b[^\n]*?\s-a\s{1,4}['"]?([^\s'"$][^\s'"]{3,100})`, "redis-cli").where(nearFlag("-a")).only(isFilledIn),
		newRule(password, wordStart+`curl\b[^\n]*?`+curlUser+`["']?[^\s"':]{0,64}["']?:["']?([^\s'"$][^\s'"]{2,100})`, "curl").where((*scan).nearLine).only(isFilledIn).alsoGitleaks(),
		newRule(password, wordStart+`curl\b[^\n]*?`+curlUser+`'[^'\n:]{0,64}:([^'$\n][^'\n]{2,100})'`, "curl").where((*scan).nearLine).only(isFilledIn).alsoGitleaks(),
		newRule(password, wordStart+`curl\b[^\n]*?`+curlUser+`"[^"\n:]{0,64}:([^"$\n][^"\n]{2,100})"`, "curl").where((*scan).nearLine).only(isFilledIn).alsoGitleaks(),
		flagRule(nearFlag("-p"), `mongo\w{0,8}`, `-p`+optionalGap, "mongo"),
		flagRule(nearFlag("-p"), `login`, `-p`+argumentGap, "login"),
		flagRule(nearFlag("-p"), `az`, `-p`+argumentGap, "az "),
		flagRule(nearFlag("-k", "-K"), `openssl`, `-[kK]`+argumentGap, "openssl"),
		flagRule(nearFlag("-w"), `ldap[a-z]{3,8}`, `-w`+optionalGap, "ldapsearch", "ldapmodify", "ldapadd", "ldapdelete", "ldapwhoami", "ldappasswd", "ldapmodrdn", "ldapcompare"),
		flagRule(nearFlag("-s"), `ldappasswd`, `-s`+argumentGap, "ldappasswd"),
		flagRule(nearFlag("-P"), `ipmitool`, `-P`+optionalGap, "ipmitool"),
		flagRule(nearFlag("-P"), `(?:sqlcmd|osql|bcp)`, `-P`+argumentGap, "sqlcmd", "osql", "bcp "),
		flagRule(nearFlag("-P"), `(?:unzip|zip)`, `-P`+argumentGap, "zip "),
		flagRule(nearFlag("-P"), `mosquitto_\w{2,6}`, `-P`+argumentGap, "mosquitto_"), //nolint:misspell // the program's name
		flagRule(nearFlag("-p"), `(?:cqlsh|beeline)`, `-p`+argumentGap, "cqlsh", "beeline"),
		flagRule(nearFlag("-p"), `7z[a-z]{0,2}`, `-p`+optionalGap, "7z"),
		flagRule(nearFlag("-A"), `snmp\w{2,12}`, `-A`+argumentGap, "snmp"),
		flagRule(nearFlag("-X"), `snmp\w{2,12}`, `-X`+argumentGap, "snmp"),
		flagRule((*scan).nearLine, `https?`, `(?:-a|--auth)`+argumentGap+`["']?[\w.@-]{1,64}:`, "http -a", "https -a", "http --auth", "https --auth"),
		flagRule(nearFlag("-u"), `lftp`, `-u`+argumentGap+`["']?[\w.@-]{1,64},`, "lftp"),
		flagRule(nearFlag("-U"), `(?:smb|rpc)client`, `-U`+argumentGap+`["']?[^\s"'%]{1,64}%`, "smbclient", "rpcclient"),
		flagRule(nearFlag("/p:"), `(?:x|w)freerdp`, `/p:`, "freerdp"),
		flagRule(nearFlag("/user:"), `net\s{1,4}use`, `/user:\S{1,64}`+argumentGap, "net use"),
		flagRule(nearFlag("-p"), `useradd|usermod|psexec|rabbitmqadmin|twine`, `-p`+argumentGap, "useradd", "usermod", "psexec", "rabbitmqadmin", "twine"),
		flagRule(nearFlag("--value"), `put-parameter|secret\s{1,4}set`, `--value`+argumentGap, "put-parameter", "secret set"),
		flagRule(nearFlag("--user"), `etcdctl`, `--user`+argumentGap+`["']?[\w.@-]{1,64}:`, "etcdctl"),
		flagRule(nearFlag("/rp"), `schtasks`, `/rp`+argumentGap, "schtasks"),
		flagRule(nearFlag("-new"), `keytool`, `-new`+argumentGap, "keytool"),
		newRule(password, `(?i)`+wordStart+`ConvertTo-SecureString\s{1,4}(?:-String\s{1,4})?\\{0,3}["']([^"'$\\]{4,100})`, "convertto-securestring").only(isFilledIn),
		newRule(password, wordStart+`AUTH\s{1,4}PLAIN\s{1,4}([A-Za-z0-9+/]{8,}={0,2})`, "auth plain").only(isRandom),
		newRule(password, `-pass(?:in|out)?`+argumentGap+`["']?pass:([^\s'"$\\][^\s'"\\]{3,100})`, "pass:").only(isArgument),
		newRule(password, wordStart+`rabbitmqctl\s[^\n]{0,80}?(?:add_user|change_password|authenticate_user)\s{1,4}\S{1,64}\s{1,4}['"]?([^\s'"$\\-][^\s'"\\]{3,100})`, "rabbitmqctl").only(isArgument),
		newRule(password, wordStart+`htpasswd\s{1,4}-[a-zA-Z0-9]{0,6}b[a-zA-Z0-9]{0,6}\s{1,4}(?:[^\s]{0,100}/[^\s]{1,100}\s{1,4}|-\w{1,4}\s{1,4}){0,3}[\w.@-]{1,64}\s{1,4}['"]?([^\s'"$\\/-][^\s'"\\/]{3,100})`, "htpasswd").only(isArgument),
		newRule(password, wordStart+`sqlplus\s{1,4}(?:-\w{1,4}\s{1,4}){0,3}['"]?\w{1,64}/([^\s'"@$\\]{4,100})`, "sqlplus").only(isArgument),
		newRule(password, wordStart+`(?:echo|printf)\s{1,4}(?:-[neE]{1,3}\s{1,4}|["']%s(?:\\{1,3}n)?["']\s{1,4})?\\{0,3}['"]?(?:[\w.-]{1,64}:)?([^\s'"|$\\][^\s'"|\\]{3,100})\\{0,3}['"]?\s{0,4}\|[^\n|]{0,80}?(?:chpasswd|--stdin|--password-stdin|sudo\s{1,4}-S|kinit|cryptsetup)`, "echo", "printf").where(nearSign("|")).only(isArgument),
		newRule(password, wordStart+`chpasswd[^\n|]{0,40}?<<<\s{0,4}\\{0,3}['"]?[\w.-]{1,64}:([^\s'"$\\]{4,100})`, "chpasswd").only(isArgument),
		newRule(password, wordStart+`chpasswd[^\n|]{0,40}?<<-?\s{0,4}\\{0,3}['"]?\w{1,20}\\{0,3}['"]?(?:\r?\n|\\{1,3}n)((?:\s*[\w.-]+:[^\s:$\\]+(?:\r?\n|\\{1,3}n))+)`, "chpasswd").only(isFilledIn),
		newRule(password, `<<-?\s{0,4}\\{0,3}['"]?\w{1,20}\\{0,3}['"]?\s{0,4}\|[^\n|]{0,20}?chpasswd[^\n|]{0,20}?(?:\r?\n|\\{1,3}n)((?:\s*[\w.-]+:[^\s:$\\]+(?:\r?\n|\\{1,3}n))+)`, "chpasswd").only(isFilledIn),
		newRule(password, wordStart+`net\s{1,4}user\s{1,4}[\w.-]{1,64}\s{1,4}([^\s"'/\\-][^\s"'\\]{5,100})`, "net user").only(isNoProse),
		newRule(password, wordStart+`wpa_passphrase\s{1,4}\S{1,64}\s{1,4}['"]?([^\s"'$\\]{8,63})`, "wpa_passphrase").only(isFilledIn),
		newRule(token, wordStart+`vault\s{1,4}login\s{1,4}(?:-[\w=-]{1,40}\s{1,4}){0,3}([\w.-]{16,200})`, "vault login").only(isRandom),
	}
}

// argumentGap matches what separates a flag from its value, also in a list of arguments.
const (
	argumentGap   = `["',\s=\\]{1,8}?`
	optionalGap   = `["',\s=\\]{0,8}?`
	argumentValue = `\\{0,3}['"]?([^\s'"$\\-][^\s'"\\]{3,100})`
)

// flagRule finds the value of a flag of a command.
func flagRule(near lookaround, command, flag string, words ...string) *rule {
	return newRule(password, wordStart+`(?:`+command+`)\b[^\n]*?[\s"']`+flag+argumentValue, words...).where(near).only(isArgument)
}

// isArgument excludes numbers, such as ports, and the values that flags of the same letter have in other commands: paths and addresses.
func isArgument(secret string) bool {
	return isFilledIn(secret) && hasLetter(secret) && !isPath(secret) && !strings.HasSuffix(secret, ":") && !slices.Contains(harmlessWords, strings.ToLower(secret))
}

// storedRules find passwords where programs keep them: .netrc, .pgpass, password files, SQL and redis.conf.
func storedRules() []*rule {
	return []*rule{
		newRule(password, wordStart+`login\s{1,4}\S{1,64}\s{1,4}password\s{1,4}(\S{4,100})`, "login").only(isNoProse),
		newRule(password, `(?m)(?:^|[\s"]|\\n)[\w.*-]{1,100}:(?:\d{2,5}|\*):[\w*-]{1,64}:[\w*.-]{1,64}:([^\s:"'\\]{6,100})`, ":5432:", ":*:", ":6432:", ":5433:").only(isFilledIn),
		newRule(password, `(\$(?:2[abxy]|apr1|1|5|6|7|y|sha1|argon2[a-z]{1,2}|pbkdf2[\w-]{0,12}|scrypt)\$[\w./$=,+-]{20,200})`, "$2a$", "$2b$", "$2y$", "$2x$", "$apr1$", "$1$", "$5$", "$6$", "$7$", "$y$", "$argon2", "$pbkdf2", "$scrypt$", "$sha1$").only(isFilledIn),
		newRule(password, `(\{S?SHA(?:256|512)?\}[A-Za-z0-9+/]{20,120}={0,2})`, "{ssha", "{sha").only(isFilledIn),
		newRule(password, `(?i)`+wordStart+`identified\s{1,4}by\s{1,4}(?:password\s{1,4})?\\?['"]([^'"\\]{4,100})`, "identified").only(isFilledIn),
		newRule(password, wordStart+`(?:username\s{1,4}\S{1,64}|enable)(?:\s{1,4}privilege\s{1,4}\d{1,2})?\s{1,4}(?:password|secret)\s{1,4}([^\s"'\\]{6,100})`, "username ", "enable secret", "enable password").only(isNoProse),
		newRule(password, wordStart+`snmp-server\s{1,4}community\s{1,4}([^\s"'\\]{4,100})`, "snmp-server").only(isNoProse),
		newRule(password, wordStart+`(?:password|secret)\s[05789]\s([^\s"'\\]{4,100})`, "password 0", "password 5", "password 7", "secret 0", "secret 5", "secret 7", "secret 8", "secret 9").only(isNoProse),
		newRule(password, `(?i)`+wordStart+`(?:requirepass|masterauth)\s{1,4}\\?["']?([^\s"'\\]{4,512})`, "requirepass", "masterauth").only(isFilledIn),
	}
}

// where limits the rule to places that near finds: for words that are common, but seldom followed by a secret.
func (r *rule) where(near lookaround) *rule {
	r.near = near

	return r
}

// only limits the rule to secrets that pass the check.
func (r *rule) only(check func(secret string) bool) *rule {
	r.check = func(_ *scan, _ window, secret string) bool { return check(secret) }

	return r
}

// alsoGitleaks adds the rule to the group gitleaks: it replaces one of its rules.
func (r *rule) alsoGitleaks() *rule {
	r.leaks = true

	return r
}

// isFilledIn excludes placeholders.
func isFilledIn(secret string) bool { return !placeholder(secret, value{}) }

// isRandom accepts only machine-generated values, for names that words also follow.
func isRandom(secret string) bool { return isFilledIn(secret) && looksRandom(secret) }

// isNoProse also excludes words: a password can be one, but after login or bearer words are prose.
func isNoProse(secret string) bool { return isFilledIn(secret) && !harmless(secret) }

// harmless recognizes words, including joined ones, as they follow "bearer" in prose.
func harmless(secret string) bool {
	words := strings.Map(func(r rune) rune {
		if strings.ContainsRune("-_.:=/", r) {
			return -1
		}

		return r
	}, secret)

	return isLetters(words) && (len(words) < 16 || !mixedCase(words))
}

// isShortText distinguishes base64 of readable text from a word: few words decode to only printable characters.
func isShortText(secret string) bool {
	if len(secret)%4 != 0 {
		return false
	}

	raw, err := base64.StdEncoding.DecodeString(secret)

	return err == nil && printable(raw)
}
