package graph

import (
	"cmp"
	"slices"
)

// The layout follows Sugiyama: the layers go from top to bottom, so that a page with many of them
// scrolls as pages do, also on a narrow screen; a line that passes a layer gets a place in it;
// barycenters improve the order within the layers; then each box moves as near to its neighbours as
// the other boxes allow.

// Sizes in pixels.
const (
	boxWidth   = 236
	layerGap   = 34
	boxGap     = 18
	lineGap    = 14
	lineHeight = 15
	boxPadding = 8
	margin     = 20
)

// place is the place of a box, or of a line that passes a layer.
type place struct {
	step   int // index of the step of a box; -1 for a line
	layer  int // from 0
	width  float64
	height float64 // of a box
	x      float64 // of the middle
	top    float64
	before []*place
	after  []*place
}

// layout is a drawing.
type layout struct {
	boxes         []*place   // by step
	lines         [][]*place // each begins and ends at a box, with a place in every layer between
	width, height float64
}

// layOut returns the drawing. height returns the height of a step's box.
func (g *Graph) layOut(height func(step int) float64) layout {
	l := layout{}
	layers := make([][]*place, g.Layers)
	add := func(p *place) *place {
		layers[p.layer] = append(layers[p.layer], p)
		return p
	}
	l.boxes = make([]*place, len(g.Steps))
	for _, i := range g.order() {
		l.boxes[i] = add(&place{step: i, layer: g.Steps[i].Layer - 1, width: boxWidth, height: height(i)})
	}
	for i, after := range g.reduced {
		for _, j := range after {
			from := l.boxes[i]
			line := []*place{from}
			for layer := from.layer + 1; layer < l.boxes[j].layer; layer++ {
				line = append(line, add(&place{step: -1, layer: layer, width: lineGap}))
			}
			line = append(line, l.boxes[j])
			for n := 1; n < len(line); n++ {
				line[n-1].after = append(line[n-1].after, line[n])
				line[n].before = append(line[n].before, line[n-1])
			}
			l.lines = append(l.lines, line)
		}
	}
	arrange(layers)
	straighten(layers)
	l.fit(layers)
	return l
}

// arrange orders the places of each layer by the mean position of their neighbours.
func arrange(layers [][]*place) {
	for _, layer := range layers {
		spread(layer)
	}
	const sweeps = 12
	for n := range sweeps {
		for k := range layers {
			layer, neighbours := layers[k], func(p *place) []*place { return p.before }
			if n%2 == 1 {
				layer, neighbours = layers[len(layers)-1-k], func(p *place) []*place { return p.after }
			}
			wish := map[*place]float64{}
			for _, p := range layer {
				wish[p] = mean(neighbours(p), p.x)
			}
			slices.SortStableFunc(layer, func(a, b *place) int { return cmp.Compare(wish[a], wish[b]) })
			spread(layer)
		}
	}
}

// spread stacks the places of a layer in their order, centred at 0.
func spread(layer []*place) {
	total := 0.0
	for n, p := range layer {
		if n > 0 {
			total += distance(layer[n-1], p)
		}
		p.x = total
	}
	for _, p := range layer {
		p.x -= total / 2
	}
}

// mean returns the mean position of the places, or otherwise if there are none.
func mean(places []*place, otherwise float64) float64 {
	if len(places) == 0 {
		return otherwise
	}
	sum := 0.0
	for _, p := range places {
		sum += p.x
	}
	return sum / float64(len(places))
}

// distance returns the smallest distance between the middles of two neighbours in a layer.
func distance(a, b *place) float64 {
	gap := float64(boxGap)
	if a.step < 0 && b.step < 0 {
		gap = 0
	}
	return (a.width+b.width)/2 + gap
}

// straighten moves the places of each layer towards their neighbours in other layers, in the
// same order.
func straighten(layers [][]*place) {
	const rounds = 24
	for n := range rounds {
		for k := range layers {
			layer := layers[k]
			if n%2 == 1 {
				layer = layers[len(layers)-1-k]
			}
			wishes := make([]float64, len(layer))
			for i, p := range layer {
				neighbours := p.before
				if n%2 == 1 || len(neighbours) == 0 {
					neighbours = p.after
				}
				wishes[i] = mean(neighbours, p.x)
			}
			settle(layer, wishes)
		}
	}
}

// settle moves each place as near to its wish as the distances between the places allow, by
// least squares: an isotonic regression that pools adjacent violators.
func settle(layer []*place, wishes []float64) {
	type pool struct {
		sum   float64
		count int
	}
	offset := 0.0
	offsets := make([]float64, len(layer))
	var pools []pool
	for i, p := range layer {
		if i > 0 {
			offset += distance(layer[i-1], p)
		}
		offsets[i] = offset
		pools = append(pools, pool{wishes[i] - offset, 1})
		for len(pools) > 1 {
			a, b := pools[len(pools)-2], pools[len(pools)-1]
			if a.sum/float64(a.count) < b.sum/float64(b.count) {
				break
			}
			pools = append(pools[:len(pools)-2], pool{a.sum + b.sum, a.count + b.count})
		}
	}
	i := 0
	for _, p := range pools {
		for range p.count {
			layer[i].x = p.sum/float64(p.count) + offsets[i]
			i++
		}
	}
}

// fit moves all places into view and sets the size of the drawing.
func (l *layout) fit(layers [][]*place) {
	left, right := 0.0, 0.0
	for _, layer := range layers {
		for _, p := range layer {
			left, right = min(left, p.x-p.width/2), max(right, p.x+p.width/2)
		}
	}
	top := float64(margin)
	for _, layer := range layers {
		height := 0.0
		for _, p := range layer {
			height = max(height, p.height)
		}
		for _, p := range layer {
			p.x += margin - left
			p.top = top
			if p.step < 0 {
				p.height = height // the line goes straight through the layer
			}
		}
		top += height + layerGap
	}
	l.width, l.height = right-left+2*margin, max(0, top-layerGap)+margin
}
