package slack

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLoseAcksIgnoresEarlierEnvelopes(t *testing.T) {
	t.Parallel()

	s, err := New(Config{Setup: Setup{Token: "xoxb-1", AppToken: "xapp-1"}})
	require.NoError(t, err)

	s.socket.envelopes = []*Envelope{{ID: "earlier", Kind: "events_api"}}
	s.LoseAcks(1)
	s.socket.envelopes = append(s.socket.envelopes, &Envelope{ID: "later", Kind: "events_api"})

	acked := func() (list []bool) {
		for _, e := range s.Envelopes() {
			list = append(list, e.Acked)
		}

		return list
	}

	s.socket.acknowledge([]byte(`{"envelope_id":"earlier"}`)) // sent before LoseAcks
	require.Equal(t, []bool{true, false}, acked())
	s.socket.acknowledge([]byte(`{"envelope_id":"later"}`))
	require.Equal(t, []bool{true, false}, acked(), "it is lost")
	s.socket.acknowledge([]byte(`{"envelope_id":"later"}`))
	require.Equal(t, []bool{true, true}, acked(), "the next one is not")
}
