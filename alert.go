package tarsy

// MaxAlertBytes is the largest alert that intake accepts.
const MaxAlertBytes = 1 << 20

// DefaultAuthor is the author of an alert that no trusted proxy put a name to.
const DefaultAuthor = "api-client"

// Alert is what came in, before it became a session.
type Alert struct {
	AlertType    string
	Data         string
	Runbook      string
	RunbookURL   string
	MCPSelection *MCPSelection
	Author       string
	// RerunOf is the session whose alert this is once more.
	RerunOf *string
}

// MCPSelection replaces the MCP servers of the chain for one alert: it is the whole list, nothing is merged.
type MCPSelection struct {
	Servers     []MCPServerSelection  `json:"servers"`
	NativeTools *NativeToolsSelection `json:"native_tools,omitempty"`
}

// MCPServerSelection is one chosen server; an empty list of tools means all of them.
type MCPServerSelection struct {
	Name  string   `json:"name"`
	Tools []string `json:"tools,omitempty"`
}

// NativeToolsSelection overrides the provider's own tools; nil leaves a tool as configured.
type NativeToolsSelection struct {
	GoogleSearch  *bool `json:"google_search,omitempty"`
	CodeExecution *bool `json:"code_execution,omitempty"`
	URLContext    *bool `json:"url_context,omitempty"`
}
