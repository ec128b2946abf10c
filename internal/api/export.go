package api

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/report"
)

// exportFormat is a form in which a session leaves.
type exportFormat string

const (
	formatJSON     exportFormat = "json"
	formatMarkdown exportFormat = "markdown"

	markdownType = "text/markdown; charset=utf-8"
)

type exportInput struct {
	ID     string `doc:"The id of a session."              path:"id"`
	Format string `doc:"All data, or a report for people." enum:"json,markdown" default:"json" query:"format"`
}

// exportOutput writes itself: the answer may be large, and is not kept a second time as text.
type exportOutput struct {
	ContentType string `header:"Content-Type"        hidden:"true"`
	Disposition string `header:"Content-Disposition"`
	Body        func(huma.Context)
}

func (s *Server) addExport() {
	schema := s.huma.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[tarsy.Export](), true, "")

	add(s, tarsy.ScopeRead, huma.Operation{
		OperationID: "export-session", Method: http.MethodGet, Path: "/api/v1/sessions/{id}/export", Summary: "Export a session as a file",
		Responses: map[string]*huma.Response{strconv.Itoa(http.StatusOK): {
			Content: map[string]*huma.MediaType{
				jsonType:        {Schema: schema},
				"text/markdown": {Schema: &huma.Schema{Type: huma.TypeString}},
			},
		}},
	}, nil, s.exportSession)
}

func (s *Server) exportSession(ctx context.Context, in *exportInput) (*exportOutput, error) {
	format, err := oneOfParameter("format", in.Format, formatJSON, formatMarkdown)
	if err != nil {
		return nil, err
	}

	err = checkID(in.ID)
	if err != nil {
		return nil, err
	}

	export, err := s.store.Export(ctx, in.ID)
	if err != nil {
		return nil, fmt.Errorf("export session: %w", err)
	}

	if format == formatMarkdown {
		return s.attached(export, markdownType, "md", func(w io.Writer) error {
			_, err := io.WriteString(w, report.Markdown(export))

			return err
		}), nil
	}

	return s.attached(export, jsonType, "json", func(w io.Writer) error {
		encoder := json.NewEncoder(w)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", indent)

		return encoder.Encode(export)
	}), nil
}

// attached is an answer that browsers keep as a file.
func (s *Server) attached(export *tarsy.Export, mediaType, extension string, write func(io.Writer) error) *exportOutput {
	name := fmt.Sprintf("tarsy-%s-%.8s.%s", slug(export.Session.AlertType), export.Session.ID, extension)

	return &exportOutput{
		ContentType: mediaType, Disposition: `attachment; filename="` + name + `"`,
		Body: func(answer huma.Context) {
			answer.SetStatus(http.StatusOK)

			err := write(answer.BodyWriter())
			if err != nil {
				s.logger.DebugContext(answer.Context(), "answer not delivered", "error", err)
			}
		},
	}
}

// slug makes a name fit for a file's: small letters and digits, with a dash for whatever is between.
func slug(name string) string {
	const longest = 40

	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})

	text := strings.Trim(tarsy.CutText(strings.Join(words, "-"), longest), "-")
	if text == "" {
		return "alert"
	}

	return text
}
