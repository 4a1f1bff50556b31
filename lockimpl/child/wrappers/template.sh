#!/bin/sh
# A template: the smallest child that follows the protocol, around a lock that
# is a directory (mkdir is atomic). Replace what is between the dashes by calls
# of your library. It declares no clock and so is judged by the harness's.

say() { printf '%s\n' "$1"; }
text() { printf '%s' "$line" | sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }
number() { printf '%s' "$line" | sed -n "s/.*\"$1\":\(-\{0,1\}[0-9][0-9]*\).*/\1/p"; }

while IFS= read -r line; do
	id=$(number id) h=$(text h)
	case $(text t) in
	init)
		# ---- connect to the nodes in $(text nodes), "host:port,host:port"
		dir=${LOCK_DIR:?a directory for the locks}
		# ----
		say "{\"t\":\"init_ok\",\"re\":$id,\"lib\":\"mkdir\",\"caps\":\"\",\"clock\":\"none\"}"
		;;
	acquire)
		key=$(text key)
		# ---- one try for wait_ms 0; for more, wait that long (-1: for ever)
		if mkdir "$dir/$key" 2>/dev/null; then
			printf '%s' "$key" >"$dir/$h.$$"
			say "{\"t\":\"acquire_ok\",\"re\":$id,\"h\":\"$h\"}"
		else
			say "{\"t\":\"acquire_no\",\"re\":$id,\"h\":\"$h\",\"why\":\"taken\"}"
		fi
		# ----
		;;
	release)
		# ---- release_no: it was lost; error with definite false: who knows
		if rmdir "$dir/$(cat "$dir/$h.$$")" 2>/dev/null; then
			say "{\"t\":\"release_ok\",\"re\":$id,\"h\":\"$h\"}"
		else
			say "{\"t\":\"release_no\",\"re\":$id,\"h\":\"$h\"}"
		fi
		# ----
		;;
	quit)
		say "{\"t\":\"bye\",\"re\":$id}"
		exit 0
		;;
	*)
		say "{\"t\":\"error\",\"re\":$id,\"h\":\"$h\",\"definite\":true,\"text\":\"no such verb\"}"
		;;
	esac
done
