package published_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/published"
)

func TestListAsksForNoMoreThanPagesCanReach(t *testing.T) {
	t.Parallel()

	asked := 0
	handler := published.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		if asked > 10 {
			http.Error(w, "too many", http.StatusTeapot)

			return
		}

		assert.Equal(t, "200", r.URL.Query().Get("limit"))

		w.Header().Set("Content-Type", "application/json")
		assert.NoError(t, json.NewEncoder(w).Encode(map[string]any{"sessions": make([]tarsy.SessionItem, 200), "next_cursor": "more"}))
	}))

	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, published.Prefix+"/api/v1/sessions", http.NoBody))
	require.Equal(t, http.StatusOK, answer.Code, answer.Body)
	require.Equal(t, 5, asked, "a list has a thousand sessions, however many there are")
}

func TestPageBeyondTheListIsRefused(t *testing.T) {
	t.Parallel()

	handler := published.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		assert.NoError(t, json.NewEncoder(w).Encode(map[string]any{"sessions": []tarsy.SessionItem{}}))
	}))

	for query, want := range map[string]int{
		"page=10&page_size=100": http.StatusOK, "page=11&page_size=100": http.StatusBadRequest,
		"page=40": http.StatusOK, "page=41": http.StatusBadRequest,
		"page=1000&page_size=1": http.StatusOK, "page=1001&page_size=1": http.StatusBadRequest,
	} {
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, published.Prefix+"/api/v1/sessions?"+query, http.NoBody))
		require.Equal(t, want, answer.Code, query)
	}
}

func TestAPIRefusalHasRetryAfter(t *testing.T) {
	t.Parallel()

	handler := published.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "7")
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = w.Write([]byte(`{"code": "rate_limited", "detail": "too many"}`))
	}))

	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, published.Prefix+"/api/v1/sessions", http.NoBody))
	require.Equal(t, http.StatusTooManyRequests, answer.Code, answer.Body)
	require.Equal(t, "7", answer.Header().Get("Retry-After"))
	require.Contains(t, answer.Body.String(), "too many")
}

// ask sends a request under the prefix to a handler whose API responds with the result of answer.
func ask(t *testing.T, method, path string, header http.Header, answer func(*http.Request) (int, any)) map[string]any {
	t.Helper()

	handler := published.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status, body := answer(r)

		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		assert.NoError(t, json.NewEncoder(w).Encode(body))
	}))

	request := httptest.NewRequestWithContext(t.Context(), method, published.Prefix+path, http.NoBody)
	maps.Copy(request.Header, header)

	got := httptest.NewRecorder()
	handler.ServeHTTP(got, request)
	require.Less(t, got.Code, http.StatusBadRequest, got.Body)

	var body any

	require.NoError(t, json.Unmarshal(got.Body.Bytes(), &body))

	if list, ok := body.([]any); ok {
		return map[string]any{"list": list}
	}

	return body.(map[string]any)
}

func TestTimelineHasTheEventsOfAllPages(t *testing.T) {
	t.Parallel()

	id := ident.New()
	got := ask(t, http.MethodGet, "/api/v1/sessions/"+id+"/timeline", nil, func(r *http.Request) (int, any) {
		assert.Equal(t, "/api/v1/sessions/"+id+"/timeline", r.URL.Path)

		next := map[string]string{"": "a", "a": "b", "b": ""}[r.URL.Query().Get("cursor")]

		return http.StatusOK, map[string]any{"events": []tarsy.TimelineEvent{{ID: ident.New()}}, "next_cursor": next}
	})
	require.Len(t, got["list"], 3)
}

func TestSpendCountsThinkingAsOutputAndSaysWhetherItIsComplete(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		usage        tarsy.Usage
		cost         any
		completeness string
	}{
		"priced":  {tarsy.Usage{InputTokens: 5, OutputTokens: 20, ThinkingTokens: 3, TotalTokens: 28, CostUSD: 0.5}, 0.5, "complete"},
		"partly":  {tarsy.Usage{InputTokens: 5, OutputTokens: 20, ThinkingTokens: 3, TotalTokens: 28, CostUSD: 0.5, UnpricedTokens: 1}, 0.5, "partial"},
		"without": {tarsy.Usage{InputTokens: 5, OutputTokens: 20, ThinkingTokens: 3, TotalTokens: 28, UnpricedTokens: 28}, nil, "none"},
	} {
		got := ask(t, http.MethodGet, "/api/v1/sessions/"+ident.New(), nil, func(*http.Request) (int, any) {
			return http.StatusOK, tarsy.SessionDetail{Spend: tarsy.Spend{Usage: c.usage}}
		})
		require.Equal(t, []any{5.0, 23.0, 28.0, c.cost, c.completeness},
			[]any{got["input_tokens"], got["output_tokens"], got["total_tokens"], got["estimated_cost_usd"], got["cost_completeness"]}, name)
	}
}

func TestAlertKeepsTheKeyThatMakesItIdempotent(t *testing.T) {
	t.Parallel()

	for _, key := range []string{"", "k-1"} {
		header := http.Header{}
		if key != "" {
			header.Set("Idempotency-Key", key)
		}

		got := ask(t, http.MethodPost, "/api/v1/alerts", header, func(r *http.Request) (int, any) {
			assert.Equal(t, key, r.Header.Get("Idempotency-Key"))

			return http.StatusAccepted, map[string]string{"session_id": "s-1", "status": "pending"}
		})
		require.Equal(t, map[string]any{"session_id": "s-1", "status": "queued", "message": "Alert submitted for processing"}, got)
	}
}

func TestUncleanPathsAreLeftToTheAPI(t *testing.T) {
	t.Parallel()

	handler := published.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte(r.URL.Path))
	}))

	for _, path := range []string{"//published/api/v1/sessions", "/published/api/v1//sessions", "/published/./api/v1/sessions", "/published/api/v1/x/../sessions"} {
		answer := httptest.NewRecorder()
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://tarsy.example", http.NoBody)
		request.URL.Path = path
		handler.ServeHTTP(answer, request)
		require.Equal(t, []any{http.StatusNotFound, path}, []any{answer.Code, answer.Body.String()})
	}
}
