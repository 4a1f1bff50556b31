package printable

import (
	"regexp"
	"strings"
)

// Hidden stands where a secret stood.
const Hidden = "[hidden]"

var (
	// userinfo is what stands before a host: of a URL, or user:password alone.
	userinfo = regexp.MustCompile(`(\w://)[^\s/@"']+@|[^\s/@"'=]*:[^\s/@"']+@`)
	// named are the names of flags and variables whose values are secret.
	named = regexp.MustCompile(`(?i)(pass|pwd|secret|token|auth|credential|api[-_]?key|private[-_]?key)`)
)

// HideUserinfo replaces the user and password of every URL and address in a text.
func HideUserinfo(text string) string {
	if !strings.Contains(text, "@") {
		return text
	}
	return userinfo.ReplaceAllStringFunc(text, func(found string) string {
		if isPlaceholder(found) {
			return found
		}
		return userinfo.ReplaceAllString(found, "${1}"+Hidden+"@")
	})
}

// isPlaceholder reports whether what stands before a host only says that a user and a
// password belong there, as messages do.
func isPlaceholder(found string) bool {
	_, said, isURL := strings.Cut(found, "://")
	if !isURL {
		said = found
	}
	return strings.TrimPrefix(said, "[") == "USER:PASSWORD@"
}

// HideSecrets returns the words of a command line with what is secret by its
// form hidden: the user and password of a URL, the value of NAME=VALUE and
// --NAME=VALUE, and the word after --NAME, where NAME speaks of a password, a
// secret, a token, authentication, credentials or a key; and the word after -a,
// which is redis-cli's for a password. A secret of another form does not belong
// on a command line: pass it by the environment.
func HideSecrets(words []string) []string {
	out := make([]string, len(words))
	next := false
	for i, w := range words {
		name, _, valued := strings.Cut(w, "=")
		switch {
		case next:
			w, next = Hidden, false
		case valued && named.MatchString(name) && !strings.ContainsAny(name, " \t"):
			w = name + "=" + Hidden
		case strings.HasPrefix(w, "-") && (named.MatchString(w) || w == "-a") && !strings.ContainsAny(w, " \t="):
			next = true
		case strings.ContainsAny(w, " \t\n"): // a command line in one word
			w = HideCommand(w)
		}
		out[i] = HideUserinfo(w)
	}
	return out
}

// HideCommand is HideSecrets for a command line in one text.
func HideCommand(line string) string {
	words := strings.Fields(line)
	if len(words) < 2 {
		return HideUserinfo(line)
	}
	return strings.Join(HideSecrets(words), " ")
}
