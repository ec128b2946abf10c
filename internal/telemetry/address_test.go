package telemetry_test

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/kit/wait"
	"tarsy.dev/tarsy/internal/telemetry"
)

// spanAttributes sends the attributes of received spans as text, by span name.
func spanAttributes(received chan<- map[string]map[string]string) http.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) {
		var (
			body    bytes.Buffer
			request collector.ExportTraceServiceRequest
		)

		if _, err := body.ReadFrom(r.Body); err != nil || proto.Unmarshal(body.Bytes(), &request) != nil {
			return
		}

		spans := map[string]map[string]string{}

		for _, of := range request.GetResourceSpans() {
			for _, scope := range of.GetScopeSpans() {
				for _, span := range scope.GetSpans() {
					spans[span.GetName()] = map[string]string{}
					for _, a := range span.GetAttributes() {
						spans[span.GetName()][a.GetKey()] = a.GetValue().String()
					}
				}
			}
		}

		received <- spans
	}
}

func TestSpansHaveAddressWithoutRestOfURL(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct{ url, address, port string }{
		"usual port":        {"https://api.example.com/v1", `string_value:"api.example.com"`, ""},
		"usual port, given": {"http://api.example.com:80", `string_value:"api.example.com"`, ""},
		"other port":        {"http://user:secret@10.0.0.7:8443/v1?key=secret", `string_value:"10.0.0.7"`, "int_value:8443"},
		"port of the other": {"https://api.example.com:80", `string_value:"api.example.com"`, "int_value:80"},
		"IPv6":              {"http://[::1]:9/mcp", `string_value:"::1"`, "int_value:9"},
		"grpc":              {"grpc://llm:50051", `string_value:"llm"`, "int_value:50051"},
		"none":              {"", "", ""},
		"not a URL":         {"http://[secret", "", ""},
		"without a host":    {"/secret", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			received := make(chan map[string]map[string]string, 10)
			server := httptest.NewServer(spanAttributes(received))
			t.Cleanup(server.Close)

			address := func(string) string { return c.url }
			tracer := newTracer(t, telemetry.Config{
				Endpoint: server.URL, SampleRatio: 1, ProviderURL: address, ServerURL: address,
				ServerTransport: func(name string) string { return map[string]string{"remote": "http", "local": "stdio"}[name] },
			})

			step := stepOf(ident.New())
			for _, name := range []string{"remote", "local"} {
				now, event := time.Now(), ident.New()
				step.Timeline = append(step.Timeline, tarsy.TimelineEvent{ID: event})
				step.MCPInteractions = append(step.MCPInteractions, tarsy.MCPInteraction{
					ID: ident.New(), SessionID: step.LLMInteractions[0].SessionID, ExecutionID: ident.New(), TimelineEventID: event, ServerName: name, ToolName: name,
					Status: tarsy.CallCompleted, CreatedAt: now, CompletedAt: &now,
				})
			}

			tracer.Committed(step)
			require.NoError(t, tracer.Stop(context.Background()))

			spans := wait.For(t, received, "the spans")
			for _, name := range []string{"chat m", "execute_tool remote"} {
				require.Contains(t, spans, name)
				require.Equal(t, c.address, spans[name]["server.address"], name)
				require.Equal(t, c.port, spans[name]["server.port"], name)

				for key, value := range spans[name] {
					require.NotContains(t, value, "secret", key)
				}
			}

			require.Equal(t, `string_value:"tcp"`, spans["execute_tool remote"]["network.transport"])
			require.Equal(t, `string_value:"http"`, spans["execute_tool remote"]["network.protocol.name"])
			require.Equal(t, `string_value:"tools/call"`, spans["execute_tool remote"]["mcp.method.name"])
			require.Equal(t, `string_value:"pipe"`, spans["execute_tool local"]["network.transport"])
			require.NotContains(t, spans["execute_tool local"], "server.address")
		})
	}
}
