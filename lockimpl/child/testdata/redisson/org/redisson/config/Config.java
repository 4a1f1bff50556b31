package org.redisson.config;

public class Config {
    public SingleServerConfig useSingleServer() {
        throw new UnsupportedOperationException();
    }

    public Config setLockWatchdogTimeout(long milliseconds) {
        throw new UnsupportedOperationException();
    }
}
