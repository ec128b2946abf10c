package e2e

import "encoding/json"

// decode reads JSON that must be valid: it came from the product.
func decode[T any](raw []byte) T {
	var value T
	if err := json.Unmarshal(raw, &value); err != nil {
		panic("not JSON: " + err.Error() + ": " + string(raw))
	}

	return value
}
