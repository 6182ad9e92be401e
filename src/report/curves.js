'use strict';

const DATA = JSON.parse(document.getElementById('data').textContent);

function svgElement(name, attributes, parent, text) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  if (parent) parent.append(element);
  return element;
}

function htmlElement(name, attributes, parent, text) {
  const element = document.createElementNS('http://www.w3.org/1999/xhtml', name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  if (parent) parent.append(element);
  return element;
}

// Four figures; "–" for what is no number.
function show(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  if (size === 0) return '0';
  const text = size < 1e-3 || size >= 1e6 ? value.toExponential(2) : String(Number(value.toPrecision(4)));
  return text.replace('-', '−');
}

const showUpdate = (update) => update.toLocaleString('en-US');

// Each series: kind of record and key in it, and what it is called.
const CHARTS = [
  {title: 'Loss, nats per target token', series: [
    ['train', 'loss', 'training, smoothing included'], ['validation', 'loss', 'validation'],
    ['probe', 'loss', 'probe']]},
  {title: 'Perplexity', log: true, series: [
    ['train', 'perplexity', 'training'], ['validation', 'perplexity', 'validation']]},
  {title: 'BLEU and chrF', series: [
    ['validation', 'bleu', 'BLEU'], ['validation', 'chrf', 'chrF']]},
  {title: 'Alignment error rate', series: [
    ['validation', 'aer', 'validation'], ['probe', 'aer', 'probe']]},
  {title: 'Entropy of alpha, nats', series: [
    ['validation', 'entropy', 'validation'], ['probe', 'entropy', 'probe']]},
  {title: 'Coverage of source words', series: [['validation', 'coverage', 'validation']]},
  {title: 'Loss of guided alignment', series: [['train', 'guided', 'training']]},
  {title: 'Gradient norm, before clipping', log: true, series: [
    ['train', 'gradient_norm', 'training']]},
  {title: 'Gradients of attention, probe', log: true, series: [
    ['probe', 'energy_gradient', '|dL/dv|'], ['probe', 'query_gradient', '|dL/dW|'],
    ['probe', 'key_gradient', '|dL/dU|']]},
  {title: 'Paths of dL/dh, shares, probe', series: [
    ['probe', 'value_share', 'value'], ['probe', 'key_share', 'key'],
    ['probe', 'start_share', 'start'], ['probe', 'recurrent_share', 'recurrent']]},
  {title: 'Learning rate', series: [['train', 'learning_rate', 'training']]},
  {title: 'Speed, target tokens per second', series: [['train', 'tokens_per_second', 'training']]},
];

const WIDTH = 360, HEIGHT = 190, LEFT = 48, RIGHT = 10, TOP = 8, BOTTOM = 22;

// About `count` round numbers from low to high.
function linearTicks(low, high, count) {
  const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
  const ticks = [];
  // + 0 makes 0 of -0.
  for (let i = Math.ceil(low / step - 1e-9) + 0; i * step <= high + step * 1e-9; ++i) ticks.push(i * step);
  return ticks;
}

function logTicks(low, high) {
  const factors = Math.log10(high / low) > 2.5 ? [1] : [1, 2, 5], ticks = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); ++power) {
    for (const factor of factors) {
      const tick = factor * 10 ** power;
      if (tick >= low * 0.999 && tick <= high * 1.001) ticks.push(tick);
    }
  }
  return ticks.length > 1 ? ticks : [low, high];
}

// Where values stand: {y(value), ticks}. A logarithm has no room for 0: such points are left out.
function scaleOf(values, log) {
  let low = Math.min(...values), high = Math.max(...values);
  const bottom = HEIGHT - BOTTOM, height = bottom - TOP;
  if (log) {
    if (low === high) [low, high] = [low / 2, high * 2];
    const y = (value) => bottom - Math.log(value / low) / Math.log(high / low) * height;
    return {y, ticks: logTicks(low, high)};
  }
  if (low > 0 && low < high * 0.5) low = 0;
  if (low === high) [low, high] = low === 0 ? [0, 1] : [low - Math.abs(low) / 2, high + Math.abs(high) / 2];
  const y = (value) => bottom - (value - low) / (high - low) * height;
  return {y, ticks: linearTicks(low, high, 4)};
}

function pointsOf([kind, key, label], log, number) {
  const updates = DATA[kind].update, values = DATA[kind][key], points = [];
  values.forEach((value, i) => {
    if (value !== null && !(log && value <= 0)) points.push({update: updates[i], value});
  });
  return {label, points, number};
}

function nearest(points, update) {
  let low = 0, high = points.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (points[middle].update < update) low = middle + 1; else high = middle;
  }
  const before = points[low - 1];
  return before && update - before.update < points[low].update - update ? before : points[low];
}

const lastUpdate = Math.max(1, ...['train', 'validation', 'probe'].map(
    (kind) => DATA[kind].update[DATA[kind].update.length - 1] ?? 0));
const xOf = (update) => LEFT + update / lastUpdate * (WIDTH - LEFT - RIGHT);

function drawAxes(svg, scale) {
  const right = WIDTH - RIGHT, bottom = HEIGHT - BOTTOM;
  for (const tick of scale.ticks) {
    const y = scale.y(tick);
    svgElement('line', {class: 'grid', x1: LEFT, x2: right, y1: y, y2: y}, svg);
    svgElement('text', {x: LEFT - 5, y: y + 4, 'text-anchor': 'end'}, svg, show(tick));
  }
  for (const tick of linearTicks(0, lastUpdate, 3)) {
    if (!Number.isInteger(tick)) continue;
    const x = xOf(tick);
    svgElement('line', {class: 'grid', x1: x, x2: x, y1: bottom, y2: bottom + 4}, svg);
    svgElement('text', {x, y: HEIGHT - 5, 'text-anchor': x > right - 20 ? 'end' : 'middle'}, svg,
        showUpdate(tick));
  }
}

function drawCurve(svg, series, scale) {
  const at = ({update, value}) => xOf(update).toFixed(1) + ' ' + scale.y(value).toFixed(1);
  const colour = ' series-' + series.number;
  svgElement('path', {class: 'curve' + colour, d: 'M' + series.points.map(at).join('L')}, svg);
  if (series.points.length > 30) return;
  for (const point of series.points) {
    svgElement('circle', {class: colour, r: 2, cx: xOf(point.update), cy: scale.y(point.value)}, svg);
  }
}

// Values at the pointer stand in the legend; without one, the last values.
function followPointer(svg, legend, all) {
  const line = svgElement('line', {class: 'pointed', y1: TOP, y2: HEIGHT - BOTTOM, visibility: 'hidden'}, svg);
  const names = all.map((series) => {
    const name = htmlElement('span', {}, legend);
    htmlElement('i', {class: 'series-' + series.number}, name);
    return name.appendChild(document.createTextNode(''));
  });
  const place = htmlElement('span', {}, legend);
  const fill = (update) => {
    const points = all.map((series) => nearest(series.points, update));
    points.forEach((point, i) => { names[i].data = all[i].label + ' ' + show(point.value); });
    const closest = points.reduce((a, b) =>
      Math.abs(b.update - update) < Math.abs(a.update - update) ? b : a);
    return closest.update;
  };
  const leave = () => {
    fill(Infinity);
    place.textContent = '';
    line.setAttribute('visibility', 'hidden');
  };
  const point = (event) => {
    const box = svg.getBoundingClientRect();
    const x = (event.clientX - box.left) / box.width * WIDTH;
    const update = fill((x - LEFT) / (WIDTH - LEFT - RIGHT) * lastUpdate);
    place.textContent = 'at update ' + showUpdate(update);
    line.setAttribute('x1', xOf(update));
    line.setAttribute('x2', xOf(update));
    line.setAttribute('visibility', 'visible');
  };
  svg.addEventListener('pointermove', point);
  svg.addEventListener('pointerdown', point);
  svg.addEventListener('pointerleave', leave);
  leave();
}

const markers = [];  // lines at the update on the slider

function drawChart({title, log, series}) {
  const all = series.map((one, number) => pointsOf(one, log, number))
      .filter(({points}) => points.length > 0);
  if (all.length === 0) return;
  const chart = htmlElement('div', {class: 'chart'}, document.getElementById('curves'));
  htmlElement('h3', {}, chart, title);
  const legend = htmlElement('div', {class: 'legend'}, chart);
  const svg = svgElement('svg', {
    viewBox: '0 0 ' + WIDTH + ' ' + HEIGHT, role: 'img', 'aria-label': title,
  }, chart);
  const scale = scaleOf(all.flatMap(({points}) => points.map(({value}) => value)), log);
  drawAxes(svg, scale);
  markers.push(svgElement('line', {
    class: 'chosen-update', y1: TOP, y2: HEIGHT - BOTTOM, visibility: 'hidden',
  }, svg));
  for (const one of all) drawCurve(svg, one, scale);
  followPointer(svg, legend, all);
}

function markUpdate(update) {
  for (const marker of markers) {
    marker.setAttribute('x1', xOf(update));
    marker.setAttribute('x2', xOf(update));
    marker.setAttribute('visibility', 'visible');
  }
}

if (document.getElementById('curves')) CHARTS.forEach(drawChart);
