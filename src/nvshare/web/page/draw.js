// Canvases: the lane of one program, and the memory of one GPU over time. Draws samples that it is given.
import { PARTS } from "./words.js";
import { colour, programColour } from "./theme.js";

// Indexes of memory in a sample, after the parts: on the GPU, and away.
const HERE = PARTS.length;
const AWAY = HERE + 1;
// Bottom to top. Idle time is the empty rest.
const STACK = ["computing", "memory_in", "memory_out", "thrashing", "held_back", "waiting"].map((name) => [name, PARTS.indexOf(name)]);

function prepare(canvas) {
  const scale = window.devicePixelRatio || 1;
  const width = Math.round(canvas.clientWidth * scale);
  const height = Math.round(canvas.clientHeight * scale);
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width;
    canvas.height = height;
  }
  const pen = canvas.getContext("2d");
  pen.clearRect(0, 0, width, height);
  return { pen, width, height, scale };
}

const placer = (width, end, seconds) => (moment) => Math.round(width * (1 - (end - moment) / (1000 * seconds)));

// Waiting is hatched: lighter than activity, and distinguishable without colours.
function hatch(pen, scale) {
  const size = Math.round(6 * scale);
  const tile = new OffscreenCanvas(size, size);
  const brush = tile.getContext("2d");
  brush.strokeStyle = colour("waiting");
  brush.lineWidth = 1.6 * scale;
  for (const shift of [-size, 0, size]) {
    brush.moveTo(shift - 1, size + 1);
    brush.lineTo(shift + size + 1, -1);
  }
  brush.stroke();
  return pen.createPattern(tile, "repeat");
}

export function drawLane(canvas, samples, id, end, seconds) {
  const { pen, width, height, scale } = prepare(canvas);
  const x = placer(width, end, seconds);
  const styles = STACK.map(([name, place]) => [name === "waiting" ? hatch(pen, scale) : colour(name), place]);
  for (const sample of samples) {
    const row = sample.programs[id];
    if (!row || sample.until < end - 1000 * seconds) continue;
    const left = x(sample.since);
    let top = height;
    for (const [style, place] of styles) {
      const tall = Math.round((height * row[place]) / 100);
      pen.fillStyle = style;
      pen.fillRect(left, top - tall, Math.max(1, x(sample.until) - left), tall);
      top -= tall;
    }
  }
}

// Memory on the GPU, stacked by program, and above it, paler, memory that is away; a line where the GPU is full.
export function drawMemory(canvas, samples, lanes, usable, end, seconds) {
  const { pen, width, height, scale } = prepare(canvas);
  const x = placer(width, end, seconds);
  const shown = samples.filter((one) => one.until >= end - 1000 * seconds);
  const total = (row) => (row ? row[HERE] + row[AWAY] : 0);
  const sums = shown.map((one) => lanes.reduce((sum, lane) => sum + total(one.programs[lane.id]), 0));
  const most = 1.12 * Math.max(usable, ...sums, 1);
  const y = (mebibytes) => Math.round((height * mebibytes) / most);
  for (const sample of shown) {
    const left = x(sample.since);
    const wide = Math.max(1, x(sample.until) - left);
    let level = 0;
    for (const [place, alpha] of [[HERE, 1], [AWAY, 0.35]]) {
      pen.globalAlpha = alpha;
      lanes.forEach((lane, number) => {
        const amount = sample.programs[lane.id]?.[place] ?? 0;
        pen.fillStyle = programColour(number);
        pen.fillRect(left, height - y(level + amount), wide, y(level + amount) - y(level));
        level += amount;
      });
    }
  }
  pen.globalAlpha = 1;
  pen.strokeStyle = colour("text");
  pen.lineWidth = scale;
  pen.setLineDash([4 * scale, 3 * scale]);
  pen.beginPath();
  pen.moveTo(0, height - y(usable) + 0.5);
  pen.lineTo(width, height - y(usable) + 0.5);
  pen.stroke();
  pen.setLineDash([]);
  pen.strokeStyle = colour("line");
  pen.strokeRect(0.5, 0.5, width - 1, height - 1);
}

export function sampleAt(samples, canvas, event, end, seconds) {
  const box = canvas.getBoundingClientRect();
  const moment = end - 1000 * seconds * (1 - (event.clientX - box.left) / box.width);
  return samples.find((one) => one.since <= moment && moment < one.until);
}
