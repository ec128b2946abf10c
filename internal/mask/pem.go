package mask

import "strings"

const (
	dashes = "-----"
	// longestBlock is more than any key or certificate.
	longestBlock = 64 << 10
)

// pemBlocks finds keys and certificates in PEM and PGP armour. A block that was cut off ends with its last character of
// base64. The text up to the next dashes is looked at once, so many beginnings without an end cost nothing extra.
func pemBlocks() finder {
	return finder{words: []string{"-----begin "}, at: (*scan).pemBlock}
}

func (s *scan) pemBlock(start, end int) {
	header := strings.Index(s.text[end:min(len(s.text), end+longestMarker)], dashes)
	if header < 0 {
		return
	}

	name := s.blockName(s.text[end : end+header])
	if name == "" {
		return
	}

	from := end + header + len(dashes)
	to := min(len(s.text), from+longestBlock)
	body := s.text[from:to]

	stop := strings.Index(body, dashes)
	if stop >= 0 && strings.HasPrefix(body[stop:], dashes+"END ") {
		body = body[:stop]
		stop = from + stop + len(dashes)
		to = stop + max(0, strings.Index(s.text[stop:min(len(s.text), stop+longestMarker)], dashes)+len(dashes))
	} else {
		if stop >= 0 {
			body = body[:stop]
		}

		body = body[:encodedLength(body)]
		to = from + len(body)
	}

	// A block without content is an example.
	if countEncoded(body) >= 32 {
		s.hide(start, to, name)
	}
}

// blockName returns the wanted pattern for the label of a block.
func (s *scan) blockName(label string) string {
	switch {
	case strings.Contains(label, "PRIVATE KEY") && strings.Contains(label, "OPENSSH") && s.wanted[sshKey]:
		return sshKey
	case strings.Contains(label, "PRIVATE KEY") && (s.wanted[privateKey] || s.wanted[gitleaksGroup]):
		return privateKey
	case strings.Contains(label, "CERTIFICATE") && !strings.Contains(label, "REQUEST") && s.wanted[certificate]:
		return certificate
	}

	return ""
}

// encodedLength is the length of base64 in lines, which may be escaped or indented.
func encodedLength(body string) int {
	end := strings.IndexFunc(body, func(r rune) bool {
		return r > 127 || !isEncoded(byte(r)) && !isSpace(byte(r)) && r != '\\'
	})
	if end < 0 {
		end = len(body)
	}

	return len(strings.TrimRight(body[:end], " \t\r\n\\"))
}

func countEncoded(body string) int {
	count := 0

	for _, c := range []byte(body) {
		if isEncoded(c) {
			count++
		}
	}

	return count
}

// isEncoded is a character of base64.
func isEncoded(c byte) bool { return isAlnum(c) || c == '+' || c == '/' || c == '=' }
