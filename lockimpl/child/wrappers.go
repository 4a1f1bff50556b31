package child

import _ "embed"

// The wrappers that come with the package, as programs for an interpreter's
// command line: python3 -c, ruby -e.
var (
	//go:embed wrappers/redis_py.py
	RedisPy string // redis-py's Lock; with --no-timeout as it comes, without an expiry

	//go:embed wrappers/redis_asyncio.py
	RedisAsyncio string // redis-py's Lock for asyncio

	//go:embed wrappers/redis_rb.rb
	RedisRb string // SET NX PX, and scripts that compare the owner, over redis-rb

	//go:embed wrappers/my_lock.mjs
	NodeRedis string // the same over a few lines of the Redis protocol, for Node without any library

	//go:embed wrappers/redlock_ioredis.mjs
	RedlockIORedis string // node-redlock over ioredis

	//go:embed wrappers/redisson.java.txt
	Redisson string // Redisson's RLock, as a program of one file

	//go:embed wrappers/my_lock.go.txt
	GoRedis string // the same over go-redis, as a program to be compiled (Serve)
)
