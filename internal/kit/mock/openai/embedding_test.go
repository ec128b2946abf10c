package openai_test

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/mock/exchange"
)

func TestEmbeddingLengthIsModelDefaultOrRequested(t *testing.T) {
	t.Parallel()

	s := serve(t)

	for body, want := range map[string]int{
		`{"model":"text-embedding-3-small","input":"a"}`:                 1536,
		`{"model":"text-embedding-3-large","input":"a"}`:                 3072,
		`{"model":"text-embedding-ada-002","input":"a"}`:                 1536,
		`{"model":"text-embedding-3-small","input":"a","dimensions":12}`: 12,
		`{"model":"my-own","input":["a"],"dimensions":4096}`:             4096,
		`{"model":"my-own","input":[1,2,3]}`:                             1536,
		`{"model":"my-own","input":[[1,2],[3]],"dimensions":2}`:          2,
	} {
		status, _, answer := s.post(t, "/embeddings", body)
		require.Equal(t, http.StatusOK, status, "%s: %s", body, answer)

		var list struct {
			Data []struct {
				Embedding []float32 `json:"embedding"`
			} `json:"data"`
		}
		require.NoError(t, json.Unmarshal(answer, &list))
		require.Len(t, list.Data[0].Embedding, want, body)
	}

	require.Empty(t, s.script.Calls(), "the script is not asked")
}

func TestBase64EmbeddingsAreTheSameVectors(t *testing.T) {
	t.Parallel()

	_, _, answer := serve(t).post(t, "/v1/embeddings", `{"model":"m","input":"disk full","dimensions":3,"encoding_format":"base64"}`)

	var list struct {
		Data []struct {
			Embedding string `json:"embedding"`
		} `json:"data"`
	}
	require.NoError(t, json.Unmarshal(answer, &list))

	data, err := base64.StdEncoding.DecodeString(list.Data[0].Embedding)
	require.NoError(t, err)
	require.Len(t, data, 12)

	for i, want := range exchange.Vector("disk full", 3) {
		require.InDelta(t, want, math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:])), 0)
	}
}

func TestBadEmbeddingRequestsAreRefused(t *testing.T) {
	t.Parallel()

	s := serve(t)
	many := `["a"` + strings.Repeat(`,"a"`, 2048) + `]`

	for body, param := range map[string]string{
		`{"input":"a"}`:                                                    "model",
		`{"model":"m"}`:                                                    "input",
		`{"model":"m","input":null}`:                                       "input",
		`{"model":"m","input":""}`:                                         "input",
		`{"model":"m","input":["a",""]}`:                                   "input",
		`{"model":"m","input":[]}`:                                         "input",
		`{"model":"m","input":{"text":"a"}}`:                               "input",
		`{"model":"m","input":["a",1]}`:                                    "input",
		`{"model":"m","input":[[]]}`:                                       "input",
		`{"model":"m","input":` + many + `}`:                               "input",
		`{"model":"m","input":"a","dimensions":0}`:                         "dimensions",
		`{"model":"m","input":"a","dimensions":4097}`:                      "dimensions",
		`{"model":"text-embedding-3-small","input":"a","dimensions":1537}`: "dimensions",
		`{"model":"text-embedding-ada-002","input":"a","dimensions":10}`:   "dimensions",
		`{"model":"m","input":"a","encoding_format":"hex"}`:                "encoding_format",
		`{"model":"m","input":"a","dimensions":"3"}`:                       "dimensions",
	} {
		status, _, answer := s.post(t, "/v1/embeddings", body)
		require.Equal(t, http.StatusBadRequest, status, body)
		require.Contains(t, string(answer), `"param":"`+param+`"`, body)
	}
}
