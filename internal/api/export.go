package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/plaintext"
	"tarsy.dev/tarsy/internal/report"
)

// indent is the indentation of exported JSON.
const indent = "  "

// exportFormat is the format of an export.
type exportFormat string

const (
	formatJSON     exportFormat = "json"
	formatMarkdown exportFormat = "markdown"

	markdownType = "text/markdown; charset=utf-8"
)

type exportInput struct {
	ID     string       `doc:"The id of a session."              path:"id"`
	Format exportFormat `doc:"All data, or a report for people." enum:"json,markdown" default:"json" query:"format"`
}

// exportOutput writes itself: the response may be large, and is not held in memory a second time as text. See writeExport.
type exportOutput struct {
	ContentType string `header:"Content-Type"        hidden:"true"`
	Disposition string `header:"Content-Disposition"`
	Body        func(huma.Context)
}

func (s *sessions) exportSession(ctx context.Context, in *exportInput) (*exportOutput, error) {
	err := checkParameters(in)
	if err != nil {
		return nil, err
	}

	err = checkID(in.ID)
	if err != nil {
		return nil, err
	}

	export, err := s.export(ctx, in.ID)
	if err != nil {
		return nil, fmt.Errorf("export session: %w", err)
	}

	export.SessionURL = tarsy.SessionURL(s.public.url, in.ID)

	name := fmt.Sprintf("tarsy-%s-%.8s", slug(export.Session.AlertType), export.Session.ID)

	if in.Format == formatMarkdown {
		return attached(s.logger, name+".md", markdownType, func(w io.Writer) error {
			_, err := io.WriteString(w, report.Markdown(export))

			return err
		}), nil
	}

	return attached(s.logger, name+".json", jsonType, func(w io.Writer) error { return writeExport(w, export) }), nil
}

// writeExport writes an export as indented JSON, one event at a time: an encoder holds its whole output twice, and a timeline may have
// hundreds of megabytes.
func writeExport(w io.Writer, export *tarsy.Export) error {
	p := newPieces(w)

	p.text("{\n  \"exported_at\": ").value(export.ExportedAt, indent)
	if export.SessionURL != "" {
		p.text(",\n  \"session_url\": ").value(export.SessionURL, indent)
	}

	p.text(",\n  \"session\": ").value(export.Session, indent)
	p.text(",\n  \"timeline\": [")

	for i := range export.Timeline {
		if i > 0 {
			p.text(",")
		}

		p.text("\n    ").value(export.Timeline[i], indent+indent)
	}

	if len(export.Timeline) > 0 {
		p.text("\n  ")
	}

	p.text("],\n  \"trace\": ").value(export.Trace, indent)
	p.text("\n}\n")

	return p.err
}

// pieces writes JSON piece by piece, until the first error. All pieces share one buffer.
type pieces struct {
	w       io.Writer
	buffer  bytes.Buffer
	encoder *json.Encoder
	err     error
}

func newPieces(w io.Writer) *pieces {
	p := &pieces{w: w}
	p.encoder = json.NewEncoder(&p.buffer)
	p.encoder.SetEscapeHTML(false)

	return p
}

func (p *pieces) text(text string) *pieces {
	if p.err == nil {
		_, p.err = io.WriteString(p.w, text)
	}

	return p
}

func (p *pieces) value(value any, prefix string) {
	if p.err != nil {
		return
	}

	p.buffer.Reset()
	p.encoder.SetIndent(prefix, indent)

	p.err = p.encoder.Encode(value)
	if p.err == nil {
		_, p.err = p.w.Write(plaintext.EscapeInvisible(bytes.TrimSuffix(p.buffer.Bytes(), []byte("\n"))))
	}
}

// attached is a response that browsers save as a file.
func attached(logger *slog.Logger, name, mediaType string, write func(io.Writer) error) *exportOutput {
	return &exportOutput{
		ContentType: mediaType, Disposition: `attachment; filename="` + name + `"`,
		Body: func(answer huma.Context) {
			answer.SetStatus(http.StatusOK)

			err := write(answer.BodyWriter())
			if err != nil {
				logger.DebugContext(answer.Context(), "answer not delivered", "error", err)
				panic(http.ErrAbortHandler) // a truncated file must not look complete
			}
		},
	}
}

// slug converts a name for use in a file name: lower-case letters and digits, with a dash for everything in between.
func slug(name string) string {
	const longest = 40

	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})

	text := strings.Trim(plaintext.Cut(strings.Join(words, "-"), longest), "-")
	if text == "" {
		return "alert"
	}

	return text
}
