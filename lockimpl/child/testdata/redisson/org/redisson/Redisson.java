package org.redisson;

import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

public abstract class Redisson {
    public static RedissonClient create(Config config) {
        throw new UnsupportedOperationException();
    }
}
