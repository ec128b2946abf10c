package exchange

import "math"

// Vector returns the embedding of a text: a vector of length one whose direction depends only on the text, so it is the
// same in every run, on every machine and in every API. A shorter vector is the beginning of a longer one, scaled to length
// one, as with real models that can shorten theirs. Vectors of different texts are close to orthogonal.
func Vector(text string, dimensions int) []float32 {
	const (
		offset = 14695981039346656037
		prime  = 1099511628211
		golden = 0x9e3779b97f4a7c15
		// mantissa is how many bits of a random number fit into a float64.
		mantissa = 53
	)

	state := uint64(offset)
	for i := range len(text) {
		state = (state ^ uint64(text[i])) * prime
	}

	values := make([]float64, dimensions)
	squares := 0.0

	for i := range values {
		state += golden
		mixed := (state ^ state>>30) * 0xbf58476d1ce4e5b9
		mixed = (mixed ^ mixed>>27) * 0x94d049bb133111eb
		mixed ^= mixed >> 31

		// Uniform from -1 to 1. The conversions keep compilers from fusing operations, which would round differently.
		values[i] = float64(float64(mixed>>(64-mantissa))/(1<<(mantissa-1))) - 1
		squares += float64(values[i] * values[i])
	}

	length := math.Sqrt(squares)
	vector := make([]float32, dimensions)

	for i, value := range values {
		vector[i] = float32(value / length)
	}

	return vector
}
