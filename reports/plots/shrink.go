package plots

import (
	"cmp"
	"image"
	"image/color"
	"image/draw"
	"slices"
)

// shades is how many shades of 15 bits there are.
const shades = 1 << 15

// shrink reduces an opaque picture to 256 colours: its most frequent ones, of
// 15 bits each. Drawings have few colours beside the shades at their edges,
// and become a third as large.
func shrink(img image.Image) *image.Paletted {
	rgba, ok := img.(*image.RGBA)
	if !ok {
		rgba = image.NewRGBA(img.Bounds())
		draw.Draw(rgba, rgba.Bounds(), img, img.Bounds().Min, draw.Src)
	}
	var count [shades]int
	for i := 0; i < len(rgba.Pix); i += 4 {
		count[shade(rgba.Pix[i:i+3])]++
	}
	palette, index := reduce(&count)
	out := image.NewPaletted(rgba.Bounds(), palette)
	for i := range out.Pix {
		out.Pix[i] = index[shade(rgba.Pix[4*i:4*i+3])]
	}
	return out
}

// reduce takes the 256 most frequent shades, and finds for each of the others
// the nearest one.
func reduce(count *[shades]int) (palette color.Palette, index *[shades]uint8) {
	var order []int
	for s, n := range count {
		if n > 0 {
			order = append(order, s)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b)) })
	for _, s := range order[:min(len(order), 256)] {
		palette = append(palette, widen(s))
	}
	index = new([shades]uint8)
	for _, s := range order {
		index[s] = uint8(palette.Index(widen(s)))
	}
	return palette, index
}

// shade is a pixel's colour in 15 bits.
func shade(rgb []uint8) int { return int(rgb[0]>>3)<<10 | int(rgb[1]>>3)<<5 | int(rgb[2]>>3) }

// widen turns a shade back into a colour, so that white stays white.
func widen(s int) color.RGBA {
	part := func(v int) uint8 { return uint8(v&31<<3 | v&31>>2) }
	return color.RGBA{part(s >> 10), part(s >> 5), part(s), 0xff}
}
