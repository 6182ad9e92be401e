
const PATHS = ['value', 'key', 'start', 'recurrent'];
const GAP = 6, LABEL_LENGTH = 28, ROW_BARS = 54, COLUMN_BARS = 46;
const LARGEST = 32767, MISSING = -32768;

// The numbers of a packed matrix, row by row; null where there was none.
function unpack(text, scale) {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const view = new DataView(bytes.buffer), numbers = [];
  for (let at = 0; at < bytes.length; at += 2) {
    const number = view.getInt16(at, true);
    numbers.push(number === MISSING ? null : number / LARGEST * scale);
  }
  return numbers;
}

function cut(text) {
  const characters = Array.from(text);
  return characters.length > LABEL_LENGTH ? characters.slice(0, LABEL_LENGTH - 1).join('') + '…' : text;
}

// Isolated, so that words written from right to left do not turn what stands around them.
const isolated = (text) => '\u2068' + text + '\u2069';

// alpha · exp(−advantage), rows normalised; clamped as verso align does.
function posterior(alpha, advantage, columns) {
  const weights = alpha.map((weight, i) => weight === null || advantage[i] === null ? 0
      : weight * Math.exp(-Math.max(-50, Math.min(50, advantage[i]))));
  return weights.map((weight, i) => {
    const first = i - i % columns;
    return weight / (weights.slice(first, first + columns).reduce((a, b) => a + b, 0) || 1);
  });
}

// Square root, so that small numbers are seen: 1/60 of a uniform row, too.
const strength = (value, most) => Math.sqrt(Math.min(1, Math.abs(value) / most));

class PairView {
  constructor(pair, parent) {
    this.pair = pair;
    this.rows = pair.target.length;
    this.columns = pair.source.length;
    this.byUpdate = new Map(pair.snapshots.map((snapshot) => [snapshot.update, snapshot]));
    this.chosen = null;  // {row, column}, either may be null
    this.box = htmlElement('section', {class: 'pair', id: 'pair-' + pair.id}, parent);
    this.heading = htmlElement('h3', {}, this.box, 'Pair ' + pair.id + ' ');
    this.loss = htmlElement('small', {}, this.heading);
    if (pair.note) htmlElement('p', {class: 'note'}, this.box, pair.note);
    for (const side of ['source', 'target']) {
      htmlElement('p', {class: side, dir: 'auto'}, this.box, pair[side].join(' '));
    }
    this.legend = htmlElement('div', {class: 'legend'}, this.box);
    this.value = htmlElement('div', {class: 'value'}, this.box);
    this.picture = htmlElement('div', {class: 'picture'}, this.box);
    // Room is kept, so that the page does not jump while pictures are drawn.
    if (this.rows > 0 && this.columns > 0) this.picture.style.minHeight = 24 * this.rows + 150 + 'px';
    this.box.view = this;
  }

  draw() {
    if (this.svg || this.rows === 0 || this.columns === 0) return;
    const longer = Math.max(this.rows, this.columns);
    this.size = longer > 40 ? 16 : longer > 20 ? 19 : 24;
    this.svg = svgElement('svg', {
      role: 'img', tabindex: 0, 'aria-label': 'attention matrix of pair ' + this.pair.id,
    }, this.picture);
    this.placeLabels();
    this.cells = [];
    for (let i = 0; i < this.rows * this.columns; ++i) {
      const row = Math.floor(i / this.columns), column = i % this.columns;
      this.cells.push(svgElement('rect', {
        class: 'cell', x: this.x(column), y: this.y(row), width: this.size, height: this.size,
        'data-row': row, 'data-column': column,
      }, this.svg));
    }
    for (const [column, row, sure] of this.pair.gold) {
      svgElement('rect', {
        class: sure ? 'gold' : 'gold possible', x: this.x(column) + 2, y: this.y(row) + 2,
        width: this.size - 4, height: this.size - 4,
      }, this.svg);
    }
    this.bars = svgElement('g', {}, this.svg);
    this.cursor = svgElement('rect', {class: 'cursor', visibility: 'hidden'}, this.svg);
    this.picture.style.minHeight = '';
  }

  x(column) { return this.left + this.size * column; }
  y(row) { return this.top + this.size * row; }

  placeLabels() {
    const label = (attributes) => (text, i) => svgElement('text', attributes(i), this.svg, cut(text));
    this.rowLabels = this.pair.target.map(label((row) => ({'text-anchor': 'end', 'data-row': row})));
    this.columnLabels = this.pair.source.map(label((column) => ({'data-column': column})));
    const axis = (text, anchor) =>
      svgElement('text', {class: 'axis', 'text-anchor': anchor}, this.svg, text);
    const stateAxis = axis('|dL/dh|', 'end'), contextAxis = axis('|dL/dc|', 'start');
    const longest = (labels) => Math.max(...labels.map((one) => one.getComputedTextLength()));
    this.left = longest([...this.rowLabels, stateAxis]) + GAP;
    this.top = longest(this.columnLabels) * 0.87 + 14 + GAP;
    const right = this.x(this.columns), bottom = this.y(this.rows);
    let width = right + GAP + ROW_BARS;
    const put = (one, x, y) => { one.setAttribute('x', x); one.setAttribute('y', y); };
    this.rowLabels.forEach((one, row) => put(one, this.left - GAP, this.y(row + 0.5) + 4.5));
    this.columnLabels.forEach((one, column) => {
      const x = this.x(column + 0.5) + 4;
      one.setAttribute('transform', 'translate(' + x + ' ' + (this.top - GAP) + ') rotate(-60)');
      width = Math.max(width, x + one.getComputedTextLength() / 2 + 8);
    });
    put(stateAxis, this.left - GAP, bottom + GAP + 9);
    put(contextAxis, right + GAP, bottom + GAP + 9);
    this.svg.setAttribute('width', Math.ceil(width));
    this.svg.setAttribute('height', Math.ceil(bottom + GAP + COLUMN_BARS + 2));
  }

  update(update, colour) {
    this.draw();
    const snapshot = this.byUpdate.get(update);
    this.shown = snapshot ? {
      ...snapshot, alpha: unpack(snapshot.alpha, 1), advantage: unpack(snapshot.advantage, snapshot.scale),
    } : null;
    this.loss.textContent = this.lossText(snapshot);
    if (!this.svg) return;
    this.paint(colour);
    this.drawBars();
    this.showChosen();
  }

  lossText(snapshot) {
    if (this.rows === 0 || this.columns === 0) return 'a side has no token: there is nothing to attend to';
    if (!snapshot) return 'not probed at this update';
    const {loss} = snapshot, mean = loss === null ? null : loss / this.rows;
    return '−log p ' + show(loss) + ' nats, ' + show(mean) + ' for each row';
  }

  paint(colour) {
    const numbers = this.shown ? this.numbers(colour) : [];
    const whole = colour === 'alpha' || colour === 'posterior';  // from 0 to 1
    const most = whole ? 1
        : numbers.reduce((most, value) => Math.max(most, Math.abs(value)), 0) || 1;
    const kind = (value) => whole ? 'cell' : value < 0 ? 'cell more' : 'cell less';
    this.cells.forEach((cell, i) => {
      const value = numbers[i] ?? 0;
      cell.setAttribute('class', kind(value));
      cell.setAttribute('fill-opacity', strength(value, most).toFixed(3));
    });
    this.legend.replaceChildren();
    const steps = whole ? [0.02, 0.1, 0.25, 0.5, 1] : [-most, -most / 4, most / 4, most];
    for (const step of steps) {
      const item = htmlElement('span', {}, this.legend);
      const swatch = svgElement('svg', {width: 18, height: 11, class: 'swatch'}, item);
      svgElement('rect', {
        class: kind(step), width: 18, height: 11, 'fill-opacity': strength(step, most),
      }, swatch);
      item.append(' ' + show(step) + (whole ? '' : step === -most
          ? ' the gradient wants more' : step === most ? ' wants less' : ''));
    }
    PATHS.forEach((path, i) => {
      const item = htmlElement('span', {}, this.legend);
      htmlElement('i', {class: 'series-' + i}, item);
      item.append(path);
    });
  }

  numbers(colour) {
    const {alpha, advantage} = this.shown;
    if (colour === 'posterior') return posterior(alpha, advantage, this.columns);
    if (colour === 'push') return alpha.map((weight, i) => weight * advantage[i]);
    return colour === 'alpha' ? alpha : advantage;
  }

  drawBars() {
    this.bars.replaceChildren();
    if (!this.shown) return;
    const {context, state, shares} = this.shown;
    const room = this.size - 4, right = this.x(this.columns) + GAP, below = this.y(this.rows) + GAP;
    const mostContext = Math.max(...context) || 1, mostState = Math.max(...state) || 1;
    context.forEach((value, row) => svgElement('rect', {
      class: 'bar context', x: right, y: this.y(row) + 2, height: room,
      width: value / mostContext * ROW_BARS, 'data-row': row,
    }, this.bars));
    state.forEach((value, column) => {
      const sizes = shares.map((share) => Math.abs(share[column]));
      const whole = sizes.reduce((a, b) => a + b, 0) || 1;
      let y = below;
      sizes.forEach((size, path) => {
        const height = size / whole * value / mostState * COLUMN_BARS;
        svgElement('rect', {
          class: 'bar series-' + path, x: this.x(column) + 2, y, width: room, height,
          'data-column': column,
        }, this.bars);
        y += height;
      });
    });
  }

  choose(chosen) {
    this.chosen = chosen;
    if (this.svg) this.showChosen();
  }

  showChosen() {
    const {row, column} = this.chosen ?? {row: null, column: null};
    this.rowLabels.forEach((label, i) => label.classList.toggle('chosen', i === row));
    this.columnLabels.forEach((label, i) => label.classList.toggle('chosen', i === column));
    this.cursor.setAttribute('visibility', row !== null && column !== null ? 'visible' : 'hidden');
    if (row !== null && column !== null) {
      const place = {x: this.x(column), y: this.y(row), width: this.size, height: this.size};
      for (const [key, value] of Object.entries(place)) this.cursor.setAttribute(key, value);
    }
    this.value.replaceChildren();
    if (!this.shown || !this.svg) return;
    if (!this.chosen) {
      this.value.append('Point at a cell, a word or a bar for its numbers.');
      return;
    }
    if (row !== null && column !== null) this.tellCell(row, column);
    if (row !== null) this.tellRow(row);
    if (column !== null) this.tellColumn(column);
  }

  tellCell(row, column) {
    const {alpha, advantage, mean} = this.shown, i = row * this.columns + column;
    const gap = advantage[i], g = gap === null || mean[row] === null ? null : mean[row] + gap;
    const line = htmlElement('div', {class: 'cell-value'}, this.value);
    htmlElement('b', {}, line, isolated(this.pair.target[row]) + ' ← ' + isolated(this.pair.source[column]));
    line.append('  alpha ' + show(alpha[i]) + '  g ' + show(g) + '  advantage ' + show(gap) + ' ');
    if (gap) htmlElement('span', {class: gap < 0 ? 'more' : 'less'}, line, gap < 0 ? 'wants more' : 'wants less');
  }

  tellRow(row) {
    htmlElement('div', {}, this.value, isolated(this.pair.target[row]) + '  |dL/dc| ' +
        show(this.shown.context[row]) + '  Σ alpha g ' + show(this.shown.mean[row]));
  }

  tellColumn(column) {
    const percent = (share) => share === null ? '–' : Math.round(share * 100) + '%';
    const parts = PATHS.map((path, i) => path + ' ' + percent(this.shown.shares[i][column]));
    htmlElement('div', {}, this.value, isolated(this.pair.source[column]) + '  |dL/dh| ' +
        show(this.shown.state[column]) + '  ' + parts.join(', ').replaceAll('-', '−'));
  }

  // Arrow keys move the chosen cell.
  key(event) {
    const move = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]}[event.key];
    if (!move || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const {row, column} = this.chosen ?? {row: null, column: null};
    const clamp = (at, step, count) => at === null ? 0 : Math.min(count - 1, Math.max(0, at + step));
    this.choose({row: clamp(row, move[0], this.rows), column: clamp(column, move[1], this.columns)});
    this.cells[this.chosen.row * this.columns + this.chosen.column].scrollIntoView(
        {block: 'nearest', inline: 'nearest'});
  }
}

function startProbe() {
  const slider = document.getElementById('slider');
  if (!slider) return;
  const output = document.getElementById('update'), play = document.getElementById('play');
  const updates = [...new Set(DATA.pairs.flatMap(({snapshots}) => snapshots.map(({update}) => update)))]
      .sort((a, b) => a - b);
  const epochs = new Map(DATA.probe.update.map((update, i) => [update, DATA.probe.epoch[i]]));
  const views = DATA.pairs.map((pair) => new PairView(pair, document.getElementById('pairs')));
  const inSight = new Set();
  const colour = () => document.querySelector('input[name=colour]:checked').value;
  const refresh = (view) => view.update(updates[slider.value], colour());

  function go(position) {
    slider.value = position;
    const update = updates[slider.value], epoch = epochs.get(update) ?? null;
    const text = 'update ' + showUpdate(update) + (epoch === null ? '' : ', epoch ' + epoch.toFixed(2));
    output.textContent = text;
    slider.setAttribute('aria-valuetext', text);
    markUpdate(update);
    inSight.forEach(refresh);
  }

  let timer = 0;
  function stop() {
    clearInterval(timer);
    timer = 0;
    play.textContent = 'Play';
  }
  play.addEventListener('click', () => {
    if (timer) { stop(); return; }
    if (Number(slider.value) === updates.length - 1) go(0);
    play.textContent = 'Stop';
    // About ten seconds for all of it, but each picture long enough to be seen.
    timer = setInterval(() => {
      go(Number(slider.value) + 1);
      if (Number(slider.value) === updates.length - 1) stop();
    }, Math.min(700, Math.max(80, 10000 / updates.length)));
  });
  slider.addEventListener('input', () => { stop(); go(slider.value); });
  for (const radio of document.querySelectorAll('input[name=colour]')) {
    radio.addEventListener('change', () => inSight.forEach(refresh));
  }

  const watcher = new IntersectionObserver((entries) => {
    for (const {target, isIntersecting} of entries) {
      if (!isIntersecting) { inSight.delete(target.view); continue; }
      inSight.add(target.view);
      refresh(target.view);
    }
  }, {rootMargin: '300px'});
  for (const view of views) watcher.observe(view.box);
  window.addEventListener('beforeprint', () => views.forEach(refresh));
  followCells(document.getElementById('pairs'));
  slider.closest('.time').hidden = updates.length < 2;
  slider.max = updates.length - 1;
  go(updates.length - 1);
}

// Cells, words and bars answer to the pointer, to a tap and to arrow keys.
function followCells(pairs) {
  const viewOf = (event) => event.target.closest('.pair')?.view;
  const point = (event) => {
    const view = viewOf(event), {row, column} = event.target.dataset;
    if (!view || (row === undefined && column === undefined)) return;
    const number = (text) => text === undefined ? null : Number(text);
    view.choose({row: number(row), column: number(column)});
  };
  pairs.addEventListener('pointerover', point);
  pairs.addEventListener('click', point);
  pairs.addEventListener('keydown', (event) => viewOf(event)?.key(event));
}

startProbe();
