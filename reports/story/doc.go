// Package story turns a violation into something to follow: a numbered story,
// and the spans of time that a picture of it shows.
package story
