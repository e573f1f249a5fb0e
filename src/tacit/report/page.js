"use strict";
(function () {
  var doc = document, root = doc.documentElement;
  root.classList.remove("no-script");
  function all(selector, inside) { return Array.prototype.slice.call((inside || doc).querySelectorAll(selector)); }
  function make(name, text) { var e = doc.createElement(name); if (text !== undefined) { e.textContent = text; } return e; }

  // Light and dark: the button overrides what the system asks for; nothing needs to be stored.
  var theme = doc.getElementById("theme"), dark = matchMedia("(prefers-color-scheme: dark)");
  function isDark() { return root.dataset.theme ? root.dataset.theme === "dark" : dark.matches; }
  function tellTheme() { theme.textContent = isDark() ? "Light" : "Dark"; theme.setAttribute("aria-pressed", String(isDark())); }
  theme.setAttribute("aria-label", "Dark colours");
  theme.addEventListener("click", function () { root.dataset.theme = isDark() ? "light" : "dark"; tellTheme(); });
  dark.addEventListener("change", tellTheme);
  tellTheme();

  // In a notebook's frame a link within the page would lead out of it.
  if (location.protocol === "about:") {
    all('a[href^="#"]').forEach(function (link) {
      link.addEventListener("click", function (event) {
        var target = doc.getElementById(link.getAttribute("href").slice(1));
        event.preventDefault();
        target.scrollIntoView();
        if (target.id === "main") { target.focus(); }
      });
    });
  }

  // Tables that are wider than their place fade where they go on, and say so.
  all(".scroll").forEach(function (box) {
    var cue = make("p", "Scroll sideways for more columns \u2192");
    cue.className = "cue";
    cue.setAttribute("aria-hidden", "true");
    box.parentNode.insertBefore(cue, box);
    function tell() {
      var room = box.scrollWidth - box.clientWidth;
      box.classList.toggle("more", room - box.scrollLeft > 2);
      cue.hidden = room <= 2;
    }
    box.addEventListener("scroll", tell, { passive: true });
    if (window.ResizeObserver) {
      var watch = new ResizeObserver(tell);
      watch.observe(box); watch.observe(box.firstElementChild);
    }
    tell();
  });

  // Panels: one of a set at a time.
  all(".choices").forEach(function (choices) {
    var name = choices.dataset.set, buttons = all("button", choices);
    function show(chosen) {
      buttons.forEach(function (b) { b.setAttribute("aria-pressed", String(b.dataset.show === chosen)); });
      all('.panel[data-set="' + name + '"]').forEach(function (p) { p.hidden = p.dataset.panel !== chosen; });
    }
    buttons.forEach(function (b) { b.addEventListener("click", function () { show(b.dataset.show); }); });
    show("0");
  });

  // The table of rows holds what the maps show about a row.
  var table = doc.getElementById("rows-table");
  var lines = table ? all("tbody tr", table) : [];
  var heads = table ? all("thead th", table).map(function (th) { return th.textContent; }) : [];

  function describe(index, tip) {
    tip.textContent = "";
    var line = lines[index];
    if (!line) { return; }
    tip.appendChild(make("b", heads[0] + " " + line.cells[0].textContent));
    var list = make("dl"), most = 14;
    for (var j = 1; j < heads.length && j <= most; j++) {
      var left = line.cells[j].classList.contains("gone");
      if (!line.cells[j].textContent && !left) { continue; }
      var value = make("dd", left ? "missing" : line.cells[j].textContent);
      if (line.cells[j].classList.contains("new")) {
        value.className = "new";
        value.textContent += " (" + line.cells[j].title + ")";
      }
      list.appendChild(make("dt", heads[j]));
      list.appendChild(value);
    }
    tip.appendChild(list);
    if (heads.length > most + 1) { tip.appendChild(make("small", "and " + (heads.length - most - 1) + " more columns below")); }
  }

  // Maps: the nearest point answers the pointer, arrow keys walk from point to point.
  all(".plot").forEach(function (plot) {
    var svg = plot.querySelector("svg"), tip = plot.querySelector(".tip"), focus = svg.querySelector(".focus");
    var points = [], current = null;
    all(".layer", svg).forEach(function (layer) {
      var rows = layer.dataset.rows ? layer.dataset.rows.split(" ") : [];
      all("use:not(.o)", layer).forEach(function (use, k) {
        points.push({ x: +use.getAttribute("x"), y: +use.getAttribute("y"), row: +rows[k], layer: layer });
      });
    });
    function visible(p) { return p.layer.style.display !== "none"; }
    function hide() { current = null; tip.hidden = true; focus.textContent = ""; }
    function show(p) {
      if (p === current) { return; }
      current = p;
      describe(p.row, tip);
      tip.hidden = false;
      focus.textContent = "";
      var ring = doc.createElementNS("http://www.w3.org/2000/svg", "circle");
      ring.setAttribute("cx", p.x); ring.setAttribute("cy", p.y); ring.setAttribute("r", 9);
      focus.appendChild(ring);
      var box = svg.getBoundingClientRect(), scale = box.width / svg.viewBox.baseVal.width;
      var x = p.x * scale, y = p.y * scale, w = tip.offsetWidth, h = tip.offsetHeight;
      var left = x + 16 + w <= box.width ? x + 16 : x - 16 - w;
      tip.style.left = Math.max(0, Math.min(left, box.width - w)) + "px";
      tip.style.top = Math.max(0, Math.min(y - h / 2, box.height - h)) + "px";
    }
    function nearest(event) {
      var box = svg.getBoundingClientRect(), scale = box.width / svg.viewBox.baseVal.width;
      var x = (event.clientX - box.left) / scale, y = (event.clientY - box.top) / scale;
      var best = null, least = Math.pow(18 / scale, 2);
      points.forEach(function (p) {
        var d = (p.x - x) * (p.x - x) + (p.y - y) * (p.y - y);
        if (d < least && visible(p)) { least = d; best = p; }
      });
      return best;
    }
    function step(dx, dy) {
      var best = null, least = Infinity;
      points.forEach(function (p) {
        if (p === current || !visible(p)) { return; }
        if (!current) { if (p.x < least) { least = p.x; best = p; } return; }
        var along = (p.x - current.x) * dx + (p.y - current.y) * dy;
        var aside = Math.abs((p.x - current.x) * dy) + Math.abs((p.y - current.y) * dx);
        if (along > 0 && along + 2 * aside < least) { least = along + 2 * aside; best = p; }
      });
      if (best) { show(best); }
    }
    function follow(event) { var p = nearest(event); if (p) { show(p); } else { hide(); } }
    svg.addEventListener("pointermove", follow);
    svg.addEventListener("pointerdown", follow);
    svg.addEventListener("pointerleave", hide);
    plot.tabIndex = 0;
    plot.setAttribute("role", "application");
    plot.setAttribute("aria-label", svg.getAttribute("aria-label") + " Arrow keys go from row to row, Escape leaves.");
    plot.addEventListener("keydown", function (event) {
      var ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
      if (event.key === "Escape") { hide(); return; }
      if (!ways[event.key]) { return; }
      event.preventDefault();
      step(ways[event.key][0], ways[event.key][1]);
    });
    plot.addEventListener("focus", function () { if (!current && plot.matches(":focus-visible")) { step(0, 0); } });
    plot.addEventListener("blur", hide);
    plot.addEventListener("tacit-hide", hide);
  });

  // The legend hides and shows groups in all maps.
  all("[data-toggle]").forEach(function (button) {
    button.addEventListener("click", function () {
      var on = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(on));
      all('.chart:not(#numbers-map) [data-group="' + button.dataset.toggle + '"]').forEach(function (layer) { layer.style.display = on ? "" : "none"; });
      all(".plot").forEach(function (plot) { plot.dispatchEvent(new CustomEvent("tacit-hide")); });
    });
  });

  function say(button, words) {
    var before = button.textContent;
    button.textContent = words;
    setTimeout(function () { button.textContent = before; }, 1500);
  }
  function copied(button, text) {
    function older() {
      var area = make("textarea", text);
      doc.body.appendChild(area); area.select();
      var done = doc.execCommand("copy");
      area.remove();
      say(button, done ? "Copied" : "Not allowed here");
    }
    if (location.protocol !== "about:" && navigator.clipboard && navigator.clipboard.writeText) {
      navigator.clipboard.writeText(text).then(function () { say(button, "Copied"); }, older);
    } else { older(); }
  }

  // Files of charts: drawings as they are shown, with their colours written in, and their numbers.
  function save(name, kind, parts) {
    var link = make("a");
    link.href = URL.createObjectURL(new Blob(parts, { type: kind }));
    link.download = name;
    link.click();
    setTimeout(function () { URL.revokeObjectURL(link.href); }, 10000);
  }
  function quoted(text) {
    // A spreadsheet would run text that begins like a formula.
    if (/^[=+\-@\t\r]/.test(text) && !/^[+-]?[\d.]+(e[+-]?\d+)?$/i.test(text)) { text = "'" + text; }
    return /[",\r\n]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
  }
  function saveCsv(name, rows) {
    function bare(text) { return /^[\u2212-]?\d{1,3}(,\d{3})+(\.\d+)?$/.test(text) ? text.replace(/,/g, "") : text; }
    var lines = rows.map(function (row) { return row.map(function (t) { return quoted(plain(bare(String(t)))); }).join(","); });
    save(name + ".csv", "text/csv;charset=utf-8", ["\ufeff" + lines.join("\r\n") + "\r\n"]);
  }
  function cellsOf(from) {
    return all("tr", from).map(function (tr) { return Array.prototype.map.call(tr.cells, function (c) { return c.textContent.trim(); }); });
  }
  var SVG = "http://www.w3.org/2000/svg", COPIED = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray",
    "stroke-linejoin", "paint-order", "font-family", "font-size", "font-weight", "opacity", "display", "visibility"];
  function drawing(svg) {
    var copy = svg.cloneNode(true), from = [svg].concat(all("*", svg)), to = [copy].concat(all("*", copy)), defs = doc.createElementNS(SVG, "defs"), known = {};
    from.forEach(function (e, k) {
      var style = getComputedStyle(e), own = "";
      COPIED.forEach(function (p) { var v = style.getPropertyValue(p); if (v) { own += p + ":" + v + ";"; } });
      to[k].setAttribute("style", own);
      var name = (e.getAttribute("href") || "").slice(1);
      if (name && !known[name]) { known[name] = 1; defs.appendChild(doc.getElementById(name).cloneNode(true)); }
    });
    all(".focus", copy).forEach(function (e) { e.remove(); });
    copy.insertBefore(defs, copy.firstChild);
    var box = svg.viewBox.baseVal, words = all(".meaning", svg.closest("figure")), top = words.length ? 26 : 0, paper = doc.createElementNS(SVG, "rect");
    [["x", 0], ["y", -top], ["width", box.width], ["height", box.height + 2 * top]].forEach(function (a) { paper.setAttribute(a[0], a[1]); });
    paper.setAttribute("fill", getComputedStyle(doc.body).backgroundColor);
    copy.insertBefore(paper, copy.firstChild);
    words.forEach(function (p) {
      var t = doc.createElementNS(SVG, "text"), across = p.classList.contains("across");
      t.textContent = p.textContent;
      t.setAttribute("x", across ? box.width - 2 : 2); t.setAttribute("y", across ? box.height + 18 : -9);
      t.setAttribute("style", "font:12px sans-serif;fill:" + getComputedStyle(p).color + ";text-anchor:" + (across ? "end" : "start"));
      copy.appendChild(t);
    });
    copy.setAttribute("xmlns", SVG);
    copy.setAttribute("viewBox", "0 " + -top + " " + box.width + " " + (box.height + 2 * top));
    copy.setAttribute("width", box.width); copy.setAttribute("height", box.height + 2 * top);
    return { text: new XMLSerializer().serializeToString(copy), width: box.width, height: box.height + 2 * top };
  }
  function picture(name, drawn) {
    // Browsers hold canvases to some size.
    var image = new Image(), canvas = make("canvas"), wide = drawn.width, high = drawn.height;
    var scale = Math.min(3, 16000 / Math.max(wide, high), Math.sqrt(2e8 / (wide * high)));
    image.onload = function () {
      canvas.width = drawn.width * scale; canvas.height = drawn.height * scale;
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      canvas.toBlob(function (blob) { save(name + ".png", "image/png", [blob]); });
    };
    image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(drawn.text);
  }
  function places(svg) {
    function back(ends, at) { return ends[0] + (at - ends[2]) / (ends[3] - ends[2]) * (ends[1] - ends[0]); }
    var across = svg.dataset.across.split(" ").map(Number), upward = svg.dataset.upward.split(" ").map(Number), rows = [["row", "group", "across", "up"]];
    all(".layer", svg).forEach(function (layer) {
      var own = layer.dataset.rows.split(" ");
      all("use:not(.o)", layer).forEach(function (use, k) {
        rows.push([rowName(+own[k]), use.dataset.group || layer.dataset.group, back(across, +use.getAttribute("x")).toPrecision(5), back(upward, +use.getAttribute("y")).toPrecision(5)]);
      });
    });
    return rows;
  }
  function rowName(index) { return lines[index] ? lines[index].cells[0].textContent : index + 1; }
  function offer(where, words, act) {
    var b = make("button", words);
    b.type = "button";
    b.addEventListener("click", act);
    where.appendChild(b);
    return b;
  }
  function slug(text) { return text.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, 60) || "chart"; }
  all("figure").forEach(function (fig) {
    var svg = fig.querySelector("svg.chart"), details = fig.querySelector("details.numbers");
    if (!svg) { return; }
    if (!details) { details = make("details"); details.className = "numbers"; details.appendChild(make("summary")); fig.appendChild(details); }
    var data = details.querySelector("table"), title = svg.querySelector("title"), bar = make("div"), name = slug(svg.dataset.across ? svg.id : title ? title.textContent : "chart");
    details.querySelector("summary").textContent = "Numbers and files of this chart";
    bar.className = "files control";
    offer(bar, "SVG", function () { save(name + ".svg", "image/svg+xml", [drawing(svg).text]); });
    offer(bar, "PNG", function () { picture(name, drawing(svg)); });
    if (svg.dataset.across) { offer(bar, "CSV", function () { saveCsv(name, places(svg)); }); }
    else if (data) { offer(bar, "CSV", function () { saveCsv(name, cellsOf(data)); }); }
    all("button", bar).forEach(function (b) { b.setAttribute("aria-label", "Save this chart as " + b.textContent); });
    details.insertBefore(bar, details.children[1] || null);
  });
  all("table.glance, table.profile, table.missing").forEach(function (t) {
    var bar = make("div"), name = t.caption ? t.caption.textContent : "table";
    bar.className = "files control";
    offer(bar, "CSV", function () { saveCsv(slug(name), cellsOf(t)); }).setAttribute("aria-label", "Save as CSV: " + name);
    t.parentNode.parentNode.insertBefore(bar, t.parentNode.nextSibling);
  });

  // The map in the colours of any column; cells that were filled in are not known, and have none.
  var colourBy = doc.getElementById("map-colour"), key = doc.getElementById("map-key");
  function known(line, j) { var c = line.cells[j]; return c.classList.contains("new") || c.classList.contains("gone") ? "" : plain(c.textContent); }
  function palette(j) {
    var values = lines.map(function (line) { return known(line, j); }), given = values.filter(function (v) { return v !== ""; });
    var counts = {}, ranked;
    if (given.length && given.every(function (v) { return isFinite(v); }) && new Set(given).size > 9) {
      ranked = given.map(Number).sort(function (a, b) { return a - b; });
      return { ends: [ranked[0], ranked[ranked.length >> 1], ranked[ranked.length - 1]], of: function (v) {
        var low = 0, high = ranked.length, x = +v;
        while (low < high) { var m = (low + high) >> 1; if (ranked[m] < x) { low = m + 1; } else { high = m; } }
        var last = low;
        while (last < ranked.length && ranked[last] === x) { last += 1; }
        return mixed(Math.round(10 * (low + last) / ranked.length) * 5);
      }, values: values };
    }
    given.forEach(function (v) { counts["$" + v] = (counts["$" + v] || 0) + 1; });
    ranked = Object.keys(counts).sort(function (a, b) { return counts[b] - counts[a]; });
    return { levels: ranked.slice(0, 9).map(function (v) { return v.slice(1); }), n: ranked.length, of: function (v) {
      var k = ranked.indexOf("$" + v);
      return k >= 0 && k < 9 ? "var(--g" + (k + 1) + ")" : "var(--line)";
    }, values: values };
  }
  function mixed(share) { return "color-mix(in oklch decreasing hue, var(--high) " + share + "%, var(--low))"; }
  function swatch(colour, words) {
    var span = make("span"), box = make("i");
    box.style.background = colour;
    span.appendChild(box); span.appendChild(doc.createTextNode(words));
    key.appendChild(span);
  }
  function recolour() {
    var found = colourBy.value === "" ? null : palette(+colourBy.value);
    all("#map .layer").forEach(function (layer) {
      var own = layer.dataset.rows ? layer.dataset.rows.split(" ") : [];
      all("use:not(.o)", layer).forEach(function (use, k) {
        var value = found ? found.values[+own[k]] : "";
        use.style.fill = found ? (value === "" ? "none" : use.classList.contains("u") ? "" : found.of(value)) : "";
        use.style.stroke = found ? (value === "" ? "var(--soft)" : use.classList.contains("u") ? found.of(value) : "") : "";
      });
      all(".reach", layer).forEach(function (e) { e.style.fill = found ? "none" : ""; e.style.stroke = found ? "var(--soft)" : ""; });
    });
    all("#map .place").forEach(function (e) { e.style.fill = found ? "var(--soft)" : ""; });
    key.textContent = "";
    if (!found) { return; }
    if (found.ends) { ["least ", "middle ", "most "].forEach(function (w, k) { swatch(mixed(50 * k), w + String(found.ends[k]).replace("-", "\u2212")); }); }
    else {
      found.levels.forEach(function (v, k) { swatch("var(--g" + (k + 1) + ")", v.length > 30 ? v.slice(0, 29) + "\u2026" : v); });
      if (found.n > 9) { swatch("var(--line)", (found.n - 9) + " more"); }
    }
    if (found.values.indexOf("") >= 0) { swatch("none", "not known"); key.lastChild.firstChild.className = "unknown"; }
  }
  if (colourBy && table) {
    heads.forEach(function (name, j) {
      var found = j ? palette(j) : null;
      if (!found || name === "Group" || !(found.ends || found.n > 1 && found.n <= Math.max(12, lines.length / 10))) { return; }
      var option = make("option", name);
      option.value = j;
      colourBy.appendChild(option);
    });
    colourBy.addEventListener("change", recolour);
    recolour();
  }

  // Other numbers of groups: a slider shows one at a time, and its map takes their marks.
  var slider = doc.getElementById("numbers-slider"), numbersMap = doc.getElementById("numbers-map");
  function marks(svg, tell) {
    all(".layer", svg).forEach(function (layer) {
      var own = layer.dataset.rows ? layer.dataset.rows.split(" ") : [];
      all("use:not(.o)", layer).forEach(function (use, k) { tell(use, +own[k], layer); });
    });
  }
  function dress(use, group) {
    use.setAttribute("href", "#m" + group);
    use.setAttribute("class", (use.classList.contains("u") ? "u " : "") + "own g" + ((group - 1) % 9 + 1));
    use.dataset.group = group;
  }
  if (slider) {
    var numbers = all('.panel[data-set="numbers"]');
    var showNumber = function () {
      var shown = numbers[+slider.value], title = shown.querySelector("h3").textContent;
      numbers.forEach(function (p) { p.hidden = p !== shown; });
      doc.getElementById("numbers-shown").textContent = title;
      slider.setAttribute("aria-valuetext", title);
      if (!numbersMap) { return; }
      var groups = shown.dataset.groups.split(" ");
      marks(numbersMap, function (use, row) { dress(use, +groups[row]); });
    };
    slider.addEventListener("input", showNumber);
    showNumber();
  }

  // Groups renamed and merged, and the command that keeps it.
  var typed = doc.getElementById("edit-command");
  function shell(text) { return /^[\w@%+=:,.\/-]+$/.test(text) ? text : "'" + text.replace(/'/g, "'\"'\"'") + "'"; }
  function edited() {
    var into = {}, names = {}, members = {}, order, words = ["tacit report", typed.dataset.model, typed.dataset.table];
    all("[data-merge]").forEach(function (s) { into[s.dataset.merge] = s.value || s.dataset.merge; });
    all("[data-name]").forEach(function (i) { names[i.dataset.name] = i.value.trim(); });
    function end(group) {  // groups merged into each other are one, by the smallest number
      var seen = {}, round = [];
      while (into[group] !== group && !seen[group]) { seen[group] = 1; group = into[group]; }
      for (var g = group; round.indexOf(+g) < 0; g = into[g]) { round.push(+g); }
      return String(Math.min.apply(null, round));
    }
    Object.keys(into).forEach(function (g) { var e = end(g); (members[e] = members[e] || []).push(+g); });
    order = Object.keys(members).sort(function (a, b) { return Math.min.apply(null, members[a]) - Math.min.apply(null, members[b]); });
    order.forEach(function (g) { if (members[g].length > 1) { words.push("--merge", members[g].sort(function (a, b) { return a - b; }).join("+")); } });
    order.forEach(function (g, k) { if (names[g]) { words.push("--name", shell(k + 1 + "=" + names[g])); } });
    typed.textContent = words.join(" ");
    order.forEach(function (g) {
      var title = (members[g].length > 1 ? "Groups " + members[g].join(" + ") : "Group " + g) + (names[g] ? ": " + names[g] : "");
      var n = 0;
      members[g].forEach(function (m) {
        var card = doc.querySelector('#groups .card[data-card="' + m + '"]'), first = String(m) === g;
        n += +card.dataset.n;
        card.hidden = !first;
        all('[data-called="' + m + '"]:not(#numbers *, .editor *)').forEach(function (e) { e.textContent = title; });
        all('#map [data-toggle="' + m + '"]').forEach(function (e) { e.hidden = !first; });
        all('#map .place[data-group="' + m + '"], #map .layer[data-group="' + m + '"] .reach').forEach(function (e) { e.style.display = members[g].length > 1 ? "none" : ""; });
        all('#map .layer[data-group="' + m + '"] use:not(.o)').forEach(function (use) { dress(use, +g); });
      });
      var card = doc.querySelector('#groups .card[data-card="' + g + '"]'), merged = members[g].length > 1, share = 100 * n / total;
      var size = card.querySelector(".size b");
      size.textContent = merged ? n.toLocaleString("en") + " rows" : card.dataset.size;
      size.nextSibling.textContent = merged ? " \u00b7 " + share.toFixed(share < 10 ? 1 : 0) + " % of the table" : card.dataset.rest;
      card.querySelector(".what").textContent = merged ? "Described when the page is made anew." : card.dataset.what;
      card.querySelector("rect").setAttribute("width", share);
    });
    var column = heads.indexOf("Group");
    lines.forEach(function (line) {
      line.dataset.own = line.dataset.own || line.dataset.g || "";
      if (!line.dataset.own) { return; }
      line.dataset.g = end(line.dataset.own);
      if (column >= 0) { line.cells[column].textContent = line.dataset.g; }
    });
    if (redraw) { redraw(); }
  }
  var redraw = null, total = 0;
  if (typed) {
    all("#groups .card").forEach(function (card) {
      var size = card.querySelector(".size b");
      card.dataset.size = size.textContent;
      card.dataset.rest = size.nextSibling.textContent;
      card.dataset.what = card.querySelector(".what").textContent;
      total += +card.dataset.n;
    });
    all("[data-merge], [data-name]").forEach(function (e) { e.addEventListener("input", edited); });
    doc.getElementById("edit-copy").addEventListener("click", function (event) { copied(event.currentTarget, typed.textContent); });
    edited();
  }

  if (!table) { return; }

  // Rows: sorted, filtered, a page at a time. Programs and keyboards write another minus than people read.
  function plain(text) { return text.replace(/^\u2212|e\u2212/g, function (m) { return m.replace("\u2212", "-"); }); }
  var body = table.tBodies[0], size = 25, at = 0, order = lines.slice(), sorted = null;
  var texts = lines.map(function (line) {
    return Array.prototype.map.call(line.cells, function (c) { return plain(c.textContent); }).join("\u0001").toLowerCase();
  });
  var place = new Map(lines.map(function (line, i) { return [line, i]; }));
  var search = doc.getElementById("rows-search"), chosen = doc.getElementById("rows-group");
  var flags = all("[data-flag]"), count = doc.getElementById("rows-count"), pager = doc.getElementById("rows-pager");
  var back = make("button", "Previous"), next = make("button", "Next"), where = make("span");
  [back, next].forEach(function (b) { b.type = "button"; });
  [back, where, next].forEach(function (e) { pager.appendChild(e); });

  function kept() {
    var wanted = plain(search.value.trim().toLowerCase()), group = chosen ? chosen.value : "";
    return order.filter(function (line) {
      return (!wanted || texts[place.get(line)].indexOf(wanted) >= 0) && (!group || line.dataset.g === group) &&
        flags.every(function (f) { return !f.checked || line.classList.contains(f.dataset.flag); });
    });
  }
  function draw() {
    var found = kept(), pages = Math.max(1, Math.ceil(found.length / size));
    at = Math.min(at, pages - 1);
    body.replaceChildren.apply(body, found.slice(at * size, (at + 1) * size));
    count.textContent = found.length === lines.length ? lines.length + " rows" : found.length + " of " + lines.length + " rows";
    where.textContent = "Page " + (at + 1) + " of " + pages;
    back.disabled = at === 0; next.disabled = at === pages - 1;
    pager.hidden = pages === 1;
  }
  function restart() { at = 0; draw(); }
  back.addEventListener("click", function () { at -= 1; draw(); });
  next.addEventListener("click", function () { at += 1; draw(); });
  search.addEventListener("input", restart);
  if (chosen) { chosen.addEventListener("change", restart); }
  flags.forEach(function (f) { f.addEventListener("change", restart); });

  function number(words) { var text = plain(words), m = /-?[\d.]+(e[+-]?\d+)?/i.exec(text); return m ? parseFloat(m[0]) : NaN; }
  var collator = new Intl.Collator(undefined, { numeric: true });
  function sort(column, numeric, down) {
    var keys = lines.map(function (line) { var t = line.cells[column].textContent; return numeric ? number(t) : t; });
    function empty(key) { return key === "" || key !== key; }
    order = lines.slice().sort(function (a, b) {
      var i = place.get(a), j = place.get(b), p = keys[i], q = keys[j];
      if (empty(p) || empty(q)) { return empty(p) - empty(q) || i - j; }
      var d = numeric ? p - q : collator.compare(p, q);
      return (down ? -d : d) || i - j;
    });
  }
  all("thead th", table).forEach(function (th, column) {
    var button = make("button");
    button.type = "button";
    while (th.firstChild) { button.appendChild(th.firstChild); }
    th.appendChild(button);
    th.setAttribute("aria-sort", "none");
    button.addEventListener("click", function () {
      var down = th.getAttribute("aria-sort") === "ascending";
      if (sorted) { sorted.setAttribute("aria-sort", "none"); }
      sorted = th;
      th.setAttribute("aria-sort", down ? "descending" : "ascending");
      sort(column, th.dataset.kind === "number", down);
      restart();
    });
  });

  function csv() {
    var rows = [heads.map(quoted).join(",")];
    kept().forEach(function (line) {
      rows.push(Array.prototype.map.call(line.cells, function (c) { return quoted(plain(c.textContent)); }).join(","));
    });
    return rows.join("\r\n") + "\r\n";
  }
  doc.getElementById("rows-save").addEventListener("click", function () {
    save("rows.csv", "text/csv;charset=utf-8", ["\ufeff" + csv()]);
  });
  doc.getElementById("rows-copy").addEventListener("click", function (event) { copied(event.currentTarget, csv()); });
  // Rows that were paged away belong on paper too, as far as it goes.
  addEventListener("beforeprint", function () { body.replaceChildren.apply(body, kept().slice(0, 40)); });
  addEventListener("afterprint", draw);
  draw();
  redraw = draw;
}());
