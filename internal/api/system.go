package api

import (
	"context"
	"encoding/json"

	"tarsy.dev/tarsy/llm"
)

// System describes the server's setup. Functions may be nil.
type System struct {
	// MCPServers returns the servers that chains use, with the tools of their last response.
	MCPServers func() []MCPServer
	// DefaultTools returns the tools that a chain allows: the chain with this id or, if it is empty, the chain of an alert type; an
	// empty type is the default one. Its errors for users are *tarsy.Error.
	DefaultTools func(chainID, alertType string) (DefaultTools, error)
	// Providers returns the LLM providers that chains use, the default one first, and if others is true, those that a re-run can choose
	// as well.
	Providers func(others bool) []Provider
	// Settings returns the configuration's values, with secrets hidden.
	Settings func() []Setting
	// Diagnostics returns the state of the server, except for what the API knows itself. Secrets are masked.
	Diagnostics func(ctx context.Context) Diagnostics
}

// MCPServer is an MCP server and its tools.
type MCPServer struct {
	MCPServerStatus

	Transport string `enum:"stdio,http,sse" json:"transport"`
	Tools     []Tool `doc:"The tools that it listed when it last responded." json:"tools"`
}

// Tool is a tool of an MCP server.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	ReadOnly    bool            `doc:"The server marks the tool as read-only." json:"read_only"`
	InputSchema json.RawMessage `doc:"The JSON Schema of its arguments."              json:"input_schema"`
}

// DefaultTools is what the chain of an alert type allows. An alert without a selection gets all of it.
type DefaultTools struct {
	AlertType   string          `json:"alert_type"`
	ChainID     string          `json:"chain_id"`
	Servers     []ServerTools   `doc:"The servers that the agents of the chain may use. mcp_selection can name only these." json:"servers"`
	NativeTools llm.NativeTools `doc:"The provider's own tools, for agents that have no others. An alert can turn them off, but not on." json:"native_tools"`
}

// ServerTools are the tools of a server that agents of the chain can use.
type ServerTools struct {
	Name  string   `json:"name"`
	Tools []string `doc:"Empty until the server has listed its tools." json:"tools"`
	Known bool     `doc:"Whether the server has listed its tools."    json:"known"`
}

// Provider is an LLM provider, without its secrets.
type Provider struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Model       string `json:"model"`
	BaseURL     string `doc:"Empty for the provider's default."                   json:"base_url"`
	Default     bool   `doc:"Agents use it by default."                           json:"default"`
	KeyVariable string `doc:"The environment variable that holds its key."        json:"key_variable"`
	KeySet      bool   `doc:"Whether that variable has a value."                  json:"key_set"`
	InUse       bool   `doc:"Whether a chain uses it. The others can be chosen for re-runs." json:"in_use"`
}

// Setting is a configuration value and its origin.
type Setting struct {
	Path   string `json:"path"`
	Value  string `doc:"Secrets are hidden." json:"value"`
	Origin string `json:"origin"`
}

type (
	warningsOutput     struct{ Body warningList }
	mcpServersOutput   struct{ Body mcpServerList }
	defaultToolsOutput struct{ Body DefaultTools }
	providersOutput    struct{ Body providerList }
	configOutput       struct{ Body settingList }
)

type warningList struct {
	Warnings []Warning `json:"warnings"`
}

type mcpServerList struct {
	Servers []MCPServer `json:"servers"`
}

type providerList struct {
	Providers []Provider `json:"providers"`
}

type settingList struct {
	Settings []Setting `json:"settings"`
}

type defaultToolsInput struct {
	AlertType string `doc:"The alert type; the default is the configured one." query:"alert_type"`
	ChainID   string `doc:"The chain; the default is that of the alert type." query:"chain_id"`
}

type providersInput struct {
	For string `doc:"The providers that chains use, or all that a re-run can choose, including those that no chain uses and that have the keys they need." default:"chains" enum:"chains,reruns" query:"for"`
}

func (s *system) listWarnings(context.Context, *struct{}) (*warningsOutput, error) {
	return &warningsOutput{Body: warningList{Warnings: all(s.warnings)}}, nil
}

func (s *system) listMCPServers(context.Context, *struct{}) (*mcpServersOutput, error) {
	return &mcpServersOutput{Body: mcpServerList{Servers: all(s.system.MCPServers)}}, nil
}

func (s *system) getConfig(context.Context, *struct{}) (*configOutput, error) {
	return &configOutput{Body: settingList{Settings: all(s.system.Settings)}}, nil
}

func (s *system) getDefaultTools(_ context.Context, in *defaultToolsInput) (*defaultToolsOutput, error) {
	var (
		tools DefaultTools
		err   error
	)

	if s.system.DefaultTools != nil {
		tools, err = s.system.DefaultTools(in.ChainID, in.AlertType)
	}

	if err != nil {
		return nil, err
	}

	tools.Servers = append([]ServerTools{}, tools.Servers...)

	return &defaultToolsOutput{Body: tools}, nil
}

func (s *system) listProviders(_ context.Context, in *providersInput) (*providersOutput, error) {
	const reruns = "reruns"

	err := checkParameters(in)
	if err != nil {
		return nil, err
	}

	return &providersOutput{Body: providerList{Providers: all(func() []Provider {
		if s.system.Providers == nil {
			return nil
		}

		return s.system.Providers(in.For == reruns)
	})}}, nil
}

// all returns the source's list, never nil.
func all[T any](source func() []T) []T {
	if source == nil {
		return []T{}
	}

	return append([]T{}, source()...)
}
