package openai

import (
	"encoding/json"
	"fmt"
	"strings"

	"tarsy.dev/tarsy/llm"
)

// responseTool is a tool of a response: one that the caller runs, a namespace of such tools, or one that the provider runs.
type responseTool struct {
	function

	Type string `json:"type"`
	// Execution is who runs a tool search.
	Execution string `json:"execution"`
	// Tools are the tools of a namespace.
	Tools json.RawMessage `json:"tools"`
}

// declaredTool defines how calls of a tool are written: the kind of item, and the name in it.
type declaredTool struct {
	kind            kind
	name, namespace string
	run             runForm
}

// runForm is the item for calls of a tool that the caller runs and the provider describes. A script's arguments are the
// value of field.
type runForm struct {
	item, prefix, field string
	// rest has the fields that all such items have.
	rest string
}

// runForms maps the types of tools, which are also the names that scripts use.
var runForms = map[string]runForm{
	"shell":                {item: "shell_call", prefix: "sh_", field: "action"},
	"local_shell":          {item: "local_shell_call", prefix: "lsh_", field: "action"},
	"apply_patch":          {item: "apply_patch_call", prefix: "apc_", field: "operation"},
	"tool_search":          {item: "tool_search_call", prefix: "tsc_", field: "arguments", rest: `,"execution":"client"`},
	"computer":             {item: "computer_call", prefix: "cu_", field: "action", rest: `,"pending_safety_checks":[]`},
	"computer_use_preview": {item: "computer_call", prefix: "cu_", field: "action", rest: `,"pending_safety_checks":[]`},
}

// readTools reads a list of tools. Tools that the provider runs are only noted as far as scripts can use them.
func (r *responseRequest) readTools(asked *llm.Request, raw json.RawMessage, where string) *problem {
	var tools []responseTool
	if p := readAs(raw, where, &tools); p != nil {
		return p
	}

	for i := range tools {
		if p := r.readTool(asked, &tools[i], fmt.Sprintf("%s[%d]", where, i)); p != nil {
			return p
		}
	}

	return nil
}

func (r *responseRequest) readTool(asked *llm.Request, tool *responseTool, where string) *problem {
	switch tool.Type {
	case "function":
		return r.declare(asked, tool, where, "", kindCall)
	case "custom":
		return r.declare(asked, tool, where, "", kindCustom)
	case "namespace":
		return r.readNamespace(asked, tool, where)
	case "code_interpreter":
		asked.NativeTools.CodeExecution = true
	case "file_search", "image_generation", "mcp", "programmatic_tool_calling":
	case "":
		return missing(where + ".type")
	default:
		r.readOther(asked, tool, where)
	}

	return nil
}

// readOther reads a tool that is identified by its type. The API gains new ones all the time: an unknown one is noted in
// the journal.
func (r *responseRequest) readOther(asked *llm.Request, tool *responseTool, where string) {
	run, ok := runForms[tool.Type]

	switch {
	case strings.HasPrefix(tool.Type, "web_search"):
		asked.NativeTools.GoogleSearch = true
	case !ok:
		r.unknown = append(r.unknown, fmt.Sprintf("%s: unknown type '%s'", where, tool.Type))
	case tool.Type != "tool_search" || tool.Execution == "client":
		asked.Tools = append(asked.Tools, llm.Tool{Name: tool.Type, Description: tool.Description, Schema: tool.Parameters})
		r.declareAs(tool.Type, declaredTool{kind: kindRun, name: tool.Type, run: run})
	}
}

func (r *responseRequest) readNamespace(asked *llm.Request, namespace *responseTool, where string) *problem {
	if namespace.Name == "" {
		return missing(where + ".name")
	}

	var tools []responseTool
	if p := readAs(namespace.Tools, where+".tools", &tools); p != nil {
		return p
	}

	for i := range tools {
		at, k := fmt.Sprintf("%s.tools[%d]", where, i), kindCall

		switch tools[i].Type {
		case "function":
		case "custom":
			k = kindCustom
		default:
			r.unknown = append(r.unknown, fmt.Sprintf("%s: unknown type '%s'", at, tools[i].Type))

			continue
		}

		if p := r.declare(asked, &tools[i], at, namespace.Name, k); p != nil {
			return p
		}
	}

	return nil
}

// declare registers a tool that the caller describes. Scripts call a tool of a namespace by its name, or by both names with
// a dot between them.
func (r *responseRequest) declare(asked *llm.Request, tool *responseTool, where, namespace string, k kind) *problem {
	if p := checkName(tool.Name, where+".name", maxToolName); p != nil {
		return p
	}

	asked.Tools = append(asked.Tools, tool.tool())

	declared := declaredTool{kind: k, name: tool.Name, namespace: namespace}
	r.declareAs(tool.Name, declared)

	if namespace != "" {
		r.declareAs(namespace+"."+tool.Name, declared)
	}

	return nil
}

// declareAs keeps the first tool of each name.
func (r *responseRequest) declareAs(name string, tool declaredTool) {
	if r.tools == nil {
		r.tools = map[string]declaredTool{}
	}

	if _, taken := r.tools[name]; !taken {
		r.tools[name] = tool
	}
}

// newCall returns the item of a call, in the format of the called tool.
func (r *responseRequest) newCall(call llm.ToolCall) item {
	declared, ok := r.tools[call.Name]
	if !ok {
		return item{kind: kindCall, call: call}
	}

	call.Name = declared.name

	return item{kind: declared.kind, call: call, namespace: declared.namespace, run: declared.run}
}
