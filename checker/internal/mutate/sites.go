package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
)

// opposites are the operators that each is replaced by.
var opposites = map[token.Token][]token.Token{
	token.LSS: {token.LEQ, token.GEQ}, token.LEQ: {token.LSS, token.GTR},
	token.GTR: {token.GEQ, token.LEQ}, token.GEQ: {token.GTR, token.LSS},
	token.EQL: {token.NEQ}, token.NEQ: {token.EQL},
	token.LAND: {token.LOR}, token.LOR: {token.LAND},
	token.ADD: {token.SUB}, token.SUB: {token.ADD}, token.MUL: {token.QUO}, token.QUO: {token.MUL},
	token.ADD_ASSIGN: {token.SUB_ASSIGN}, token.SUB_ASSIGN: {token.ADD_ASSIGN},
	token.INC: {token.DEC}, token.DEC: {token.INC},
}

// A finder walks one file.
type finder struct {
	file   string
	source []byte
	set    *token.FileSet
	in     string
	found  []*mutant
	seen   map[string]int
}

// find lists the mutants of a file.
func find(file string, source []byte) ([]*mutant, error) {
	f := &finder{file: file, source: source, set: token.NewFileSet(), seen: map[string]int{}}
	tree, err := parser.ParseFile(f.set, file, source, 0)
	if err != nil {
		return nil, err
	}
	for _, d := range tree.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			f.in = d.Name.Name
			if d.Body != nil {
				ast.Inspect(d.Body, f.visit)
			}
		case *ast.GenDecl:
			f.in = d.Tok.String()
			switch d.Tok {
			case token.VAR:
				ast.Inspect(d, f.visit)
			case token.CONST: // the compiler wants constants: nothing is chosen at run time
				ast.Inspect(d, f.constant)
			}
		}
	}
	return f.found, nil
}

func (f *finder) offset(p token.Pos) int { return f.set.Position(p).Offset }

func (f *finder) text(n ast.Node) string {
	return string(f.source[f.offset(n.Pos()):f.offset(n.End())])
}

func (f *finder) add(n ast.Node, k kind, op, after string) {
	m := &mutant{file: f.file, line: f.set.Position(n.Pos()).Line, in: f.in, kind: k, op: op}
	m.before, m.after, m.from, m.to = f.text(n), after, f.offset(n.Pos()), f.offset(n.End())
	f.seen[m.name()]++
	m.nth = f.seen[m.name()]
	f.found = append(f.found, m)
}

func (f *finder) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		f.binary(n)
	case *ast.UnaryExpr:
		if n.Op == token.NOT {
			f.add(n, boolean, "", f.text(n.X))
		}
	case *ast.Ident:
		if n.Name == "true" || n.Name == "false" {
			f.add(n, boolean, "", strconv.FormatBool(n.Name == "false"))
		}
	case *ast.IfStmt:
		f.condition(n.Cond)
	case *ast.ArrayType: // its length is the compiler's
		return false
	case *ast.CallExpr:
		return f.call(n)
	case *ast.BasicLit:
		f.literal(n)
	case *ast.BlockStmt:
		f.statements(n.List)
	case *ast.CaseClause:
		f.statements(n.Body)
	}
	return true
}

// literal makes an integer one more.
func (f *finder) literal(n *ast.BasicLit) {
	if value, err := strconv.ParseInt(n.Value, 0, 64); n.Kind == token.INT && err == nil {
		f.add(n, literal, "", strconv.FormatInt(value+1, 10))
	}
}

// constant makes the integers of a declared constant, a window or a limit, one more
// and one less.
func (f *finder) constant(n ast.Node) bool {
	lit, ok := n.(*ast.BasicLit)
	if !ok || lit.Kind != token.INT {
		return true
	}
	before := len(f.found)
	f.literal(lit)
	if value, err := strconv.ParseInt(lit.Value, 0, 64); err == nil && value > 0 {
		f.add(lit, literal, "", strconv.FormatInt(value-1, 10))
	}
	for _, m := range f.found[before:] {
		m.alone = true
	}
	return true
}

// condition negates what no operator of its own negates.
func (f *finder) condition(e ast.Expr) {
	switch e := e.(type) {
	case *ast.ParenExpr:
		f.condition(e.X)
	case *ast.CallExpr, *ast.Ident, *ast.SelectorExpr, *ast.IndexExpr:
		f.add(e, boolean, "", "!"+f.text(e))
	}
}

func (f *finder) binary(n *ast.BinaryExpr) {
	for _, op := range opposites[n.Op] {
		x, y := f.text(n.X), f.text(n.Y)
		switch n.Op {
		case token.ADD, token.SUB, token.MUL, token.QUO:
			if !isText(n.X) && !isText(n.Y) {
				f.add(n, arithmetic, op.String(), x+" "+op.String()+" "+y)
				f.found[len(f.found)-1].operator = f.offset(n.OpPos)
			}
		case token.LAND, token.LOR:
			f.condition(n.X)
			f.condition(n.Y)
			f.add(n, boolean, "", "("+x+") "+op.String()+" ("+y+")")
		default:
			f.add(n, boolean, "", x+" "+op.String()+" "+y)
		}
	}
}

func isText(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return e.Kind == token.STRING
	case *ast.BinaryExpr:
		return isText(e.X) || isText(e.Y)
	}
	return false
}

// call swaps min and max; sizes given to make are hints and left alone.
func (f *finder) call(n *ast.CallExpr) bool {
	name, ok := n.Fun.(*ast.Ident)
	if !ok {
		return true
	}
	other := map[string]string{"min": "max", "max": "min"}[name.Name]
	if other != "" && !n.Ellipsis.IsValid() {
		f.add(n, extremum, other, other+f.text(n)[len(name.Name):])
	}
	return name.Name != "make"
}

// statements leaves out what can be left out.
func (f *finder) statements(list []ast.Stmt) {
	for _, s := range list {
		switch s := s.(type) {
		case *ast.ExprStmt, *ast.IncDecStmt:
			f.drop(s)
		case *ast.AssignStmt:
			if s.Tok != token.DEFINE {
				f.drop(s)
			}
		case *ast.ReturnStmt:
			if len(s.Results) == 0 {
				f.drop(s)
			}
		case *ast.BranchStmt:
			if s.Tok == token.CONTINUE || s.Tok == token.BREAK {
				f.drop(s)
			}
		}
	}
}

func (f *finder) drop(s ast.Stmt) {
	f.add(s, statement, "", "")
	var other []token.Token
	var at token.Pos
	switch s := s.(type) {
	case *ast.IncDecStmt:
		other, at = opposites[s.Tok], s.TokPos
	case *ast.AssignStmt:
		other, at = opposites[s.Tok], s.TokPos
	}
	for _, op := range other {
		text, skip := f.text(s), f.offset(at)-f.offset(s.Pos())
		f.add(s, statement, "", text[:skip]+op.String()+text[skip+len(op.String()):])
	}
}
