package memredis

// commands are those that the server knows, by name. It is filled in init's
// place by a function, since scripts, which are commands, call commands.
var commands map[string]command

func init() { commands = table() }

func table() map[string]command {
	return map[string]command{
		"PING":     {-1, false, func(_ *Server, args []string) any { return pong(args) }},
		"HELLO":    {-1, false, hello},
		"CLIENT":   {-2, false, clientCommand},
		"SELECT":   {2, false, func(*Server, []string) any { return ok }},
		"INFO":     {-1, false, info},
		"TIME":     {1, false, timeOfDay},
		"DBSIZE":   {1, false, func(s *Server, _ []string) any { return int64(len(s.names())) }},
		"FLUSHALL": {-1, true, flush},
		"FLUSHDB":  {-1, true, flush},
		"PUBLISH":  {3, false, func(s *Server, args []string) any { return s.publish(args[1], args[2]) }},

		"EVAL":    {-3, false, eval},
		"EVALSHA": {-3, false, evalsha},
		"SCRIPT":  {-2, false, scriptCommand},

		"EXISTS": {-2, false, exists},
		"DEL":    {-2, true, del},
		"UNLINK": {-2, true, del},
		"TYPE":   {2, false, typeOf},
		"KEYS":   {2, false, keysLike},
		"SCAN":   {-2, false, scan},

		"TTL":         {2, false, left(1000, false)},
		"PTTL":        {2, false, left(1, false)},
		"EXPIRETIME":  {2, false, left(1000, true)},
		"PEXPIRETIME": {2, false, left(1, true)},
		"EXPIRE":      {-3, true, expire(1000, false)},
		"PEXPIRE":     {-3, true, expire(1, false)},
		"EXPIREAT":    {-3, true, expire(1000, true)},
		"PEXPIREAT":   {-3, true, expire(1, true)},
		"PERSIST":     {2, true, persist},

		"GET":    {2, false, get},
		"MGET":   {-2, false, mget},
		"SET":    {-3, true, set},
		"SETNX":  {3, true, setnx},
		"SETEX":  {4, true, setex("setex", "EX")},
		"PSETEX": {4, true, setex("psetex", "PX")},
		"GETSET": {3, true, getset},
		"GETDEL": {2, true, getdel},
		"INCR":   {2, true, incr(1)},
		"DECR":   {2, true, incr(-1)},
		"INCRBY": {3, true, incr(1)},
		"DECRBY": {3, true, incr(-1)},
		"STRLEN": {2, false, strlen},

		"HSET":    {-4, true, hset},
		"HSETNX":  {4, true, hsetnx},
		"HGET":    {3, false, hget},
		"HMGET":   {-3, false, hmget},
		"HGETALL": {2, false, hgetall},
		"HDEL":    {-3, true, hdel},
		"HEXISTS": {3, false, hexists},
		"HLEN":    {2, false, hlen},
		"HINCRBY": {4, true, hincrby},

		"ZADD":             {-4, true, zadd},
		"ZREM":             {-3, true, zrem},
		"ZSCORE":           {3, false, zscore},
		"ZCARD":            {2, false, zcard},
		"ZRANK":            {3, false, zrank},
		"ZRANGE":           {-4, false, zrange},
		"ZRANGEBYSCORE":    {-4, false, zrangebyscore},
		"ZCOUNT":           {4, false, zcount},
		"ZREMRANGEBYSCORE": {4, true, zremrangebyscore},

		"XADD":   {-5, true, xadd},
		"XLEN":   {2, false, xlen},
		"XRANGE": {-4, false, xrange},
	}
}

func pong(args []string) any {
	if len(args) > 1 {
		return args[1]
	}
	return status("PONG")
}
