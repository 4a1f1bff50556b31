package history

import "fmt"

var kindNames = [...]string{Invoke: "invoke", OK: "ok", Fail: "fail", Info: "info"}

var opNames = [...]string{
	Acquire: "acquire", Extend: "extend", Release: "release", Write: "write", Read: "read", Lost: "lost",
	Fault: "fault", Heal: "heal", Audit: "audit", Key: "key", Phase: "phase", Receipt: "receipt",
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
