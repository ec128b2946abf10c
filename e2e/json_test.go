package e2e

import "encoding/json"

// decode decodes JSON that must be valid, because the product wrote it.
func decode[T any](raw []byte) T {
	var value T
	if err := json.Unmarshal(raw, &value); err != nil {
		panic("not JSON: " + err.Error() + ": " + string(raw))
	}

	return value
}
