// What is wrong with the page as it is laid out: a list of sentences.
(() => {
  const out = [];
  const slack = 1.5; // pixels by which boxes of letters touch without letters doing so
  const name = (s) => JSON.stringify(s.textContent.trim().slice(0, 60));
  const scrolls = (e) => e && (/auto|scroll|hidden/.test(getComputedStyle(e).overflowX) || scrolls(e.parentElement));
  const root = document.scrollingElement;
  const width = document.documentElement.clientWidth; // a phone's innerWidth grows with what does not fit
  if (root.scrollWidth > width + 1) {
    const wide = [...document.querySelectorAll("body *")].find((e) =>
      e.getBoundingClientRect().right > width + 1 && !e.closest("svg") && !scrolls(e));
    out.push(`the page is ${root.scrollWidth} px wide in a window of ${width} px` +
      (wide ? `: <${wide.tagName.toLowerCase()} class="${wide.className}"> ${name(wide)}` : ""));
  }
  for (const svg of document.querySelectorAll("svg")) {
    const frame = svg.getBoundingClientRect();
    if (frame.width === 0) continue; // folded away
    const title = (svg.querySelector("title") || svg).textContent.trim().slice(0, 60);
    // Letters scale with the figure: measured as if it were drawn in its own size.
    const scale = frame.width / (svg.viewBox.baseVal.width || frame.width);
    const boxes = [...svg.querySelectorAll("text")].filter((e) => e.textContent.trim() !== "").map((e) => ({ e, b: e.getBoundingClientRect() }));
    for (let i = 0; i < boxes.length; i++) {
      const { e, b } = boxes[i];
      if (b.left < frame.left - slack || b.right > frame.right + slack || b.top < frame.top - slack || b.bottom > frame.bottom + slack) {
        out.push(`figure ${JSON.stringify(title)}: ${name(e)} is cut off`);
      }
      for (let j = i + 1; j < boxes.length; j++) {
        const o = boxes[j].b;
        const across = Math.min(b.right, o.right) - Math.max(b.left, o.left);
        const down = Math.min(b.bottom, o.bottom) - Math.max(b.top, o.top);
        if (across > slack * scale && down > 0.25 * Math.min(b.height, o.height)) {
          out.push(`figure ${JSON.stringify(title)}: ${name(e)} and ${name(boxes[j].e)} overlap`);
        }
      }
    }
  }
  return out.slice(0, 8);
})()
