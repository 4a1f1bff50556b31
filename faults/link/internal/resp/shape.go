package resp

// A Shape is what a reply looks like to one who does not know the script that
// gave it: its type, and of its first scalar the type or, for a number, the
// sign. Yes and no of one script differ in it as a rule. Zero is no reply.
type Shape struct {
	Type byte // the first byte of the reply
	Leaf byte // '-', '0' or '+' of a number; '_' nothing; '!' an error; '$' text; 0 when there is no scalar
}

// IsError reports whether the reply is an error.
func (s Shape) IsError() bool { return s.Type == '-' || s.Type == '!' }

// Shape is that of the reply being reported.
func (s *Scanner) Shape() Shape { return Shape{Type: s.first, Leaf: s.leaf} }

// scalar notes the first scalar of a reply, which fits on a line.
func (s *Scanner) scalar(line []byte) {
	if s.leaf != 0 {
		return
	}
	switch line[0] {
	case ':', ',', '(':
		s.leaf = sign(line[1:])
	case '-':
		s.leaf = '!'
	case '_':
		s.leaf = '_'
	default:
		s.leaf = '$'
	}
}

// bulk notes the first scalar of a reply when it is a bulk value of n bytes.
func (s *Scanner) bulk(kind byte, n int) {
	switch {
	case s.leaf != 0:
	case n < 0:
		s.leaf = '_'
	case kind == '!':
		s.leaf = '!'
	default:
		s.leaf = '$'
	}
}

func sign(number []byte) byte {
	if len(number) > 0 && number[0] == '-' {
		return '-'
	}
	for _, c := range number {
		if c >= '1' && c <= '9' {
			return '+'
		}
	}
	return '0'
}
