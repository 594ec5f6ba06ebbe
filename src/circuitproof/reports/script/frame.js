// In a frame of a notebook: as dark as the notebook is, and where all is to be seen at once as high as that.
// A page of its own is in no frame; where a browser keeps frames apart, the system says what is dark.
{
  const frame = window.frameElement, body = document.body;
  const ground = (one) => {
    for (let at = one; at; at = at.parentElement) {
      const [r, g, b, alpha = 1] = getComputedStyle(at).backgroundColor.match(/[\d.]+/g).map(Number);
      if (alpha > 0.5) return (r + g + b) / 3;
    }
    return 255;
  };
  if (frame) body.dataset.theme = ground(frame.parentElement) < 128 ? "dark" : "light";
  if (frame && "fit" in body.dataset) {
    new ResizeObserver(() => {
      frame.style.height = `${Math.ceil(body.getBoundingClientRect().height)}px`;
    }).observe(body);
  }
}
