package faults_test

import (
	"testing"

	"locktorture/faults/internal/faulttest"
)

func TestMain(m *testing.M) { faulttest.Main(m) }
