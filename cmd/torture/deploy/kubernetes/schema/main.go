// Command schema checks, without a cluster, that every object in the YAML files that it
// is given is one of Kubernetes's: no field that its kind does not have, none of
// another type.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

func main() {
	checked := 0
	for _, path := range os.Args[1:] {
		n, err := check(path)
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", path, err)
			os.Exit(1)
		}
		checked += n
	}
	if checked == 0 {
		fmt.Fprintln(os.Stderr, "usage: schema FILE…: there was no object to check")
		os.Exit(64)
	}
	fmt.Printf("%d objects are as Kubernetes has them\n", checked)
}

// check counts the objects of a file.
func check(path string) (n int, err error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	for i, text := range bytes.Split(raw, []byte("\n---\n")) {
		var kind metav1.TypeMeta
		if err := yaml.Unmarshal(text, &kind); err != nil {
			return n, fmt.Errorf("object %d: %w", i+1, err)
		}
		object, err := empty(kind)
		if err == nil {
			err = yaml.UnmarshalStrict(text, object)
		}
		if err != nil {
			return n, fmt.Errorf("object %d, %s %s: %w", i+1, kind.APIVersion, kind.Kind, err)
		}
		n++
	}
	return n, nil
}

// empty is an object of a kind that the folder uses.
func empty(kind metav1.TypeMeta) (any, error) {
	switch kind.APIVersion + " " + kind.Kind {
	case "batch/v1 Job":
		return &batchv1.Job{}, nil
	case "v1 Service":
		return &corev1.Service{}, nil
	case "v1 PersistentVolumeClaim":
		return &corev1.PersistentVolumeClaim{}, nil
	}
	return nil, errors.New("no kind that is used here")
}
