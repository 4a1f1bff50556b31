package plots

import (
	"cmp"
	"image"
	"image/color"
	"slices"
)

// shrink reduces an opaque picture to 256 colours: its most frequent ones, of
// 15 bits each. Drawings have few colours beside the shades at their edges,
// and become a third as large.
func shrink(img image.Image) *image.Paletted {
	b := img.Bounds()
	shades := make([]uint16, 0, b.Dx()*b.Dy())
	count := map[uint16]int{}
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			r, g, bl, _ := img.At(x, y).RGBA()
			s := uint16(r>>11<<10 | g>>11<<5 | bl>>11)
			shades = append(shades, s)
			count[s]++
		}
	}
	order := make([]uint16, 0, len(count))
	for s := range count {
		order = append(order, s)
	}
	slices.SortFunc(order, func(a, b uint16) int { return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b)) })
	var palette color.Palette
	for _, s := range order[:min(len(order), 256)] {
		palette = append(palette, widen(s))
	}
	index := map[uint16]uint8{}
	for _, s := range order {
		index[s] = uint8(palette.Index(widen(s)))
	}
	out := image.NewPaletted(b, palette)
	for i, s := range shades {
		out.Pix[i] = index[s]
	}
	return out
}

// widen turns a shade of 15 bits into a colour, so that white stays white.
func widen(s uint16) color.NRGBA {
	part := func(v uint16) uint8 { v &= 31; return uint8(v<<3 | v>>2) }
	return color.NRGBA{part(s >> 10), part(s >> 5), part(s), 0xff}
}
