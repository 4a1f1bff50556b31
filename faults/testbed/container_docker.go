package testbed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/log"
)

// prepareLibrary keeps testcontainers silent, and without its reaper: that is a
// container of one more image, and SweepContainers does its work. The library
// reads the variable once.
var prepareLibrary = sync.OnceValue(func() error {
	log.SetDefault(log.NewNoopLogger())
	return os.Setenv("TESTCONTAINERS_RYUK_DISABLED", "true")
})

// openDocker connects to the Docker engine that DOCKER_HOST, the current
// context or the default socket names. Containers publish their ports on
// loopback, so it must be this machine's.
func openDocker() (*testcontainers.DockerProvider, error) {
	if err := prepareLibrary(); err != nil {
		return nil, err
	}
	p, err := testcontainers.ProviderDocker.GetProvider(testcontainers.WithLogger(log.NewNoopLogger()))
	if err != nil {
		return nil, fmt.Errorf("no Docker engine answers: %w", err)
	}
	docker, ok := p.(*testcontainers.DockerProvider)
	if !ok {
		return nil, fmt.Errorf("no Docker engine, but a %T", p)
	}
	// The library tries other sockets when that one is silent.
	if want, got := os.Getenv("DOCKER_HOST"), docker.Client().DaemonHost(); want != "" && got != want {
		return nil, errors.Join(fmt.Errorf("no Docker engine answers at DOCKER_HOST %s", want), docker.Close())
	}
	return docker, nil
}

// haveImage reports whether the engine has the image.
func haveImage(ctx context.Context, docker *testcontainers.DockerProvider, image string) (bool, error) {
	_, err := docker.Client().ImageInspect(ctx, image)
	switch {
	case err == nil:
		return true, nil
	case errdefs.IsNotFound(err):
		return false, nil
	}
	return false, fmt.Errorf("look for image %s: %w", image, err)
}

// ensureImage pulls the image when the engine does not have it.
func ensureImage(ctx context.Context, docker *testcontainers.DockerProvider, image string) error {
	have, err := haveImage(ctx, docker, image)
	if have || err != nil {
		return err
	}
	if err := docker.PullImage(ctx, image); err != nil {
		return fmt.Errorf("image %s is not here and cannot be pulled: %w", image, err)
	}
	return nil
}

// CanContain returns nil where StartContainer can run image without a
// download, or what is missing. Empty is DefaultImage.
func CanContain(ctx context.Context, image string) error {
	d := detectContainer(ctx, Config{Kind: KindAuto, Image: image})
	if !d.Available {
		return errors.New(d.Detail)
	}
	return nil
}

// engineVersion asks the engine, e.g. "docker 28.2.2".
func engineVersion(ctx context.Context, docker *testcontainers.DockerProvider) (string, error) {
	v, err := docker.Client().ServerVersion(ctx, client.ServerVersionOptions{})
	if err != nil {
		return "", fmt.Errorf("ask the Docker engine for its version: %w", err)
	}
	return "docker " + v.Version, nil
}
