package stream

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/flow/journal"
)

// sseWriter writes server-sent events to one response. It is used by one goroutine at a time.
type sseWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
	limit   time.Duration
}

// write sends the text immediately. A reader that does not accept it in time is dropped, and catches up when it reconnects.
func (s *sseWriter) write(text string) error {
	err := s.deadline(time.Now().Add(s.limit))
	if err != nil {
		return err
	}

	_, err = s.w.Write([]byte(text)) //nolint:gosec // an event stream, not a page: browsers do not render it
	if err != nil {
		return fmt.Errorf("write: %w", err)
	}

	err = s.control.Flush()
	if err != nil {
		return fmt.Errorf("flush: %w", err)
	}

	// In HTTP/2 a deadline ends the stream even if nothing is being written.
	return s.deadline(time.Time{})
}

func (s *sseWriter) deadline(at time.Time) error {
	err := s.control.SetWriteDeadline(at)
	if err != nil && !errors.Is(err, http.ErrNotSupported) {
		return fmt.Errorf("set the write limit: %w", err)
	}

	return nil
}

func (s *sseWriter) event(channel string, record journal.Record[tarsy.Event]) error {
	return s.write("id: " + strconv.FormatInt(int64(record.Position), 10) +
		"\nevent: " + record.Entry.Type + "\ndata: " + encodeEvent(channel, record) + "\n\n")
}

func (s *sseWriter) chunk(chunk *Encoded) error {
	return s.write("event: " + chunk.Type + "\ndata: " + string(chunk.frame()) + "\n\n")
}

// overflow has the number as its id, so that a reader that reconnects does not request the missing events again.
func (s *sseWriter) overflow(channel string, through journal.Position) error {
	return s.write("id: " + strconv.FormatInt(int64(through), 10) +
		"\nevent: " + tarsy.TypeOverflow + "\ndata: " + encode(overflowFrame(channel, through)) + "\n\n")
}

// end writes the last event of a session and ends the stream.
func (s *sseWriter) end(status tarsy.SessionStatus) error {
	return s.last(tarsy.TypeEnd, tarsy.EndFrame{Type: tarsy.TypeEnd, Status: status}, errOver)
}

// bye tells the reader why the stream ends before the session does. A reader that reconnects reaches another server, or gets the error
// about its login.
func (s *sseWriter) bye(reason error) error {
	return s.last(tarsy.TypeBye, tarsy.ByeFrame{Type: tarsy.TypeBye, Reason: reason.Error()}, reason)
}

func (s *sseWriter) last(eventType string, frame any, reason error) error {
	err := s.write("event: " + eventType + "\ndata: " + encode(frame) + "\n\n")
	if err != nil {
		return err
	}

	return reason
}
