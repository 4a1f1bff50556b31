package link

// EmbeddedLimit is how many links one fabric of this process can have: each
// listens on a port of its own.
const EmbeddedLimit = lastPort - firstPort + 1
