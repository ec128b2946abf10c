package schema

import (
	"encoding"
	"errors"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

// Expected kinds for a value of the wrong kind. The value itself is never part of the message: it may be a misplaced secret.
var (
	errWantInt      = errors.New("expected a whole number")
	errWantUint     = errors.New("expected a whole number that is not negative")
	errWantFloat    = errors.New("expected a number")
	errWantBool     = errors.New("expected true or false")
	errWantDuration = errors.New(`expected a duration such as "90s", "40m" or "1h30m"`)
	errWantText     = errors.New("expected text")
	errSection      = errors.New("is a section; name one of its keys")
	errSectionList  = errors.New("is a list of sections; it can only be written in a file")
)

// Scalar is a value that decodes itself from plain text, regardless of its kind in YAML. It is implemented by pointers.
type Scalar interface {
	encoding.TextUnmarshaler
	// JSONSchema describes the accepted values.
	JSONSchema() *jsonschema.Schema
}

// asScalar returns v as a Scalar, or nil if it is not one.
func asScalar(v reflect.Value) Scalar {
	if !v.CanAddr() {
		return nil
	}
	own, _ := reflect.TypeAssert[Scalar](v.Addr())
	return own
}

func isWhole(kind reflect.Kind) bool { return kind == reflect.Int || kind == reflect.Uint64 }

// SetText converts text to the kind of v. It is used for defaults, overrides and values from environment variables. Lists are
// separated by commas.
func SetText(v reflect.Value, text string, f Field) error {
	if own := asScalar(v); own != nil {
		return own.UnmarshalText([]byte(strings.TrimSpace(text)))
	}
	switch {
	case isDuration(v.Type()):
		d, err := parseDuration(text, f.Seconds)
		if err != nil {
			return err
		}
		v.SetInt(int64(d))
		return nil
	case v.Kind() == reflect.Pointer:
		elem := reflect.New(v.Type().Elem())
		if err := SetText(elem.Elem(), text, f); err != nil {
			return err
		}
		v.Set(elem)
		return nil
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		b, err := strconv.ParseBool(strings.TrimSpace(text))
		if err != nil {
			return errWantBool
		}
		v.SetBool(b)
	case reflect.Int:
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil {
			return errWantInt
		}
		v.SetInt(int64(n))
	case reflect.Uint64:
		n, err := strconv.ParseUint(strings.TrimSpace(text), 10, 64)
		if err != nil {
			return errWantUint
		}
		v.SetUint(n)
	case reflect.Float64:
		n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
			return errWantFloat
		}
		v.SetFloat(n)
	case reflect.Slice:
		return setList(v, text, f)
	default:
		return errSection
	}
	return nil
}

func setList(v reflect.Value, text string, f Field) error {
	if IsSection(v.Type().Elem()) {
		return errSectionList
	}
	list := reflect.MakeSlice(v.Type(), 0, 0)
	if strings.TrimSpace(text) != "" {
		for part := range strings.SplitSeq(text, ",") {
			elem := reflect.New(v.Type().Elem()).Elem()
			if err := SetText(elem, strings.TrimSpace(part), f); err != nil {
				return err
			}
			list = reflect.Append(list, elem)
		}
	}
	v.Set(list)
	return nil
}

func parseDuration(text string, secondsToo bool) (time.Duration, error) {
	text = strings.TrimSpace(text)
	if secondsToo {
		if n, err := strconv.ParseInt(text, 10, 32); err == nil {
			return time.Duration(n) * time.Second, nil
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, errWantDuration
	}
	return d, nil
}
