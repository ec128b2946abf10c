package slack

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
)

const (
	uploadPath   = Path + "/upload/"
	downloadPath = Path + "/files/"
	// maxFile limits uploads.
	maxFile = 32 << 20
)

// File is a file that the app uploaded.
type File struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Title string `json:"title"`
	// Length is the size that the app announced, Data what it uploaded.
	Length int    `json:"length"`
	Data   []byte `json:"data,omitempty"`
	// Complete means that the upload was completed. Channels are the IDs of the channels in which the file was shared.
	Complete bool     `json:"complete"`
	Channels []string `json:"channels,omitempty"`

	uploaded bool
}

func (s *Server) fileObject(f *File) object {
	address := s.address() + downloadPath + f.ID + "/" + f.Name
	kind := cmp.Or(mime.TypeByExtension(path.Ext(f.Name)), "application/octet-stream")
	kind, _, _ = strings.Cut(kind, ";")

	return object{
		"id": f.ID, "name": f.Name, "title": f.Title, "mimetype": kind, "filetype": strings.TrimPrefix(path.Ext(f.Name), "."), "size": len(f.Data),
		"user": s.self.ID, "mode": "hosted", "is_external": false, "is_public": len(f.Channels) > 0, "url_private": address, "url_private_download": address + "?download=1",
		"channels": append([]string{}, f.Channels...), "groups": []string{}, "ims": []string{}, "permalink": "https://mock.slack.com/files/" + s.self.ID + "/" + f.ID + "/" + f.Name,
	}
}

func (s *Server) fileObjects(ids []string) []object {
	found := []object{}

	for _, id := range ids {
		if f := s.files[id]; f != nil {
			found = append(found, s.fileObject(f))
		} else {
			found = append(found, object{"id": id, "mode": "tombstone"})
		}
	}

	return found
}

// Files returns the uploaded files by ID.
func (s *Server) Files() map[string]File {
	s.mu.Lock()
	defer s.mu.Unlock()

	all := map[string]File{}
	for id, f := range s.files {
		all[id] = *f
	}

	return all
}

// startUpload returns the URL for uploading a file.
func (c *call) startUpload() (object, error) {
	length, err := strconv.Atoi(c.args["length"])
	if err != nil || length < 1 || c.args["filename"] == "" {
		return nil, &apiError{Code: "invalid_arguments", Messages: []string{"filename and a positive length are required"}}
	}

	if length > maxFile {
		return nil, refusal("file_upload_size_restricted")
	}

	// The name becomes part of URLs.
	name := path.Base("/" + c.args["filename"])
	f := &File{ID: c.server.makeID("F"), Name: name, Title: name, Length: length}
	c.server.files[f.ID] = f

	return object{"upload_url": c.server.address() + uploadPath + f.ID, "file_id": f.ID}, nil
}

// serveUpload receives the content of a file, as the body or as a file in a form.
func (s *Server) serveUpload(w http.ResponseWriter, r *http.Request) {
	data, err := uploaded(w, r)
	if err != nil {
		http.Error(w, "the upload could not be read", http.StatusBadRequest)

		return
	}

	s.mu.Lock()
	defer s.mu.Unlock()

	f := s.files[r.PathValue("file")]

	switch {
	case f == nil || f.Complete:
		http.Error(w, "no such upload", http.StatusNotFound)
	case len(data) != f.Length:
		http.Error(w, fmt.Sprintf("expected %d bytes, got %d", f.Length, len(data)), http.StatusBadRequest)
	default:
		f.Data, f.uploaded = data, true
		_, _ = io.WriteString(w, "OK - "+strconv.Itoa(len(data)))
	}
}

// uploaded returns the content of the file in a request.
func uploaded(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	body := http.MaxBytesReader(w, r.Body, maxFile+maxBody)

	kind, params, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if kind != "multipart/form-data" {
		return io.ReadAll(body)
	}

	for parts := multipart.NewReader(body, params["boundary"]); ; {
		part, err := parts.NextPart()
		if err != nil {
			return nil, err
		}

		if part.FileName() != "" || part.FormName() == "file" {
			return io.ReadAll(part)
		}
	}
}

// completeUpload completes uploads and shares the files in the given channels, if any.
func (c *call) completeUpload() (object, error) {
	var wanted []struct {
		ID    string `json:"id"`
		Title string `json:"title"`
	}

	if json.Unmarshal([]byte(c.args["files"]), &wanted) != nil || len(wanted) == 0 {
		return nil, &apiError{Code: "invalid_arguments", Messages: []string{"files is required [json-pointer:/files]"}}
	}

	ids := []string{}

	for _, w := range wanted {
		f := c.server.files[w.ID]
		if f == nil || !f.uploaded {
			return nil, refusal("file_not_found")
		}

		ids = append(ids, w.ID)
	}

	if err := c.share(ids); err != nil {
		return nil, err
	}

	for _, w := range wanted {
		f := c.server.files[w.ID]
		f.Complete, f.Title = true, cmp.Or(w.Title, f.Title)
	}

	return object{"files": c.server.fileObjects(ids)}, nil
}

// share posts a message with files in each of the given channels.
func (c *call) share(ids []string) error {
	names := strings.FieldsFunc(c.args["channels"]+","+c.args["channel_id"], func(r rune) bool { return r == ',' })
	posts := []*Message{}

	for _, name := range names {
		v, err := c.server.channel(name)

		switch {
		case err != nil:
			return refusal("channel_not_found")
		case v.NotJoined:
			return refusal("not_in_channel")
		case c.args["thread_ts"] != "" && c.server.find(v.ID, c.args["thread_ts"]) == nil:
			return refusal("thread_not_found")
		}

		text, _ := cutText(c.args["initial_comment"])
		posts = append(posts, &Message{
			Channel: v.ID, ThreadTS: c.args["thread_ts"], User: c.server.self.ID, Bot: true, Text: text, Mentions: mentions(text, nil), Files: slices.Clone(ids),
		})
	}

	for _, m := range posts {
		c.server.add(m)

		for _, id := range ids {
			c.server.files[id].Channels = append(c.server.files[id].Channels, m.Channel)
		}
	}

	return nil
}

// file returns the file in the arguments.
func (c *call) file() (*File, error) {
	f := c.server.files[c.args["file"]]
	if f == nil || !f.Complete {
		return nil, refusal("file_not_found")
	}

	return f, nil
}

func (c *call) fileInfo() (object, error) {
	f, err := c.file()
	if err != nil {
		return nil, err
	}

	return object{"file": c.server.fileObject(f), "comments": []any{}, "response_metadata": object{"next_cursor": ""}}, nil
}

func (c *call) deleteFile() (object, error) {
	f, err := c.file()
	if err != nil {
		return nil, err
	}

	delete(c.server.files, f.ID)

	return object{}, nil
}

// serveDownload sends a file to clients with the token. Slack redirects others to its login page.
func (s *Server) serveDownload(w http.ResponseWriter, r *http.Request) {
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	if token == "" || s.setup.Token != "" && token != s.setup.Token {
		http.Error(w, "not signed in", http.StatusForbidden)

		return
	}

	f, ok := s.Files()[r.PathValue("file")]
	if !ok || !f.Complete {
		http.NotFound(w, r)

		return
	}

	w.Header().Set("Content-Type", cmp.Or(mime.TypeByExtension(path.Ext(f.Name)), "application/octet-stream"))
	_, _ = w.Write(f.Data)
}
