package config

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// shownValue is a line of the report, and an element of its JSON.
type shownValue struct {
	Key     string `json:"key"`
	Value   string `json:"value"` // of a secret "set" or "unset"
	From    string `json:"from"`  // default, file, environment or flag
	Where   string `json:"where,omitempty"`
	Default string `json:"default"`
	Unit    string `json:"unit"`
	Effect  string `json:"effect"`
	Reload  bool   `json:"reload"` // SIGHUP applies a change
	Secret  bool   `json:"secret"`
	Flag    string `json:"flag"`
	Env     string `json:"env"`
}

// report lists the values.
func (l *Loaded) report() []shownValue {
	all := make([]shownValue, 0, len(l.Values))
	for i := range l.Values {
		v := &l.Values[i]
		k := v.Key
		all = append(all, shownValue{
			k.Name, v.Shown(), v.From, v.Where, k.shown(k.Default), k.Unit, k.Effect, k.Reload, k.Secret, "--" + k.Flag(), k.Env(),
		})
	}
	return all
}

// WriteJSON writes every key with all that is to be known of it: {"file": …, "keys": [{"key", "value", "from", …}]}.
func (l *Loaded) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(struct {
		File string       `json:"file"`
		Keys []shownValue `json:"keys"`
	}{l.File, l.report()})
}

// WriteText writes every key on a line of its own, for a person.
func (l *Loaded) WriteText(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	var b strings.Builder
	b.WriteString("KEY\tVALUE\tFROM\tDEFAULT\tUNIT\tEFFECT\n")
	for _, v := range l.report() {
		from := v.From
		if v.Where != "" {
			from = strings.TrimSuffix(v.Where, ": "+v.Key)
		}
		fmt.Fprintf(&b, "%s\t%s\t%s\t%s\t%s\t%s\n", v.Key, orDash(v.Value), from, orDash(v.Default), v.Unit, v.Effect)
	}
	if _, err := io.WriteString(t, b.String()); err != nil {
		return err
	}
	return t.Flush()
}

// orDash makes an empty cell of a table visible.
func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
