package config

import (
	"errors"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// What a value of the wrong kind should have been. The value itself is never
// part of the message: it may be a secret that stands in the wrong place.
var (
	errWantInt      = errors.New("expected a whole number")
	errWantFloat    = errors.New("expected a number")
	errWantBool     = errors.New("expected true or false")
	errWantDuration = errors.New(`expected a duration such as "90s", "40m" or "1h30m"`)
	errWantText     = errors.New("expected text")
	errSection      = errors.New("is a section; name one of its keys")
	errSectionList  = errors.New("is a list of sections; it can only be written in a file")
)

// setText converts text to the kind of v: the way of defaults, overrides and
// values that came through an environment variable. Lists are separated by commas.
func setText(v reflect.Value, text string, f field) error {
	switch {
	case isDuration(v.Type()):
		d, err := parseDuration(text, f.seconds)
		if err != nil {
			return err
		}
		v.SetInt(int64(d))
		return nil
	case v.Kind() == reflect.Pointer:
		elem := reflect.New(v.Type().Elem())
		if err := setText(elem.Elem(), text, f); err != nil {
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

func setList(v reflect.Value, text string, f field) error {
	if isSection(v.Type().Elem()) {
		return errSectionList
	}
	list := reflect.MakeSlice(v.Type(), 0, 0)
	if strings.TrimSpace(text) != "" {
		for part := range strings.SplitSeq(text, ",") {
			elem := reflect.New(v.Type().Elem()).Elem()
			if err := setText(elem, strings.TrimSpace(part), f); err != nil {
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
