package config

import (
	"encoding/json"
	"time"
)

// A span is a duration as run.json shows it, "2s". One in nanoseconds, as older
// runs have it, is read too.
type span time.Duration

// MarshalText implements encoding.TextMarshaler.
func (s span) MarshalText() ([]byte, error) { return []byte(time.Duration(s).String()), nil }

// UnmarshalJSON implements json.Unmarshaler.
func (s *span) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] != '"' {
		return json.Unmarshal(b, (*time.Duration)(s))
	}
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return err
	}
	d, err := time.ParseDuration(text)
	*s = span(d)
	return err
}

// MarshalJSON prints c with durations as text.
func (c Config) MarshalJSON() ([]byte, error) { return json.Marshal(c.printed()) }

// UnmarshalJSON is the inverse of MarshalJSON.
func (c *Config) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, c.printed()) }

// printed is c with its durations as spans, which stand in for the fields of the
// same names.
func (c *Config) printed() any {
	type fields Config // without these methods
	return &struct {
		*fields
		TTL      *span `json:"ttl"`
		Duration *span `json:"duration"`
		Final    *span `json:"final"`
	}{(*fields)(c), (*span)(&c.TTL), (*span)(&c.Duration), (*span)(&c.Final)}
}

// MarshalJSON prints l with durations as text.
func (l Load) MarshalJSON() ([]byte, error) { return json.Marshal(l.printed()) }

// UnmarshalJSON is the inverse of MarshalJSON.
func (l *Load) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, l.printed()) }

func (l *Load) printed() any {
	type fields Load // without these methods
	return &struct {
		*fields
		Wait     *span `json:"wait"`
		Patience *span `json:"patience"`
		Timeout  *span `json:"timeout"`
	}{(*fields)(l), (*span)(&l.Wait), (*span)(&l.Patience), (*span)(&l.Timeout)}
}
