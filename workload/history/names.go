package history

import (
	"fmt"
	"slices"
	"strings"
)

var kindNames = [...]string{Invoke: "invoke", OK: "ok", Fail: "fail", Info: "info"}

var opNames = [...]string{
	Acquire: "acquire", Extend: "extend", Release: "release", Write: "write", Read: "read", Lost: "lost",
	Fault: "fault", Heal: "heal", Audit: "audit", Key: "key", Phase: "phase", Receipt: "receipt", Stall: "stall",
}

var modeNames = [...]string{Exclusive: "x", Shared: "r"}

func (k Kind) String() string { return name(kindNames[:], int(k)) }
func (o Op) String() string   { return name(opNames[:], int(o)) }
func (m Mode) String() string { return name(modeNames[:], int(m)) }

func name(names []string, i int) string {
	if i >= 0 && i < len(names) && names[i] != "" {
		return names[i]
	}
	return fmt.Sprintf("?%d", i)
}

func kindOf(w []byte) (Kind, bool) {
	switch string(w) {
	case "invoke":
		return Invoke, true
	case "ok":
		return OK, true
	case "fail":
		return Fail, true
	case "info":
		return Info, true
	}
	return 0, false
}

func opOf(w []byte) (Op, bool) {
	switch string(w) {
	case "acquire":
		return Acquire, true
	case "release":
		return Release, true
	case "write":
		return Write, true
	}
	for i, name := range opNames {
		if name != "" && name == string(w) {
			return Op(i), true
		}
	}
	return 0, false
}

func modeOf(w []byte) (Mode, bool) {
	for i, name := range modeNames {
		if name == string(w) {
			return Mode(i), true
		}
	}
	return 0, false
}

// list joins the names that are not empty.
func list(names []string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(names), func(s string) bool { return s == "" }), ", ")
}
