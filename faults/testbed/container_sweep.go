package testbed

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"

	"locktorture/faults/testbed/internal/proc"
)

// Labels on every container of a testbed.
const (
	labelBed   = "locktorture.testbed" // which testbed: random
	labelOwner = "locktorture.owner"   // which process: see owner
	labelNode  = "locktorture.node"    // n1, n2, …, store
)

func newBedID() string {
	var b [6]byte
	_, _ = rand.Read(b[:]) // it never fails
	return hex.EncodeToString(b[:])
}

// owner identifies a process beyond its life: the machine's name, its process
// id, and when it began.
func owner(ctx context.Context, pid int) string {
	host, _ := os.Hostname()
	return fmt.Sprintf("%s/%d/%s", host, pid, proc.Began(ctx, pid))
}

// SweepContainers removes the containers that harnesses left on this machine's
// Docker engine when they died, whatever state they are in, and says which. It
// touches neither those of a harness that is alive nor those of another
// machine.
func SweepContainers(ctx context.Context) ([]string, error) {
	docker, err := openDocker()
	if err != nil {
		return nil, fmt.Errorf("sweep containers: %w", err)
	}
	did, err := sweepContainers(ctx, docker)
	return did, errors.Join(err, docker.Close())
}

func sweepContainers(ctx context.Context, docker *testcontainers.DockerProvider) ([]string, error) {
	did, err := removeLabelled(ctx, docker, labelOwner, func(labels map[string]string) bool {
		return orphaned(ctx, labels[labelOwner])
	})
	if err != nil {
		return did, fmt.Errorf("sweep containers: %w", err)
	}
	return did, nil
}

// orphaned reports whether an owner was of this machine and has died.
func orphaned(ctx context.Context, who string) bool {
	host, rest, _ := strings.Cut(who, "/")
	id, _, _ := strings.Cut(rest, "/")
	pid, err := strconv.Atoi(id)
	here, hostErr := os.Hostname()
	return err == nil && hostErr == nil && host == here && owner(ctx, pid) != who
}

// removeLabelled removes the containers with a label, those alone for which
// match holds; nil matches all. It names what it removed.
func removeLabelled(ctx context.Context, docker *testcontainers.DockerProvider, label string, match func(labels map[string]string) bool) ([]string, error) {
	all, err := docker.Client().ContainerList(ctx, client.ContainerListOptions{
		All: true, Filters: client.Filters{}.Add("label", label),
	})
	if err != nil {
		return nil, fmt.Errorf("list containers labelled %s: %w", label, err)
	}
	var did []string
	var errs []error
	for _, c := range all.Items {
		if match != nil && !match(c.Labels) {
			continue
		}
		err := removeContainer(ctx, docker, c.ID)
		if err == nil {
			did = append(did, fmt.Sprintf("removed container %s (%s of %s)", short(c.ID), c.Labels[labelNode], c.Labels[labelOwner]))
		}
		errs = append(errs, err)
	}
	return did, errors.Join(errs...)
}

// removeContainer ends and removes a container, paused or not, with its data.
// It succeeds on one already gone.
func removeContainer(ctx context.Context, docker *testcontainers.DockerProvider, id string) error {
	_, err := docker.Client().ContainerRemove(ctx, id, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
	if err == nil || errdefs.IsNotFound(err) {
		return nil
	}
	if errdefs.IsConflict(err) { // somebody else is removing it
		return nil
	}
	return fmt.Errorf("remove container %s: %w", short(id), err)
}

// short is a container's id as docker ps shows it.
func short(id string) string { return id[:min(12, len(id))] }
