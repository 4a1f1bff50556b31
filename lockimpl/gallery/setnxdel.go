package gallery

import (
	"context"
	"time"

	"locktorture/lockimpl"
)

// SetNXDel is the recipe `setnx-del`.
//
// Acquire: SETNX key 1, one atomic step. Release: DEL key. There is no expiry:
// the TTL asked for is ignored.
//
// Flaw: a holder that crashes leaves a key behind that nothing ever removes:
// everybody else waits for ever (L1, L8).
//
// Shown by: killing the holder.
// Corrected by: `set-nx-ex-del`, whose key expires.
func SetNXDel() lockimpl.Factory {
	return onFirst(func(m master) lockimpl.Locker { return setNXDel{m} })
}

func setNXDelRecipe() Recipe {
	return Recipe{
		ID: "setnx-del", Unchecked: true,
		Flaw:        "no expiry: a crashed holder blocks everybody for ever",
		Needs:       "kill the holder",
		Expected:    []string{"L1", "L8"},
		CorrectedBy: "set-nx-ex-del",
		Nodes:       1,
		Factory:     SetNXDel(),
	}
}

type setNXDel struct{ master }

func (l setNXDel) Acquire(ctx context.Context, key string, _ time.Duration) (lockimpl.Lease, error) {
	ok, err := l.setNX(ctx, key, 1)
	return granted(ok, err, &lease{release: l.del(key)})
}
