package catalogue

import (
	"locktorture/faults"
	"locktorture/faults/link"
)

var zombieEntry = Entry{
	Name:     "zombie",
	Wire:     "Requests are held and delivered at the heal, even when the client has given up and gone.",
	Survives: "A late acquire expires by itself, a late release frees nobody else's lease.",
	Default:  faults.Params{Client: faults.RoleAny, Node: faults.RoleMinority}, Takes: true, For: ttlTimes(1.25),
	New: on("zombie", link.Zombie),
}
