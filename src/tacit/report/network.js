"use strict";
(function () {
  var doc = document;
  function all(selector, inside) { return Array.prototype.slice.call((inside || doc).querySelectorAll(selector)); }
  function make(name, words, kind) {
    var made = doc.createElement(name);
    if (words !== undefined) { made.textContent = words; }
    if (kind) { made.className = kind; }
    return made;
  }

  // Exact inference. A clique holds the log of its tables; a message to its parent is the log of a sum, so that nothing is too
  // small, and leaves p(rest of the clique | what both share), which the parent's posterior is multiplied to on the way back.
  function Tree(net) {
    var cards = net.cards, n = net.cliques.length, size = net.cliques.map(function (c) { return cells(c); });
    function cells(scope) { return scope.reduce(function (product, v) { return product * cards[v]; }, 1); }
    // For every cell of a clique, the cell of a table over some of its variables.
    function places(clique, scope) {
      var found = new Int32Array(cells(clique)), digits = clique.map(function () { return 0; }), at = 0;
      var steps = clique.map(function (v) { var k = scope.indexOf(v); return k < 0 ? 0 : cells(scope.slice(k + 1)); });
      for (var cell = 0; cell < found.length; cell++) {
        found[cell] = at;
        for (var k = clique.length - 1; k >= 0; k--) {
          at += steps[k];
          if (++digits[k] < cards[clique[k]]) { break; }
          at -= steps[k] * digits[k];
          digits[k] = 0;
        }
      }
      return found;
    }
    var base = size.map(function (s) { return new Float64Array(s); }), work = size.map(function (s) { return new Float64Array(s); });
    var children = size.map(function () { return []; });
    net.tables.forEach(function (table) {
      var own = base[table[0]], at = places(net.cliques[table[0]], table[1]), logs = table[2].map(Math.log);
      for (var cell = 0; cell < own.length; cell++) { own[cell] += logs[at[cell]]; }
    });
    var shared = net.cliques.map(function (clique, c) {
      if (net.parents[c] < 0) { return null; }
      children[net.parents[c]].push(c);
      return places(net.cliques[net.parents[c]], clique.slice(0, net.shared[c]));
    });
    // The log probability of evidence, and conditionals of all cliques.
    this.collect = function (evidence) {
      var total = 0, sent = [];
      for (var c = 0; c < n; c++) {
        var own = work[c], cell;
        own.set(base[c]);
        evidence.forEach(function (state, v) {
          if (net.homes[v] !== c) { return; }
          var step = cells(net.cliques[c].slice(net.cliques[c].indexOf(v) + 1));
          for (cell = 0; cell < own.length; cell++) { if (Math.floor(cell / step) % cards[v] !== state) { own[cell] = -Infinity; } }
        });
        children[c].forEach(function (child) {
          for (cell = 0; cell < own.length; cell++) { own[cell] += sent[child][shared[child][cell]]; }
          sent[child] = null;
        });
        sent[c] = summed(own, net.parents[c] < 0 ? 1 : cells(net.cliques[c].slice(0, net.shared[c])));
        if (net.parents[c] < 0) { total += sent[c][0]; }
      }
      return total;
    };
    // Logs of the sums of blocks, each block becoming its shares.
    function summed(own, blocks) {
      var logs = new Float64Array(blocks), wide = own.length / blocks;
      for (var b = 0; b < blocks; b++) {
        var begin = b * wide, end = begin + wide, most = -Infinity, sum = 0, cell;
        for (cell = begin; cell < end; cell++) { if (own[cell] > most) { most = own[cell]; } }
        logs[b] = most;
        if (most === -Infinity) { own.fill(0, begin, end); continue; }
        for (cell = begin; cell < end; cell++) { own[cell] = Math.exp(own[cell] - most); sum += own[cell]; }
        for (cell = begin; cell < end; cell++) { own[cell] /= sum; }
        logs[b] += Math.log(sum);
      }
      return logs;
    }
    function onto(table, at, length) {
      var found = new Float64Array(length), sum = 0, cell;
      for (cell = 0; cell < table.length; cell++) { found[at[cell]] += table[cell]; sum += table[cell]; }
      for (cell = 0; cell < length; cell++) { found[cell] /= sum; }
      return found;
    }
    // Posteriors of all variables: of continuous ones their mean and standard deviation.
    this.distribute = function () {
      for (var c = n - 1; c >= 0; c--) {
        if (net.parents[c] < 0) { continue; }
        var blocks = cells(net.cliques[c].slice(0, net.shared[c])), own = work[c], wide = own.length / blocks;
        var above = onto(work[net.parents[c]], shared[c], blocks);
        for (var cell = 0; cell < own.length; cell++) { own[cell] *= above[Math.floor(cell / wide)]; }
      }
      var found = net.homes.map(function (c, v) {
        return c < 0 ? null : onto(work[c], places(net.cliques[c], [v]), cards[v]);
      });
      net.gaussian.forEach(function (g) {
        var weights = onto(work[g[1]], places(net.cliques[g[1]], g[2]), g[3].length), mean = 0, variance = 0;
        weights.forEach(function (w, k) { mean += w * g[3][k]; });
        weights.forEach(function (w, k) { variance += w * (g[4][k] + (g[3][k] - mean) * (g[3][k] - mean)); });
        found[g[0]] = { mean: mean, std: Math.sqrt(variance) };
      });
      return found;
    };
  }

  // Numbers as the page writes them.
  function share(p) {
    var decimals = p > 0 && p < 0.0995 || p >= 0.995 && p < 1 ? 1 : 0, x = 100 * p, least = decimals ? 0.1 : 1;
    var text = x.toFixed(decimals);
    // Halves go to the even digit, as in Python.
    if ((decimals ? x % 0.5 === 0.25 : x % 1 === 0.5) && +text.slice(-1) % 2) { text = (x - least / 2).toFixed(decimals); }
    if (p > 0 && +text === 0) { return "< " + least + "\u00a0%"; }
    return (p < 1 && +text === 100 ? "> " + (100 - least) : text) + "\u00a0%";
  }
  function number(x, digits) {
    var size = Math.floor(Math.log10(Math.abs(x))), text;
    if (x === 0) { return "0"; }
    if (size < -4 || size >= 12) { text = (+x.toPrecision(digits)).toExponential().replace("e+", "e"); }
    else { text = x.toLocaleString("en", { maximumFractionDigits: Math.max(digits - 1 - size, 0), useGrouping: Math.abs(x) >= 10000 }); }
    return text.replace(/-/g, "\u2212");
  }
  function probability(log) {
    if (log > -600) { return number(log > -1e-11 ? 1 : Math.exp(log), 4); }
    return "10 to the power of " + number(log / Math.LN10, 6);
  }

  all(".network-explorer").forEach(function (root) {
    function one(selector) { return root.querySelector(selector); }
    var frame = one(".network-frame"), svg = one(".network-graph"), told = one(".network-told"), chips = one(".network-chips");
    var search = one("input[type=search]"), count = one("output"), matches = one(".matches"), clear = one(".network-clear");
    var data = one(".network-data"), tree = data && new Tree(JSON.parse(data.textContent));
    var evidence = new Map(), variables = [];

    // A variable is its box in the drawing and its rows in the table; of states beyond those drawn there are rows only.
    all("tbody tr", root).forEach(function (row) {
      var v = +row.dataset.variable, own = variables[v];
      if (!own) {
        var box = one('.variable[data-variable="' + v + '"]'), at = box.transform.baseVal.getItem(0).matrix;
        own = variables[v] = { name: row.cells[0].textContent, box: box, x: at.e, y: at.f, rows: [], marks: [], states: [],
          wide: +box.querySelector(".box").getAttribute("width") };
        own.marks = all(".state", box);
      }
      own.rows.push(row);
      own.states.push(row.querySelector(".state-name").textContent);
    });
    function said(v) { return variables[v].name + " = " + variables[v].states[evidence.get(v)]; }

    // What is told: bars and numbers of every state, the evidence, and how probable it is.
    function write(own, k, value) {
      var row = own.rows[k], mark = own.marks[k], gaussian = value && value.mean !== undefined, p = value && !gaussian ? value[k] : null;
      var words = !value ? "\u2013" : gaussian ? number(value.mean, 4) + " \u00b1 " + number(value.std, 3) : share(p);
      delete row.dataset.p; delete row.dataset.mean; delete row.dataset.std;
      if (gaussian) { row.dataset.mean = value.mean; row.dataset.std = value.std; } else if (value) { row.dataset.p = p; }
      row.querySelector(".n").textContent = words;
      var bar = row.querySelector(".bar rect");
      if (bar) { bar.setAttribute("width", 100 * p); }
      if (!mark) { return; }
      mark.querySelector(".value").textContent = words;
      var drawn = mark.querySelector(".bar-of");
      if (drawn) { drawn.setAttribute("width", Math.max(0, (own.wide - 4) * p).toFixed(2)); }
      if (!gaussian && tree) { mark.setAttribute("aria-label", own.name + ", " + own.states[k] + ": " + words); }
    }
    function impossible() {
      var least = new Map(evidence);
      evidence.forEach(function (state, v) {
        var fewer = new Map(least);
        fewer.delete(v);
        if (tree.collect(fewer) === -Infinity) { least = fewer; }
      });
      return Array.from(least.keys()).map(said);
    }
    function update() {
      var log = tree.collect(evidence), found = log > -Infinity ? tree.distribute() : null, given = Array.from(evidence.keys());
      variables.forEach(function (own, v) {
        own.box.classList.toggle("observed", evidence.has(v));
        own.rows.forEach(function (row, k) {
          var set = evidence.get(v) === k, button = row.querySelector("button");
          write(own, k, found && found[v]);
          row.classList.toggle("given", set);
          if (button) { button.setAttribute("aria-pressed", String(set)); }
          if (button && own.marks[k]) { own.marks[k].classList.toggle("given", set); own.marks[k].setAttribute("aria-pressed", String(set)); }
        });
      });
      told.dataset.log = log;
      told.classList.toggle("impossible", !found);
      if (!given.length) { told.textContent = "No evidence is set: these are the prior probabilities."; }
      else if (found) { told.textContent = "Probability of the evidence: " + probability(log) + "."; }
      else {
        var parts = impossible();
        told.textContent = "This evidence is impossible: " + parts.join(" and ") + (parts.length > 1 ? " have probability 0 together" : " has probability 0") +
          ". Withdraw some of it.";
      }
      clear.disabled = !given.length;
      chips.textContent = "";
      given.forEach(function (v) {
        var chip = make("button", said(v) + " \u00d7");
        chip.type = "button";
        chip.setAttribute("aria-label", "Withdraw " + said(v));
        chip.addEventListener("click", function () { set(v, evidence.get(v)); (chips.querySelector("button") || search).focus(); });
        chips.appendChild(chip);
      });
    }
    function set(v, k) {
      if (evidence.get(v) === k) { evidence.delete(v); } else { evidence.set(v, k); }
      update();
    }

    // One stop for the tabulator in the drawing and one in the table; arrows go on from there.
    function rove(items, next) {
      function stop(item) { items.forEach(function (each) { each.part.setAttribute("tabindex", each === item ? "0" : "-1"); }); }
      items.forEach(function (item) {
        item.part.addEventListener("focus", function () { stop(item); });
        item.part.addEventListener("click", function () { set(item.v, item.k); });
        item.part.addEventListener("keydown", function (event) {
          var way = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[event.key], other;
          // Buttons answer to these keys themselves.
          if ((event.key === "Enter" || event.key === " ") && item.part.localName !== "button") { event.preventDefault(); set(item.v, item.k); }
          if (!way) { return; }
          event.preventDefault();
          other = next(item, way[0], way[1]);
          if (other) { other.part.focus(); }
        });
      });
      return stop;
    }
    function nearest(items) {
      return function (from, dx, dy) {
        var best = null, least = Infinity;
        items.forEach(function (item) {
          var a = item.x - from.x, b = item.y - from.y, along = a * dx + b * dy, off = Math.abs(a * dy - b * dx), far = along + 2 * off;
          if (item !== from && along > 0.5 && (dy || off <= 2 * along) && far < least) { best = item; least = far; }
        });
        return best;
      };
    }
    function interactive() {
      var drawn = [], listed = [];
      variables.forEach(function (own, v) {
        if (!own.rows[0].querySelector(".bar")) { return; }
        own.rows.forEach(function (row, k) {
          var cell = row.querySelector(".state-name"), button = make("button", own.states[k]), mark = own.marks[k];
          button.type = "button";
          cell.textContent = "";
          cell.appendChild(button);
          listed.push({ part: button, v: v, k: k, row: row });
          if (!mark) { return; }
          mark.setAttribute("role", "button");
          drawn.push({ part: mark, v: v, k: k, x: own.x + own.wide / 2, y: own.y + 18 * k });
        });
      });
      svg.setAttribute("role", "group");
      rove(drawn, nearest(drawn))(drawn[0]);
      var stop = rove(listed, function (from, dx, dy) {
        var shown = listed.filter(function (item) { return !item.row.hidden; });
        return shown[shown.indexOf(from) + dx + dy];
      });
      clear.addEventListener("click", function () { evidence.clear(); update(); search.focus(); });
      root.classList.add("live");
      update();
      function visible() { stop(listed.find(function (item) { return !item.row.hidden; })); }
      visible();
      return visible;
    }
    var listed = tree ? interactive() : function () {};

    // Search: the table keeps what is found, the drawing lights it up and goes there.
    function go(own) {
      frame.scrollTo(own.x * zoom - (frame.clientWidth - own.wide * zoom) / 2, Math.max(0, own.y * zoom - frame.clientHeight / 3));
      var mark = own.marks[0];
      if (mark && mark.hasAttribute("tabindex")) { mark.focus({ preventScroll: true }); }
    }
    function hits() {
      var wanted = search.value.trim().toLowerCase();
      return variables.filter(function (own) { return own.name.toLowerCase().indexOf(wanted) >= 0; });
    }
    function look() {
      var found = hits(), searching = search.value.trim() !== "";
      svg.classList.toggle("searched", searching);
      variables.forEach(function (own) {
        var match = found.indexOf(own) >= 0;
        own.box.classList.toggle("match", searching && match);
        own.rows.forEach(function (row) { row.hidden = !match; });
      });
      listed();
      matches.textContent = "";
      (searching ? found.slice(0, 12) : []).forEach(function (own) {
        var button = make("button", own.name);
        button.type = "button";
        button.addEventListener("click", function () { go(own); });
        matches.appendChild(button);
      });
      count.textContent = !searching ? "" : found.length === 0 ? "no variable" : found.length === 1 ? "1 variable" : found.length + " variables";
    }
    search.addEventListener("input", look);
    search.addEventListener("keydown", function (event) {
      if (event.key === "Enter") { event.preventDefault(); if (search.value.trim() && hits().length) { go(hits()[0]); } }
      if (event.key === "Escape") { search.value = ""; look(); }
    });

    var zoom = 1, box = svg.viewBox.baseVal;
    function resize(to) {
      var x = (frame.scrollLeft + frame.clientWidth / 2) / zoom, y = (frame.scrollTop + frame.clientHeight / 2) / zoom;
      zoom = Math.min(3, Math.max(0.1, to));
      svg.style.width = box.width * zoom + "px";
      svg.style.height = box.height * zoom + "px";
      frame.scrollTo(x * zoom - frame.clientWidth / 2, y * zoom - frame.clientHeight / 2);
    }
    all("[data-zoom]", root).forEach(function (button) {
      button.addEventListener("click", function () { resize(+button.dataset.zoom ? zoom * button.dataset.zoom : Math.min(1, frame.clientWidth / box.width)); });
    });
  });
}());
