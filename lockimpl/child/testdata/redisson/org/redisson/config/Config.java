package org.redisson.config;

public class Config {
    public SingleServerConfig useSingleServer() {
        throw new UnsupportedOperationException();
    }
}
