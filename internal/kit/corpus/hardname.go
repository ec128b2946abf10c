package corpus

import "slices"

// hardNames returns secrets that only their name gives away, under names that are easily overlooked.
func hardNames() []kind {
	var kinds []kind

	for _, key := range []string{
		"PASS", "DB_PASS", "MQTT_PASS", "PG_PW", "ADMIN_PW", "LDAP_BIND_PW", "PASSWORD", "DB_PASSWORD", "USER_PASSWORD", "NEW_PASSWORD", "DB_PASSWORD_2",
		"PASSWORD_PROD", "PASSWD", "LOGIN_PWD", "KEY_PASSPHRASE", "WIFI_PSK", "STOREPASS", "FTP_USERPASS",
	} {
		kinds = append(kinds, kind{"name " + key, key, whole(hardPassword), slices.Concat(assignedHard, rowsHard)})
	}

	for _, key := range []string{"SMTP_CREDS", "REGISTRY_CREDS", "DB_CREDENTIALS"} {
		kinds = append(kinds, kind{"name " + key, key, func(r *random) value {
			text := "svc-" + r.word() + ":" + r.alnum(8) + r.digits(2) + r.alnum(4)

			return value{text, []string{text[len(text)-14:]}}
		}, assignedHard})
	}

	for _, key := range []string{
		"API_KEY", "SECRET", "TOKEN", "CLIENT_SECRET", "SECRET_KEY", "ACCESS_TOKEN", "ENCRYPTION_KEY", "WEBHOOK_SECRET", "X_AUTH_TOKEN", "API_TOKEN_PROD", "AUTH_TOKEN_1",
	} {
		kinds = append(kinds, kind{"name " + key, key, whole(hardKey), slices.Concat(assignedHard, rowsHard)})
	}

	return kinds
}

func hardPassword(r *random) string {
	switch r.number(5) {
	case 0:
		return r.pick("Autumn", "Purple", "Monkey", "Silver", "Harbor") + r.pick("Lake", "Engine", "Castle") + r.digits(3) + r.pick("!", "*", "?")
	case 1:
		return r.from(lower, 6) + r.digits(2) + r.from(lower, 4)
	case 2:
		return r.from(lower, 4) + "_" + r.from(upper, 3) + "." + r.digits(3) + r.from(lower, 3)
	case 3:
		return r.from(alnum+"!*^_~", 13) + r.digits(1) + r.from(lower, 1)
	default:
		return r.alnum(15) + r.digits(1)
	}
}

func hardKey(r *random) string {
	switch r.number(4) {
	case 0:
		return r.hex(31) + r.digits(1)
	case 1:
		return r.alnum(30) + r.digits(2)
	case 2:
		return r.url64(38) + r.digits(1) + r.from(upper, 1)
	default:
		return r.uuid()
	}
}
