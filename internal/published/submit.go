package published

import "net/http"

// submit handles POST /alerts. The API parses the body itself: it supports the fields of the published TARSy.
func submit(c call) (int, any, error) {
	request, err := http.NewRequestWithContext(c.Context(), http.MethodPost, address("/alerts", nil), c.Body)
	if err != nil {
		return 0, nil, err
	}

	request.ContentLength = c.ContentLength
	request.Header.Set("Content-Type", c.Header.Get("Content-Type"))

	if key := c.Header.Get("Idempotency-Key"); key != "" {
		request.Header.Set("Idempotency-Key", key)
	}

	var accepted struct {
		SessionID string `json:"session_id"`
		Status    string `json:"status"`
		Message   string `json:"message"`
	}

	if err := c.do(request, &accepted); err != nil {
		return 0, nil, err
	}

	accepted.Status, accepted.Message = "queued", "Alert submitted for processing"

	return http.StatusAccepted, accepted, nil
}
