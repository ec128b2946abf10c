package api

import (
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
)

func TestReadRequestDecodesDocumentedType(t *testing.T) {
	t.Parallel()

	yes := true
	request, err := readRequest[alertRequest]([]byte(" {\n\t\"data\" : [ 1 ] , \"runbook\": null, \"alert_type\" : \"a\\u0000b\" ,\"mcp_selection\":\r\n{ \"servers\" : [ " +
		"{ \"tools\" : [ \"get\" , \"put\" ] , \"name\" : \"kubernetes\" } , {\"name\":\"box\",\"tools\":[]} ] , \"native_tools\" : { \"google_search\" : true , " +
		"\"url_context\" : null } } } "))
	require.NoError(t, err)
	require.Equal(t, alertRequest{
		AlertType: "ab", Data: "[\n  1\n]",
		MCPSelection: &tarsy.MCPSelection{
			Servers: []tarsy.MCPServerSelection{{Name: "kubernetes", Tools: []string{"get", "put"}}, {Name: "box"}},
			NativeTools: &tarsy.NativeToolsSelection{
				GoogleSearch: &yes,
			},
		},
	}, request)
}

func TestReadRequestLocatesBadValue(t *testing.T) {
	t.Parallel()

	for body, want := range map[string]string{
		` [ ] `:         "the body must be an object, not a list",
		`{"data" : 5 }`: "data must be text, an object or a list, not a number",
		`{"mcp_selection": {"servers": [{"name": "a"}, {"name": "b", "tools": ["x" , 7 ]}]}}`: "mcp_selection.servers[1].tools[1] must be text, not a number",
		`{"mcp_selection": {"servers": [{"name": "a", "tools": [ null ]}]}}`:                  "mcp_selection.servers[0].tools[0] must not be empty",
		`{"mcp_selection": {"servers": [ null ]}}`:                                            "mcp_selection.servers[0] must be an object, not null",
		`{"mcp_selection": {"servers": {} }}`:                                                 "mcp_selection.servers must be a list, not an object",
		`{"mcp_selection": {"native_tools": {"url_context": "no"}}}`:                          "mcp_selection.native_tools.url_context must be true or false, not text",
		`{"mcp_selection": {"servers": [{"nam": "a"}]}}`:                                      `there is no field "mcp_selection.servers[0].nam"; did you mean name?`,
		`{"mcp_selection": {"servers": [], "servers": []}}`:                                   "mcp_selection.servers is given twice",
	} {
		_, err := readRequest[alertRequest]([]byte(body))
		require.EqualError(t, err, want, body)
	}
}
