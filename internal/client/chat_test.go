package client_test

import (
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/client"
)

func TestAskSendsQuestionAndReportsItsStage(t *testing.T) {
	t.Parallel()

	var got string

	c := connect(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = r.Method + " " + r.URL.Path + " " + string(body)

		w.WriteHeader(http.StatusAccepted)
		_, _ = fmt.Fprint(w, `{"chat_id":"c","message_id":"m","stage_id":"s"}`)
	}), client.Config{})

	asked, err := client.Call(t.Context(), c, client.Ask, client.Question{Content: "why <here>?"}, "id")
	require.NoError(t, err)
	require.Equal(t, client.Asked{ChatID: "c", MessageID: "m", StageID: "s"}, asked)
	require.Equal(t, "POST /api/v1/sessions/id/chat/messages {\"content\":\"why <here>?\"}\n", got)
}

func TestRefusedQuestionReturnsServerProblem(t *testing.T) {
	t.Parallel()

	c := connect(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusConflict)
		_, _ = fmt.Fprint(w, `{"code":"chat_busy","detail":"another question is being answered"}`)
	}), client.Config{})

	_, err := client.Call(t.Context(), c, client.Ask, client.Question{Content: "why?"}, "id")

	var problem *client.Problem
	require.ErrorAs(t, err, &problem)
	require.Equal(t, tarsy.CodeChatBusy, problem.Code)
}

func TestStayRequestsEndlessStreamAlsoOnReconnect(t *testing.T) {
	t.Parallel()

	var (
		mu    sync.Mutex
		asked []string
	)

	c := connect(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()

		asked = append(asked, r.URL.RawQuery+" after "+r.Header.Get("Last-Event-ID"))
		play(entry(7+len(asked)))(w, r)
	}), client.Config{Token: "key"})

	var seen []int64

	for update, err := range c.FollowOn(t.Context(), "s", 7) {
		require.NoError(t, err)

		if update.Event != nil {
			seen = append(seen, update.Event.Seq)
		}

		if len(seen) == 2 {
			break
		}
	}

	require.Equal(t, []int64{8, 9}, seen)

	mu.Lock()
	defer mu.Unlock()

	require.Equal(t, []string{"follow=true after 7", "follow=true after 8"}, asked)
}

func TestDeleteAcceptsEmptyResponse(t *testing.T) {
	t.Parallel()

	c := connect(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodDelete && r.URL.Path == "/api/v1/sessions/gone" {
			w.WriteHeader(http.StatusNotFound)
		} else {
			w.WriteHeader(http.StatusNoContent)
		}
	}), client.Config{})

	_, err := client.Call(t.Context(), c, client.DeleteSession, nil, "id")
	require.NoError(t, err)

	_, err = client.Call(t.Context(), c, client.DeleteSession, nil, "gone")
	require.True(t, client.Refused(err))
}
