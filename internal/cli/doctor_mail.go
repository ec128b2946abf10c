package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/internal/notify/email"
)

// mailTimeout limits how long an SMTP server may take to answer.
const mailTimeout = 15 * time.Second

// checkMail connects to the SMTP servers of targets and logs in, as for sending, but sends nothing. It skips targets whose password is not
// set: another finding reports the variable.
func checkMail(ctx context.Context, t *tool, cfg *config.Config) []finding {
	var all []finding

	for _, name := range slices.Sorted(maps.Keys(cfg.Alerts.WriteBack)) {
		target := cfg.Alerts.WriteBack[name]
		if target.Type != config.WriteBackEmail {
			continue
		}

		password, _ := t.lookup(target.SMTP.PasswordEnv)
		if target.SMTP.PasswordEnv != "" && password == "" {
			continue
		}

		all = append(all, checkMailServer(ctx, target, password))
	}

	return all
}

func checkMailServer(ctx context.Context, target config.WriteBack, password string) finding {
	check := "mail of " + target.Name

	from, to, err := target.Addresses()
	if err != nil {
		return finding{check, findingFail, line(err), ""}
	}

	ctx, cancel := context.WithTimeoutCause(ctx, mailTimeout, fmt.Errorf("there was no answer within %s", mailTimeout))
	defer cancel()

	server := fmt.Sprintf("%s:%d", target.SMTP.Host, target.SMTP.Port)
	delivery := &email.Delivery{
		Host: target.SMTP.Host, Port: target.SMTP.Port, TLS: email.Encryption(target.SMTP.TLS), Username: target.SMTP.Username, Password: password, From: from, To: to,
	}

	err = delivery.CheckLogin(ctx)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}

	switch {
	case err == nil && target.SMTP.Username != "":
		return finding{check, findingOK, fmt.Sprintf("logged in to %s as %s", server, target.SMTP.Username), ""}
	case err == nil:
		return finding{check, findingOK, "connected to " + server, ""}
	case email.Refused(err):
		return finding{check, findingFail, line(err), "check smtp.username, the password, and smtp.tls of alerts.write_back." + target.Name}
	case errors.Is(err, context.Canceled):
		return finding{check, findingWarn, line(err), ""}
	default:
		return finding{check, findingWarn, line(err), "check smtp.host, smtp.port and smtp.tls of alerts.write_back." + target.Name + ", and that this machine can reach the server"}
	}
}
