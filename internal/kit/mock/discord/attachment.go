package discord

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// attachmentPath is where files are downloaded, without a token.
const attachmentPath = Path + "/attachments/"

// Attachment is a file of a message.
type Attachment struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	ContentType string `json:"content_type,omitempty"`
	Data        []byte `json:"data,omitempty"`

	// field is the name of the form field that it was sent in, such as files[0].
	field string
}

// attachmentRequest describes a file in a request: a new one by its number in the form, one that an edit keeps by its ID.
type attachmentRequest struct {
	ID          json.RawMessage `json:"id"` // a number or a string
	Filename    string          `json:"filename"`
	Description string          `json:"description"`
}

func (r attachmentRequest) id() string { return strings.Trim(string(r.ID), `"`) }

// attachmentObject returns a file of a message in a channel.
func (w *world) attachmentObject(channelID string, a Attachment) object {
	address := fmt.Sprintf("http://%s%s%s/%s/%s", w.host, attachmentPath, channelID, a.ID, url.PathEscape(a.Name))
	o := object{"id": a.ID, "filename": a.Name, "size": len(a.Data), "url": address, "proxy_url": address, "content_type": orNull(a.ContentType)}

	if a.Description != "" {
		o["description"] = a.Description
	}

	return o
}

// newAttachments returns the files of the request, with IDs and the request's descriptions.
func (c *call) newAttachments(described []attachmentRequest) []Attachment {
	made := slices.Clone(c.files)

	for i := range made {
		made[i].ID = c.world.ids.next()

		for _, d := range described {
			if made[i].field == "files["+d.id()+"]" {
				made[i].Description = d.Description
				if d.Filename != "" {
					made[i].Name = d.Filename
				}
			}
		}
	}

	return made
}

// keptAttachments returns the files of a message that an edit keeps: all of them unless it lists some.
func keptAttachments(m *Message, listed []attachmentRequest) []Attachment {
	if listed == nil {
		return m.Attachments
	}

	return slices.DeleteFunc(slices.Clone(m.Attachments), func(a Attachment) bool {
		return !slices.ContainsFunc(listed, func(r attachmentRequest) bool { return r.id() == a.ID })
	})
}

// serveAttachment sends a file of an existing message.
func (s *Server) serveAttachment(w http.ResponseWriter, r *http.Request) {
	found := s.attachment(r.PathValue("channel"), r.PathValue("attachment"))
	if found == nil || found.Name != r.PathValue("name") {
		http.NotFound(w, r)

		return
	}

	if found.ContentType != "" {
		w.Header().Set("Content-Type", found.ContentType)
	}

	_, _ = w.Write(found.Data)
}

func (s *Server) attachment(channelID, id string) *Attachment {
	s.serial.Lock()
	defer s.serial.Unlock()

	c := s.world.channelByID(channelID)
	if c == nil {
		return nil
	}

	for _, m := range c.messages {
		i := slices.IndexFunc(m.Attachments, func(a Attachment) bool { return a.ID == id && !m.Deleted })
		if i >= 0 {
			found := m.Attachments[i]

			return &found
		}
	}

	return nil
}
