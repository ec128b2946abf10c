package client

import (
	"bufio"
	"iter"
	"strings"
)

// message is one server-sent event.
type message struct {
	id    string
	event string
	data  []byte
}

// messages takes a stream apart. Heard is called for each line, keep-alive comments included.
func messages(lines *bufio.Scanner, heard func()) iter.Seq[message] {
	return func(yield func(message) bool) {
		var (
			m    message
			data []string
		)

		for lines.Scan() {
			heard()

			line := strings.TrimSuffix(lines.Text(), "\r")
			if line == "" {
				m.data = []byte(strings.Join(data, "\n"))
				if m.event != "" && !yield(m) {
					return
				}

				m, data = message{}, nil

				continue
			}

			name, value, _ := strings.Cut(line, ":")
			value = strings.TrimPrefix(value, " ")

			switch name {
			case "id":
				m.id = value
			case "event":
				m.event = value
			case "data":
				data = append(data, value)
			}
		}
	}
}
