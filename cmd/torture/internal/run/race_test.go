//go:build race

package run

const raceDetector = true
