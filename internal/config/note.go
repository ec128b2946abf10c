package config

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"tarsy.dev/tarsy/internal/schema"
)

// Note is a key that is set but has no effect. Unlike a warning it requires no action.
type Note = schema.Warning

// Notes lists the keys that are set but have no effect, in the order of the files. The tags later and only of the fields determine which
// keys these are.
func (c *Config) Notes() []Note {
	var notes []Note
	schema.Notes(c,
		func(path string) bool { _, ok := c.marks[path]; return ok },
		c.idleReason,
		func(path, message string) {
			at := c.placeOf(path)
			notes = append(notes, Note{File: at.File, Line: at.Line, Column: at.Column, Path: path, Message: message})
		})
	schema.SortWarnings(notes)
	return notes
}

// idleReason returns why a key with the tag only has no effect in its section, or "" if it has one.
func (c *Config) idleReason(rule string, section reflect.Value, f schema.Field) string {
	switch rule {
	case "stdio":
		if kind := section.FieldByName("Type").String(); kind != TransportStdio {
			return "transport type " + kind + " starts no program"
		}
	case "http":
		if section.FieldByName("Type").String() == TransportStdio {
			return "transport type stdio calls no address"
		}
	case "grpc":
		return c.idleBackend(section, f)
	case "vertexai":
		if kind := section.FieldByName("Type").String(); !KindOfProvider(kind).Cloud {
			return "only type vertexai uses it"
		}
	case "keyed":
		if kind := section.FieldByName("Type").String(); !KindOfProvider(kind).Key && kind != ProviderGRPC {
			return "type " + kind + " uses no API key"
		}
	case "called":
		if section.FieldByName("Type").String() == ProviderScripted {
			return "type scripted calls no model"
		}
	case "parallel":
		if stage, ok := reflect.TypeAssert[Stage](section); ok && len(stage.Agents)*max(1, stage.Replicas) == 1 {
			return "the stage runs one agent"
		}
	case "tools":
		return c.idleTools(section)
	default:
		panic("config: no rule " + rule) // an invalid tag in this package
	}
	return ""
}

// idleBackend is idleReason for backends, which are sent only to gRPC gateways. If nothing below inherits the backend, the provider next to
// it decides; otherwise any gateway counts.
func (c *Config) idleBackend(section reflect.Value, f schema.Field) string {
	provider := strings.TrimSuffix(f.Key, "backend") + "provider"
	switch section.Interface().(type) {
	case Defaults, AgentPairing, SummaryModel:
		provider = ""
	case Chain:
		if f.Key == "llm_backend" {
			provider = ""
		}
	}
	for _, sibling := range schema.FieldsOf(section.Type()) {
		if sibling.Key != provider {
			continue
		}
		if name := section.Field(sibling.Index).String(); name != "" {
			if kind := c.LLMProviders[name].Type; kind != ProviderGRPC {
				return "LLM provider " + name + " is of type " + kind + "; only type grpc uses it"
			}
			return ""
		}
	}
	for p := range maps.Values(c.LLMProviders) {
		if p.Type == ProviderGRPC {
			return ""
		}
	}
	return "no LLM provider is of type grpc"
}

// idleTools is idleReason for keys that only agents with tools use.
func (c *Config) idleTools(section reflect.Value) string {
	kind := section.FieldByName("Type").String()
	if kind == "" {
		kind = c.Agents[section.FieldByName("Name").String()].Type
	}
	if slices.Contains([]string{AgentTypeSynthesis, AgentTypeExecSummary, AgentTypeVerdict, AgentTypeScoring}, kind) {
		return "an agent of type " + kind + " answers in one call without MCP tools"
	}
	return ""
}
