package graph

import (
	"cmp"
	"slices"
)

// The layout follows Sugiyama: the layers go from left to right; a line that passes a layer
// gets a place in it; barycenters improve the order within the layers; then each box moves
// as near to its neighbours as the other boxes allow.

// Sizes in pixels.
const (
	boxWidth   = 236
	layerGap   = 70
	boxGap     = 14
	lineGap    = 10
	lineHeight = 15
	boxPadding = 8
	margin     = 20
)

// place is the place of a box, or of a line that passes a layer.
type place struct {
	step   int // index of the step of a box; -1 for a line
	layer  int // from 0
	height float64
	y      float64 // of the middle
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
		l.boxes[i] = add(&place{step: i, layer: g.Steps[i].Layer - 1, height: height(i)})
	}
	for i, after := range g.reduced {
		for _, j := range after {
			from := l.boxes[i]
			line := []*place{from}
			for layer := from.layer + 1; layer < l.boxes[j].layer; layer++ {
				line = append(line, add(&place{step: -1, layer: layer, height: lineGap}))
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
				wish[p] = mean(neighbours(p), p.y)
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
		p.y = total
	}
	for _, p := range layer {
		p.y -= total / 2
	}
}

// mean returns the mean position of the places, or otherwise if there are none.
func mean(places []*place, otherwise float64) float64 {
	if len(places) == 0 {
		return otherwise
	}
	sum := 0.0
	for _, p := range places {
		sum += p.y
	}
	return sum / float64(len(places))
}

// distance returns the smallest distance between the middles of two neighbours in a layer.
func distance(a, b *place) float64 {
	gap := float64(boxGap)
	if a.step < 0 && b.step < 0 {
		gap = 0
	}
	return (a.height+b.height)/2 + gap
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
				wishes[i] = mean(neighbours, p.y)
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
			layer[i].y = p.sum/float64(p.count) + offsets[i]
			i++
		}
	}
}

// fit moves all places into view and sets the size of the drawing.
func (l *layout) fit(layers [][]*place) {
	top, bottom := 0.0, 0.0
	for _, layer := range layers {
		for _, p := range layer {
			top, bottom = min(top, p.y-p.height/2), max(bottom, p.y+p.height/2)
		}
	}
	for _, layer := range layers {
		for _, p := range layer {
			p.y += margin - top
		}
	}
	l.height = bottom - top + 2*margin
	l.width = float64(max(0, len(layers)*(boxWidth+layerGap)-layerGap) + 2*margin)
}

// left returns the left edge of the boxes of a layer.
func left(layer int) float64 { return float64(margin + layer*(boxWidth+layerGap)) }
