// Command torture tells whether a distributed lock on Redis is safe, how it
// fails, and how much it can carry.
package main

import "locktorture/cmd/torture/app"

func main() { app.Main() }
