package config

import (
	"reflect"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/mask"
	"tarsy.dev/tarsy/internal/schema"
)

// Schema returns a JSON Schema (2020-12) of the files, for editors. A section can be in any file, so no section is required.
func Schema() []byte {
	return schema.Format{Variables: true, Enum: enumValues}.Document("TARSy configuration", reflect.TypeFor[Config]())
}

func webhookSources() []string {
	var names []string
	for _, source := range tarsy.WebhookSources() {
		names = append(names, string(source))
	}
	return names
}

// enumValues resolves an enum tag. Lists that several fields share have a name.
func enumValues(written []string) []string {
	if len(written) != 1 {
		return written
	}
	switch written[0] {
	case "@backend":
		return []string{BackendGoogleNative, BackendLangChain}
	case "@webhook_source":
		return webhookSources()
	case "@provider":
		return providerTypes()
	case "@strategy":
		return strategyNames()
	case "@agent_type":
		return []string{"", AgentTypeSynthesis, AgentTypeExecSummary, AgentTypeVerdict, AgentTypeScoring, AgentTypeAction}
	case "@pattern_group":
		return mask.Groups()
	case "@default_pattern_group":
		return mask.DefaultRules().Groups
	case "@pattern":
		return mask.Patterns()
	default:
		return written
	}
}
