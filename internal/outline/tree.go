package outline

import (
	"bytes"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"

	"github.com/fsmtx/fsmtx/internal/checklist"
)

// document is the blocks of a text, without those in quotations, comments and elements.
type document struct {
	source []byte
	starts []int // the offset of each line
	blocks []*block
	list   checklist.List
	wraps  map[int]int // the line behind each paragraph, by its first line
}

// block is a heading, a paragraph, a list, a table or a block of code.
type block struct {
	node      ast.Node
	line, end int    // the lines that it has, from 0
	text      string // of a heading and a paragraph, as it is written
	level     int    // of a heading; 0 otherwise
	title     bool   // the heading is that of the whole text
	above     *block // the heading of the section, or nil
	before    *block // or nil
}

// item is an entry of a list or a row of a table.
type item struct {
	line, end int
	text      string
	box       bool
}

// read returns the blocks of a text. Its frontmatter has none.
func read(source []byte) *document {
	d := &document{source: bytes.ReplaceAll(bytes.TrimPrefix(source, []byte("\ufeff")), []byte("\r\n"), []byte(" \n"))}
	d.starts = []int{0}
	for i, c := range d.source {
		if c == '\n' {
			d.starts = append(d.starts, i+1)
		}
	}
	body := slices.Clone(d.source)
	for i := range frontmatter(body) {
		if body[i] != '\n' {
			body[i] = ' '
		}
	}
	d.list = checklist.Read(string(d.source))
	markdown := goldmark.New(goldmark.WithExtensions(extension.Table))
	root := markdown.Parser().Parse(text.NewReader(body))
	var section, before *block
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		b := &block{node: n, line: d.lineOf(n), end: len(d.starts), before: before}
		if before != nil {
			before.end = max(b.line, before.line+1)
		}
		switch n := n.(type) {
		case *ast.Heading:
			b.level = n.Level
			for section != nil && section.level >= n.Level {
				section = section.above
			}
		}
		if b.above = section; b.level > 0 {
			section = b
		}
		b.text = d.textOf(n)
		d.blocks, before = append(d.blocks, b), b
	}
	d.wraps = map[int]int{}
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering && (n.Kind() == ast.KindParagraph || n.Kind() == ast.KindTextBlock) {
			line := d.lineOf(n)
			d.wraps[line] = line + n.Lines().Len()
		}
		return ast.WalkContinue, nil
	})
	top := slices.DeleteFunc(slices.Clone(d.blocks), func(b *block) bool { return b.level != 1 })
	if len(top) == 1 {
		top[0].title = true
	}
	return d
}

// frontmatter returns how long the frontmatter of a text is.
func frontmatter(body []byte) int {
	if rest, found := bytes.CutPrefix(body, []byte("---")); found {
		if at := bytes.Index(rest, []byte("\n---")); at >= 0 {
			return 3 + at + 4
		}
	}
	return 0
}

// lineOf returns the line of a node, from 0.
func (d *document) lineOf(n ast.Node) int {
	at := n.Pos()
	if at < 0 && n.Type() == ast.TypeBlock && n.Lines().Len() > 0 {
		at = n.Lines().At(0).Start
	}
	if at < 0 && n.FirstChild() != nil {
		return d.lineOf(n.FirstChild())
	}
	line, _ := slices.BinarySearch(d.starts, max(at, 0)+1)
	return line - 1
}

// textOf returns the text of a block as it is written.
func (d *document) textOf(n ast.Node) string {
	if n == nil || n.Type() != ast.TypeBlock {
		return ""
	}
	return strings.TrimSpace(strings.ToValidUTF8(string(n.Lines().Value(d.source)), "\uFFFD"))
}

// lines returns the text of lines, without their common indentation.
func (d *document) lines(from, to int) string {
	var all []string
	for i := from; i < min(to, len(d.starts)); i++ {
		end := len(d.source)
		if i+1 < len(d.starts) {
			end = d.starts[i+1] - 1
		}
		line := strings.ToValidUTF8(string(d.source[d.starts[i]:end]), "\uFFFD")
		if t := strings.TrimSpace(line); len(t) < 3 || strings.Trim(t, "-*_ ") != "" { // it draws a line
			all = append(all, line)
		}
	}
	return paragraph(all)
}

// items returns the entries of a list whose last line is before end.
func (d *document) items(list ast.Node, end int) (all []item) {
	for n := list.FirstChild(); n != nil; n = n.NextSibling() {
		first := n.FirstChild()
		if first == nil || first.Kind() != ast.KindTextBlock && first.Kind() != ast.KindParagraph {
			continue
		}
		it := item{line: d.lineOf(first), end: end, text: checklist.WithoutComments(d.textOf(first))}
		if n.NextSibling() != nil {
			it.end = d.lineOf(n.NextSibling())
		}
		_, it.box = slices.BinarySearchFunc(d.list.Boxes, it.line, func(b checklist.Box, line int) int { return b.Line - line })
		all = append(all, it)
	}
	return all
}

// cells returns the text of each cell of a row.
func (d *document) cells(row ast.Node) (all []string) {
	for c := row.FirstChild(); c != nil; c = c.NextSibling() {
		all = append(all, d.textOf(c))
	}
	return all
}

// titlesFrom returns the titles from a heading upwards. That of the whole text counts if it announces steps.
func (b *block) titlesFrom() (all []string) {
	for ; b != nil; b = b.above {
		if !b.title || announcing.in(clean(b.text)) {
			all = append(all, b.text)
		}
	}
	return all
}

// sectionEnd returns the line of the first heading of a level, or of one above it, after a line.
func (d *document) sectionEnd(line, level int) int {
	for _, other := range d.blocks {
		if other.line > line && other.level > 0 && other.level <= level {
			return other.line
		}
	}
	return len(d.starts)
}
