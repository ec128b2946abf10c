package cli

import (
	"context"
	"fmt"

	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/internal/slack"
)

// checkSlack asks Slack who owns the tokens. It checks nothing if Slack is not configured.
func checkSlack(ctx context.Context, t *tool, cfg *config.Config) []finding {
	const check = "Slack"

	var all []finding

	for _, unset := range cfg.UnsetSlackVariables(t.lookup) {
		all = append(all, finding{check, findingWarn, unset.String(), "set it where the server runs"})
	}

	token, _ := t.lookup(cfg.System.Slack.TokenEnv)
	if !cfg.System.Slack.Enabled || token == "" {
		return all
	}

	ctx, cancel := context.WithTimeoutCause(ctx, discordTimeout, fmt.Errorf("there was no answer within %s", discordTimeout))
	defer cancel()

	appToken, _ := t.lookup(cfg.System.Slack.AppTokenEnv)
	client := slack.NewClient(slack.ClientConfig{Token: token, AppToken: appToken, API: cfg.System.Slack.APIURL})

	defer client.Close()

	_, name, err := client.Self(ctx)
	if err != nil {
		return append(all, slackFinding(check, err, "check that "+cfg.System.Slack.TokenEnv+" is the bot token of the app (xoxb-…), on the page OAuth & Permissions"))
	}

	if appToken != "" {
		if err := client.Socket(ctx); err != nil {
			return append(all, slackFinding(check, err,
				"check that "+cfg.System.Slack.AppTokenEnv+" is an app-level token (xapp-…) with the scope connections:write, and that Socket Mode is on"))
		}
	}

	return append(all, finding{check, findingOK, "the bot is " + name, ""})
}

// slackFinding returns a failure if Slack refused the request, and a warning if it did not answer, because a server keeps trying.
func slackFinding(check string, err error, advice string) finding {
	if slack.IsRefused(err) {
		return finding{check, findingFail, line(err), advice}
	}

	return finding{check, findingWarn, line(err), "check system.slack.api_url, and that this machine can reach Slack"}
}
