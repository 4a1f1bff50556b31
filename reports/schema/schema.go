// Package schema holds the JSON Schemas of the files that others read: results.json of
// a run, capacity.json and night.json.
package schema

import "embed"

// Files are the schemas, as results.schema.json and so on.
//
//go:embed *.schema.json
var Files embed.FS
