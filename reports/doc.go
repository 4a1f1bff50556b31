// Package reports turns a finished run into what people read: results.json,
// summary.md, junit.xml, bench.txt, histograms, figures and report.html.
//
// All of it follows from the run directory: run.json, the history, and the
// checker's report. It can be written again at any time.
package reports
