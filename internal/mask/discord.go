package mask

import "strings"

// discordTokens finds the tokens of Discord's bots: an id in base64, six characters of time, and a signature, separated by dots. They
// have only the dots and their distance in common. The words are the possible beginnings of Discord's times.
func discordTokens() finder {
	f := finder{at: (*scan).discordToken}
	for _, letter := range "abcdefghvwxyz" {
		f.words = append(f.words, "."+string(letter))
	}

	return f
}

const discordTime = 6

func (s *scan) discordToken(start, _ int) {
	second := start + 1 + discordTime
	if second >= len(s.text) || s.text[second] != '.' || start < s.token || !s.wanted[token] {
		return
	}

	first := start
	for first > 0 && start-first < 32 && isSigned(s.text[first-1]) {
		first--
	}

	end := second + 1
	for end < len(s.text) && end-second < 64 && isSigned(s.text[end]) {
		end++
	}

	// An escaped line break may precede the token.
	if start-first > 23 && strings.IndexByte("MNO", s.text[first]) < 0 && s.afterEscape(first+1) {
		first++
	}

	if isDiscord(s.text[first:start], s.text[start+1:second], s.text[second+1:end]) && isFilledIn(s.text[first:end]) {
		s.hide(first, end, token)
		s.token = end
	}
}

// isDiscord checks the three parts of a token. An id consists of digits, so its base64 begins with one of three letters.
func isDiscord(id, time, signature string) bool {
	if len(id) < 23 || len(id) > 28 || strings.IndexByte("MNO", id[0]) < 0 || len(signature) < 27 || len(signature) > 45 {
		return false
	}

	return !strings.ContainsFunc(time, func(r rune) bool { return r > 127 || !isSigned(byte(r)) })
}

// isSigned reports whether c is a character of URL-safe base64.
func isSigned(c byte) bool { return isWord(c) || c == '-' }
