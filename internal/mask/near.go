package mask

import "strings"

const (
	// longestUser is how far after :// to search for the @, longestCommand how far after a command to search for its flags.
	longestUser    = 320
	longestCommand = 320
	// shortestUserToken is the minimum length of a token in the user part of an address.
	shortestUserToken = 20
)

// lookaround returns what a rule must see to check the word from start to end, or false if it cannot match there.
type lookaround func(s *scan, start, end int) (window, bool)

// nearUser searches an address for the @ after a user and a password, or after a token alone, which is longer than user names are.
func (s *scan) nearUser(start, end int) (window, bool) {
	colon := false

	for at := end; at < len(s.text) && at < end+longestUser; at++ {
		switch c := s.text[at]; c {
		case ':':
			colon = true
		case '@':
			if colon || at-end >= shortestUserToken {
				return s.around(start-40, at+slack), true
			}
		case '/', '"', '\'', '<', '>', '\\', ' ', '\t', '\n', '\r':
			return window{}, false
		}
	}

	return window{}, false
}

// nearValue skips signs and the given number of words (such as Basic in a header) after a word, and requires a run of a minimum length.
func nearValue(words, least int) lookaround {
	return func(s *scan, start, end int) (window, bool) {
		at := s.skipSigns(end)
		for range words {
			at = s.skipWord(at)
		}

		for n := range least {
			if at+n >= len(s.text) || !isRun(s.text[at+n]) {
				return window{}, false
			}
		}

		return s.around(start-slack, s.spaceAfter(at)+slack), true
	}
}

func (s *scan) skipSigns(at int) int {
	for n := 0; n < 14 && at < len(s.text) && (isSpace(s.text[at]) || strings.IndexByte(`:="'\`, s.text[at]) >= 0); n++ {
		at++
	}

	return at
}

// skipWord skips a word and the spaces after it.
func (s *scan) skipWord(at int) int {
	for n := 0; n < 20 && at < len(s.text) && (isAlnum(s.text[at]) || s.text[at] == '-'); n++ {
		at++
	}

	for n := 0; n < 4 && at < len(s.text) && isSpace(s.text[at]); n++ {
		at++
	}

	return at
}

// nearQuoted searches for a quoted value after a quoted name, with no sign or a comma between them.
func nearQuoted(s *scan, start, end int) (window, bool) {
	at := skipQuote(s.text, end)
	if at == end {
		return window{}, false
	}

	open := at
	for n := 0; n < 6 && open < len(s.text) && (isSpace(s.text[open]) || s.text[open] == ','); n++ {
		open++
	}

	return s.around(start-slack, s.spaceAfter(s.skipWord(skipQuote(s.text, open)))+slack), skipQuote(s.text, open) > open
}

// nearLine returns the rest of the line of a command, up to a limit.
func (s *scan) nearLine(start, end int) (window, bool) {
	line, _, _ := strings.Cut(s.text[end:min(len(s.text), end+2*longestCommand)], "\n")

	return s.around(start-slack, end+len(line)+1), strings.Contains(line, ":")
}

// nearFlag searches for a flag in the line of a command, after a space or, in a list of arguments, a quote.
func nearFlag(flags ...string) lookaround {
	return func(s *scan, start, end int) (window, bool) {
		line, _, _ := strings.Cut(s.text[end:min(len(s.text), end+longestCommand)], "\n")

		for _, flag := range flags {
			for from := 0; ; {
				at := strings.Index(line[from:], flag)
				if at < 0 {
					break
				}

				if at += from; strings.IndexByte(" \t\"'", s.text[end+at-1]) >= 0 {
					return s.around(start-slack, s.spaceAfter(min(len(s.text), end+at+len(flag)+slack))+128), true
				}

				from = at + len(flag)
			}
		}

		return window{}, false
	}
}

// nearSign searches for a sign in the line of a command.
func nearSign(sign string) lookaround {
	return func(s *scan, start, end int) (window, bool) {
		line, _, _ := strings.Cut(s.text[end:min(len(s.text), end+longestCommand)], "\n")

		return s.around(start-slack, end+len(line)+1), strings.Contains(line, sign)
	}
}
