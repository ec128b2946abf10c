package openai_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/openai"
)

func TestErrorsAreClassified(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		status    int
		body      string
		class     llm.Class
		retryable bool
		code      string
		message   string
	}{
		"wrong key":     {401, `{"error":{"message":"Incorrect API key provided: sk-abc*****xyz.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`, llm.ClassAuth, false, "invalid_api_key", "Incorrect API key"},
		"no access":     {403, `{"error":{"message":"Country not supported","type":"request_forbidden","param":null,"code":"unsupported_country_region_territory"}}`, llm.ClassAuth, false, "unsupported_country_region_territory", "Country"},
		"no such model": {404, `{"error":{"message":"The model does not exist","type":"invalid_request_error","param":null,"code":"model_not_found"}}`, llm.ClassInvalid, false, "model_not_found", "does not exist"},
		"not this model": {
			403, `{"error":{"message":"Project does not have access to model","type":"invalid_request_error","param":null,"code":"model_not_found"}}`,
			llm.ClassInvalid, false, "model_not_found", "access",
		},
		"rate limit": {429, `{"error":{"message":"Rate limit reached","type":"requests","param":null,"code":"rate_limit_exceeded"}}`, llm.ClassQuota, true, "rate_limit_exceeded", "Rate limit"},
		"no money":   {429, `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`, llm.ClassQuota, false, "insufficient_quota", "add credit"},
		"no money of DeepSeek": {
			402, `{"error":{"message":"Insufficient Balance","type":"unknown_error","param":null,"code":"insufficient_balance"}}`,
			llm.ClassQuota, false, "insufficient_balance", "Insufficient Balance",
		},
		"more than a minute's tokens": {
			429, `{"error":{"message":"Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 50000.","type":"tokens","param":null,"code":"rate_limit_exceeded"}}`,
			llm.ClassContextTooLong, false, "rate_limit_exceeded", "Request too large",
		},
		"too long": {400, `{"error":{"message":"This model's maximum context length is 128000 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`, llm.ClassContextTooLong, false, "context_length_exceeded", "128000"},
		"too long for vLLM": {
			400, `{"object":"error","message":"This model's maximum context length is 4096 tokens.","type":"BadRequestError","param":null,"code":400}`,
			llm.ClassContextTooLong, false, "400", "4096",
		},
		"filtered by Azure": {
			400, `{"error":{"message":"The response was filtered","type":null,"param":"prompt","code":"content_filter","status":400,"innererror":{"code":"ResponsibleAIPolicyViolation"}}}`,
			llm.ClassSafety, false, "content_filter", "filtered",
		},
		"only by Responses": {
			400, `{"error":{"message":"Function tools with reasoning_effort are not supported for gpt-5.6 in /v1/chat/completions. To use function tools, use /v1/responses.","type":"invalid_request_error","param":"reasoning_effort","code":null}}`,
			llm.ClassInvalid, false, "", "set api: responses",
		},
		"wrong value":       {400, `{"error":{"message":"Unsupported value","type":"invalid_request_error","param":"temperature","code":"unsupported_value"}}`, llm.ClassInvalid, false, "unsupported_value", "Unsupported"},
		"wrong key of xAI":  {400, `{"code":"Client specified an invalid argument","error":"Incorrect API key provided: xai-***"}`, llm.ClassAuth, false, "Client specified an invalid argument", "Incorrect"},
		"in trouble":        {500, `{"error":{"message":"The server had an error","type":"server_error","param":null,"code":null}}`, llm.ClassTransient, true, "", "had an error"},
		"overloaded":        {503, `{"error":{"message":"Slow down","type":"server_error"}}`, llm.ClassTransient, true, "", "Slow down"},
		"529":               {529, ``, llm.ClassTransient, true, "", ""},
		"a proxy":           {502, "<html><h1>502 Bad Gateway</h1></html>", llm.ClassTransient, true, "", "Bad Gateway"},
		"a text":            {404, `{"error":"model 'x' not found"}`, llm.ClassInvalid, false, "", "model 'x' not found"},
		"FastAPI":           {404, `{"detail":"Not Found"}`, llm.ClassInvalid, false, "", "Not Found"},
		"FastAPI's reasons": {422, `{"detail":[{"loc":["body"],"msg":"wrong"}]}`, llm.ClassInvalid, false, "", `"msg":"wrong"`},
		"nothing":           {400, ``, llm.ClassInvalid, false, "", "Bad Request"},
		"null":              {400, `{"error":null}`, llm.ClassInvalid, false, "", "error"},
	} {
		for _, api := range []string{openai.APIChat, openai.APIResponses} {
			t.Run(name+", "+api, func(t *testing.T) {
				t.Parallel()

				e := serve(t, test.status, "application/json", test.body).fails(t, api)
				require.Equal(t, test.class, e.Class, "%v", e)
				require.Equal(t, test.retryable, e.Retryable)
				require.Equal(t, test.status, e.Status)
				require.Equal(t, test.code, e.Code)
				require.Contains(t, e.Error(), test.message)
			})
		}
	}
}

func TestErrorsHideKeyAndTruncateLongBody(t *testing.T) {
	t.Parallel()

	long := strings.Repeat("ż", 100_000)
	for _, body := range []string{
		`{"error":{"message":"wrong key ` + secretKey + ` ` + long + `","type":"x","code":"` + secretKey + `"}}`,
		`wrong key ` + secretKey + ` ` + long + "\x00\xff",
	} {
		e := serve(t, http.StatusUnauthorized, "application/json", body).fails(t, openai.APIChat)
		require.NotContains(t, e.Error(), secretKey)
		require.Contains(t, e.Error(), "wrong key [hidden]")
		require.Less(t, len([]rune(e.Error())), 700)
	}

	e := stream(t, delta(`{"content":"x"}`), `{"error":{"message":"lost `+secretKey+`"}}`).fails(t, openai.APIChat)
	require.NotContains(t, e.Error(), secretKey)
}

func TestStreamErrorIsClassifiedByItsCode(t *testing.T) {
	t.Parallel()

	for code, class := range map[string]llm.Class{"400": llm.ClassInvalid, "401": llm.ClassAuth, "429": llm.ClassQuota, "500": llm.ClassTransient, "7": llm.ClassTransient} {
		e := stream(t, `{"error":{"object":"error","message":"no","type":"BadRequestError","param":null,"code":`+code+`}}`).fails(t, openai.APIChat)
		require.Equal(t, class, e.Class, code)
		require.Equal(t, class == llm.ClassTransient || class == llm.ClassQuota, e.Retryable, code)
	}
}

func TestErrorsHideHeaderValues(t *testing.T) {
	t.Parallel()

	s := serve(t, http.StatusForbidden, "application/json", `{"error":{"message":"no entry for gateway-token-1"}}`)
	client, err := openai.New(openai.Config{BaseURL: s.URL, Headers: map[string]string{"X-Gateway": "Bearer gateway-token-1"}})
	require.NoError(t, err)

	_, err = llm.Collect(client.Generate(t.Context(), question()), nil)
	require.ErrorContains(t, err, "no entry for [hidden]")
}

func TestRetryAfterIsParsed(t *testing.T) {
	t.Parallel()

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)

		w.Header().Set("Retry-After-Ms", "1500")
		w.Header().Set("Retry-After", "2")
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	t.Cleanup(server.Close)

	client, err := openai.New(openai.Config{BaseURL: server.URL})
	require.NoError(t, err)

	_, err = llm.Collect(client.Generate(t.Context(), question()), nil)
	require.Equal(t, 1500*time.Millisecond, llm.AsError(err).RetryAfter)
	require.True(t, llm.AsError(err).Retryable)
}

func TestFailedConnectionIsTransientAndHidesQuery(t *testing.T) {
	t.Parallel()

	client, err := openai.New(openai.Config{BaseURL: "http://127.0.0.1:1/v1?code=hidden"})
	require.NoError(t, err)

	_, err = llm.Collect(client.Generate(t.Context(), question()), nil)
	require.Error(t, err)
	require.Equal(t, llm.ClassTransient, llm.AsError(err).Class)
	require.True(t, llm.AsError(err).Retryable)
	require.NotContains(t, err.Error(), "hidden")
	require.Contains(t, err.Error(), "connection refused")
}
