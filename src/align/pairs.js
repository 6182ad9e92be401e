'use strict';
(() => {
  const SCALE = 10000, GAP = 6, LABEL_LENGTH = 28, END = '\u003c/s>';

  function make(name, attributes, parent, text) {
    const element = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    parent.append(element);
    return element;
  }

  function cut(text) {
    const characters = Array.from(text);
    return characters.length > LABEL_LENGTH
        ? characters.slice(0, LABEL_LENGTH - 1).join('') + '…' : text;
  }

  // What the page holds of a pair: word elements, labels (end symbols included), weights.
  function read(pair) {
    const side = (name) => Array.from(pair.querySelectorAll('p.' + name + ' span'));
    const labels = (words, end) =>
        words.map((word) => word.textContent).concat(end === '1' ? [END] : []);
    const source = side('source'), target = side('target');
    const columns = labels(source, pair.dataset.sourceEnd);
    const rows = labels(target, pair.dataset.targetEnd);
    const weights = pair.dataset.weights.split(' ').map((number) => Number(number) / SCALE);
    const at = (row, column) => weights[row * columns.length + column];
    return {source, target, columns, rows, at};
  }

  function draw(pair) {
    const box = pair.querySelector('.picture');
    const data = read(pair);
    if (box.firstChild || data.rows.length === 0 || data.columns.length === 0) return;
    const longer = Math.max(data.rows.length, data.columns.length);
    const size = longer > 40 ? 15 : longer > 20 ? 19 : 24;
    const svg = make('svg', {role: 'img', 'aria-label': 'alignment matrix'}, box);
    const rowLabels = data.rows.map((text) => make('text', {'text-anchor': 'end'}, svg, cut(text)));
    const columnLabels = data.columns.map((text) => make('text', {}, svg, cut(text)));
    const longest = (labels) => Math.max(...labels.map((label) => label.getComputedTextLength()));
    const left = longest(rowLabels) + GAP, top = longest(columnLabels) * 0.87 + 14 + GAP;
    let right = left + size * data.columns.length;
    rowLabels.forEach((label, row) => {
      label.setAttribute('x', left - GAP);
      label.setAttribute('y', top + size * (row + 0.5) + 4.5);
    });
    columnLabels.forEach((label, column) => {
      const x = left + size * (column + 0.5) + 4;
      label.setAttribute('transform', 'translate(' + x + ' ' + (top - GAP) + ') rotate(-60)');
      right = Math.max(right, x + label.getComputedTextLength() / 2 + 8);
    });
    const frames = [];
    data.rows.forEach((_, row) => {
      let best = 0;
      data.columns.forEach((_, column) => {
        const weight = data.at(row, column);
        if (column < data.source.length && weight > data.at(row, best)) best = column;
        const cell = make('rect', {
          class: 'cell', x: left + size * column, y: top + size * row, width: size, height: size,
          'fill-opacity': Math.min(1, Math.max(0, weight)),
        }, svg);
        cell.dataset.row = row;
        cell.dataset.column = column;
      });
      if (row < data.target.length && data.source.length > 0) frames.push([row, best]);
    });
    for (const [row, column] of frames) {
      make('rect', {
        class: 'best', x: left + size * column + 1.5, y: top + size * row + 1.5, width: size - 3,
        height: size - 3,
      }, svg);
    }
    svg.setAttribute('width', right + 2);
    svg.setAttribute('height', top + size * data.rows.length + 2);
    const value = document.createElement('div');
    value.className = 'value';
    box.style.minHeight = '';
    box.append(value);
    pair.labels = {rowLabels, columnLabels, value};
  }

  let last = null;
  function clear() {
    if (!last) return;
    for (const word of last.querySelectorAll('.chosen')) word.classList.remove('chosen');
    for (const word of last.querySelectorAll('p span')) word.style.removeProperty('--weight');
    if (last.labels) last.labels.value.textContent = '';
    last = null;
  }

  function showCell(pair, row, column) {
    const data = read(pair);
    const {rowLabels, columnLabels, value} = pair.labels;
    const chosen = [data.target[row], data.source[column], rowLabels[row], columnLabels[column]];
    for (const element of chosen) if (element) element.classList.add('chosen');
    // Isolated, so that words written from right to left do not carry the number along.
    const isolated = (text) => '\u2068' + text + '\u2069';
    value.textContent = isolated(data.rows[row]) + ' ← ' + isolated(data.columns[column]) + '  ' +
        data.at(row, column).toFixed(4);
  }

  function showWord(pair, word) {
    const data = read(pair);
    const row = data.target.indexOf(word), column = data.source.indexOf(word);
    word.classList.add('chosen');
    const others = row !== -1 ? data.source : data.target;
    others.forEach((other, i) => {
      other.style.setProperty('--weight', row !== -1 ? data.at(row, i) : data.at(i, column));
    });
  }

  function point(event) {
    clear();
    const pair = event.target.closest('.pair');
    if (!pair) return;
    last = pair;
    const at = event.target;
    if (at.matches('.cell')) showCell(pair, Number(at.dataset.row), Number(at.dataset.column));
    if (at.matches('p span')) showWord(pair, at);
  }
  document.addEventListener('pointerover', point);
  document.addEventListener('click', point);

  const pairs = document.querySelectorAll('.pair');
  const watcher = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      watcher.unobserve(entry.target);
      draw(entry.target);
    }
  }, {rootMargin: '400px'});
  for (const pair of pairs) watcher.observe(pair);
  window.addEventListener('beforeprint', () => pairs.forEach(draw));
})();
