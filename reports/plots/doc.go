// Package plots draws the figures of a run as SVG and PNG. Every figure can be
// drawn of every run: of one without a grant it says so in words.
package plots
