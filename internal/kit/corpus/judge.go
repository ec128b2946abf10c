package corpus

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// Score measures how well a masker did on a set of samples.
type Score struct {
	Kind   string
	Secret int // secrets in the samples
	Found  int // secrets of which no readable part is left
	Spans  int // markers inserted by the masker
	Right  int // markers that hide part of a secret
	Bytes  int // bytes hidden outside secrets
	Misses []Miss
}

// Miss is a sample on which the masker failed.
type Miss struct {
	Sample Sample
	Masked string
	Why    string
}

// Recall is the share of the secrets that were found.
func (s Score) Recall() float64 { return share(s.Found, s.Secret) }

// Precision is the share of the markers that hide a secret.
func (s Score) Precision() float64 { return share(s.Right, s.Spans) }

func share(part, all int) float64 {
	if all == 0 {
		return 1
	}

	return float64(part) / float64(all)
}

// Judge masks the samples and returns the overall score and the score of each kind.
func Judge(samples []Sample, mask func(text string) string) (all Score, kinds []Score) {
	scores := map[string]*Score{}

	for _, sample := range samples {
		score, ok := scores[sample.Kind]
		if !ok {
			score = &Score{Kind: sample.Kind}
			scores[sample.Kind] = score
		}

		judge(score, sample, mask(sample.Text))
	}

	for _, score := range scores {
		kinds = append(kinds, *score)
		all.Secret += score.Secret
		all.Found += score.Found
		all.Spans += score.Spans
		all.Right += score.Right
		all.Bytes += score.Bytes
		all.Misses = append(all.Misses, score.Misses...)
	}

	slices.SortFunc(kinds, func(a, b Score) int { return cmp.Compare(a.Kind, b.Kind) })
	slices.SortFunc(all.Misses, func(a, b Miss) int {
		return cmp.Or(cmp.Compare(a.Sample.Kind, b.Sample.Kind), cmp.Compare(a.Sample.Context, b.Sample.Context), cmp.Compare(a.Sample.Text, b.Sample.Text))
	})

	return all, kinds
}

func judge(s *Score, sample Sample, masked string) {
	for _, secret := range sample.Secrets {
		s.Secret++

		if rest := readablePart(secret, masked); rest == "" {
			s.Found++
		} else {
			s.Misses = append(s.Misses, Miss{sample, masked, "not masked: " + rest})
		}
	}

	for _, h := range hidden(sample.Text, masked) {
		s.Spans++

		inside := overlap(sample, h)
		s.Bytes += h[1] - h[0] - inside

		if inside > 0 {
			s.Right++
		} else {
			s.Misses = append(s.Misses, Miss{sample, masked, "masked but not secret: " + sample.Text[h[0]:h[1]]})
		}
	}
}

// minLeak is the length from which a remaining piece of a secret counts as readable.
const minLeak = 8

// readablePart returns the first piece of a secret that can still be read.
func readablePart(secret, masked string) string {
	masked = marker.ReplaceAllLiteralString(masked, "\n\x00\n")

	for i := 0; i+minLeak <= len(secret); i++ {
		if piece := secret[i : i+minLeak]; strings.Contains(masked, piece) {
			return piece
		}
	}

	return ""
}

// overlap returns how many bytes of a piece of the sample's text belong to secrets.
func overlap(sample Sample, piece [2]int) int {
	count := 0

	for _, secret := range sample.Secrets {
		for from := 0; ; {
			at := strings.Index(sample.Text[from:], secret)
			if at < 0 {
				break
			}

			at += from
			count += max(0, min(piece[1], at+len(secret))-max(piece[0], at))
			from = at + len(secret)
		}
	}

	return count
}

var marker = regexp.MustCompile(`\[MASKED_[A-Z0-9_]+\]`)

// hidden returns the ranges of text that the markers in masked replace: what lies between the parts that both texts share.
func hidden(text, masked string) [][2]int {
	var pieces [][2]int

	// Markers that were already in the text hide nothing.
	rests := marker.Split(masked, -1)
	if len(marker.FindAllString(masked, -1)) == len(marker.FindAllString(text, -1)) {
		return nil
	}

	at := len(rests[0])

	for i, rest := range rests[1:] {
		end := len(text) - len(rest)
		if i < len(rests)-2 {
			if found := strings.Index(text[min(at+1, len(text)):], rest); found >= 0 {
				end = at + 1 + found
			}
		}

		pieces = append(pieces, [2]int{at, max(at, end)})
		at = max(at, end) + len(rest)
	}

	return pieces
}
