package mq9

import (
	"bytes"
	"encoding/json"
	"io"
	"strconv"
	"unicode/utf8"
)

// object decodes one flat JSON object strictly: set is called for each key with its raw value and refuses what it does
// not know. An empty body reads as {}. Broken JSON, a repeated key and anything behind the object are refused.
func object(body []byte, set func(key string, raw json.RawMessage) *Error) *Error {
	broken := Errorf(CodeBadRequest, "the body must be one JSON object, or empty")
	if len(bytes.TrimSpace(body)) == 0 {
		return nil
	}
	if !utf8.Valid(body) {
		return Errorf(CodeBadRequest, "the body is not valid UTF-8: send one JSON object")
	}
	d := json.NewDecoder(bytes.NewReader(body))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return broken
	}
	seen := map[string]bool{}
	for d.More() {
		token, err := d.Token()
		key, isKey := token.(string)
		if err != nil || !isKey {
			return broken
		}
		if seen[key] {
			return Errorf(CodeBadRequest, "key %s stands twice: give it once", quote(key))
		}
		seen[key] = true
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return broken
		}
		if err := set(key, raw); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil { // the closing brace
		return broken
	}
	if _, err := d.Token(); err != io.EOF {
		return Errorf(CodeBadRequest, "there is text behind the JSON object: send one object alone")
	}
	return nil
}

// quote shows a caller's key in a refusal, cut to a length that fits one line.
func quote(key string) string {
	const longest = 40
	if len(key) > longest {
		key = key[:longest] + "…"
	}
	return strconv.QuoteToASCII(key)
}

// whole reads a JSON number that must be a whole one between least and most.
func whole(key string, raw json.RawMessage, least, most int64) (int64, *Error) {
	for _, c := range raw {
		if c < '0' || c > '9' {
			return 0, Errorf(CodeBadRequest, "%s must be a whole number from %d to %d, written in digits alone", key, least, most)
		}
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil || n < least || n > most {
		return 0, Errorf(CodeBadRequest, "%s must be from %d to %d", key, least, most)
	}
	return n, nil
}

// text reads a JSON string.
func text(key string, raw json.RawMessage) (string, *Error) {
	var s *string
	if err := json.Unmarshal(raw, &s); err != nil || s == nil {
		return "", Errorf(CodeBadRequest, "%s must be a string", key)
	}
	return *s, nil
}

// truth reads a JSON boolean.
func truth(key string, raw json.RawMessage) (bool, *Error) {
	var b *bool
	if err := json.Unmarshal(raw, &b); err != nil || b == nil {
		return false, Errorf(CodeBadRequest, "%s must be true or false", key)
	}
	return *b, nil
}

// encode renders a reply. The types it is given hold strings, numbers and booleans only, which cannot fail to encode.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("mq9: a reply that cannot be encoded: " + err.Error())
	}
	return b
}
