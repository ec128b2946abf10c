package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"tarsy.dev/tarsy/flow/discord"
	"tarsy.dev/tarsy/internal/config"
)

// discordTimeout limits how long Discord may take to answer.
const discordTimeout = 15 * time.Second

// checkDiscord asks Discord who owns the token, and for the announcement channel. It checks nothing if Discord is not configured.
func checkDiscord(ctx context.Context, t *tool, cfg config.Discord) []finding {
	const check = "Discord"

	if !cfg.Enabled {
		return nil
	}

	token, _ := t.lookup(cfg.TokenEnv)
	if token == "" {
		return []finding{{check, findingWarn, "environment variable " + cfg.TokenEnv + " is not set: the server does not connect to Discord",
			"set it to the token of the bot, from the developer portal on the page Bot"}}
	}

	ctx, cancel := context.WithTimeoutCause(ctx, discordTimeout, fmt.Errorf("there was no answer within %s", discordTimeout))
	defer cancel()

	client, err := discord.NewClient(discord.ClientConfig{Token: token, API: cfg.APIURL, Gateway: cfg.GatewayURL})
	if err != nil {
		return []finding{{check, findingFail, line(err), ""}}
	}
	defer client.Close()

	name, err := client.Self(ctx)
	if err != nil {
		return []finding{discordFinding(check, err, "check that "+cfg.TokenEnv+" is the token of the bot, or reset it in the developer portal on the page Bot")}
	}

	channel, err := client.Channel(ctx, cfg.Channel)
	if err != nil {
		return []finding{discordFinding(check, err, "check system.discord.channel, and that the bot "+name+" is in its guild and can view it")}
	}

	found := []string{fmt.Sprintf("the bot is %s, announcements go to #%s", name, channel.Name)}

	for _, team := range slices.Sorted(maps.Keys(cfg.Teams)) {
		own, err := client.Channel(ctx, cfg.Teams[team])
		if err != nil {
			return []finding{discordFinding(check, err, "check system.discord.teams."+team+", and that the bot "+name+" is in its guild and can view it")}
		}

		found = append(found, fmt.Sprintf("those of %s to #%s", team, own.Name))
	}

	return []finding{{check, findingOK, strings.Join(found, ", "), ""}}
}

// discordFinding returns a failure if Discord refused the request, and a warning if it did not answer, because a server keeps trying.
func discordFinding(check string, err error, advice string) finding {
	if discord.IsPermanent(err) {
		return finding{check, findingFail, line(err), advice}
	}

	return finding{check, findingWarn, line(err), "check system.discord.api_url, and that this machine can reach Discord"}
}
