package org.redisson.config;

public class SingleServerConfig extends BaseConfig<SingleServerConfig> {
    public SingleServerConfig setAddress(String address) {
        return this;
    }

    public SingleServerConfig setConnectionMinimumIdleSize(int size) {
        return this;
    }

    public SingleServerConfig setConnectionPoolSize(int size) {
        return this;
    }

    public SingleServerConfig setDatabase(int database) {
        return this;
    }
}

class BaseConfig<T extends BaseConfig<T>> {
    @SuppressWarnings("unchecked")
    private T self() {
        return (T) this;
    }

    public T setUsername(String username) {
        return self();
    }

    public T setPassword(String password) {
        return self();
    }

    public T setRetryAttempts(int retryAttempts) {
        return self();
    }

    public T setTimeout(int timeout) {
        return self();
    }

    public T setConnectTimeout(int connectTimeout) {
        return self();
    }
}
