package main

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/png"
)

// icon shows two panes above a status line, as catalogues want it: a PNG of 512 by 512.
func icon() file {
	black, green, grey := color.RGBA{0x16, 0x1b, 0x22, 0xff}, color.RGBA{0x2e, 0xa0, 0x43, 0xff}, color.RGBA{0x8b, 0x94, 0x9e, 0xff}
	img := image.NewPaletted(image.Rect(0, 0, 512, 512), color.Palette{black, green, grey})
	for _, part := range []struct {
		x, y, width, height int
		color               color.Color
	}{
		{0, 432, 512, 80, green}, {248, 0, 16, 432, green},
		{48, 72, 152, 28, grey}, {48, 144, 104, 28, grey}, {48, 216, 136, 28, grey}, {48, 288, 36, 56, green},
		{312, 72, 120, 28, grey}, {312, 144, 152, 28, grey},
	} {
		draw.Draw(img, image.Rect(part.x, part.y, part.x+part.width, part.y+part.height), image.NewUniform(part.color), image.Point{}, draw.Src)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(err) // only a writer's
	}
	return file{"icon.png", 0o644, b.Bytes()}
}
