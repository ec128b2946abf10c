package discord

import "maps"

// intent is a set of event kinds that a client subscribes to.
type intent int

// The intents that have an effect here; the others are accepted and ignored.
const (
	intentGuilds          intent = 1 << 0
	intentGuildMembers    intent = 1 << 1
	intentWebhooks        intent = 1 << 5
	intentPresences       intent = 1 << 8
	intentGuildMessages   intent = 1 << 9
	intentGuildReactions  intent = 1 << 10
	intentGuildTyping     intent = 1 << 11
	intentDirectMessages  intent = 1 << 12
	intentDirectReactions intent = 1 << 13
	intentDirectTyping    intent = 1 << 14
	intentMessageContent  intent = 1 << 15
	// knownIntents are all documented intents.
	knownIntents intent = 1<<17 - 1 | 1<<20 | 1<<21 | 1<<24 | 1<<25
)

// privileged returns the intents that an operator can disallow, by their names in a setup.
func privileged(names []string) intent {
	var all intent

	for _, name := range names {
		all |= map[string]intent{
			"guild_members": intentGuildMembers, "presences": intentPresences, "message_content": intentMessageContent,
		}[name]
	}

	return all
}

// in returns the intent for a guild or for direct messages.
func in(c *channel, guild, direct intent) intent {
	if c.guild == nil {
		return direct
	}

	return guild
}

// hideContent removes what a client without the message content intent does not see.
func hideContent(o object) object {
	hidden := maps.Clone(o)
	hidden["content"], hidden["embeds"], hidden["attachments"], hidden["components"] = "", []any{}, []any{}, []any{}

	if replied, ok := o["referenced_message"].(object); ok {
		hidden["referenced_message"] = hideContent(replied)
	}

	return hidden
}
