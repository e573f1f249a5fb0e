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
  var map = doc.getElementById("item-map"), table = doc.getElementById("items-table"), panel = doc.getElementById("item-panel");
  var search = doc.getElementById("item-search"), count = doc.getElementById("item-count"), list = doc.getElementById("item-matches");
  if (!map || !table || !panel || !search) { return; }
  var most = 12, svg = map.ownerSVGElement, shown = svg.querySelector(".chosen"), marks = {}, current = null;
  var levels = table.dataset.labels.split("\t");
  all(".item", map).forEach(function (mark) { marks[mark.dataset.item] = mark; });
  var items = all("tbody tr", table).map(function (row) {
    return { code: row.dataset.item, row: row, mark: marks[row.dataset.item], name: row.cells[0].textContent,
      text: (row.cells[0].textContent + "\u0001" + row.dataset.id).toLowerCase() };
  });
  var byCode = {};
  items.forEach(function (item) { byCode[item.code] = item; });

  // The chosen item: its ratings, and those most like it.
  function bars(item) {
    var shares = item.row.dataset.bars.split(" ").map(Number), highest = Math.max.apply(null, shares) || 1;
    var made = make("table", undefined, "level-bars " + item.row.className), body = make("tbody");
    made.appendChild(make("caption", "Its ratings", "hidden-text"));
    shares.forEach(function (share, k) {
      var line = make("tr"), head = make("th", levels[k]), cell = make("td"), bar = make("i");
      head.scope = "row";
      bar.style.width = 100 * share / highest + "%";
      cell.appendChild(bar);
      [head, cell, make("td", (100 * share).toFixed(0) + "\u00a0%", "n")].forEach(function (part) { line.appendChild(part); });
      body.appendChild(line);
    });
    made.appendChild(body);
    return made;
  }
  function similar(item) {
    var made = make("ol");
    item.row.dataset.similar.split("\t").forEach(function (part) {
      var pieces = part.split(":"), other = byCode[pieces[0]], entry = make("li"), name = pieces.slice(2).join(":");
      var button = make(other ? "button" : "b", name);
      if (other) {
        button.type = "button";
        button.addEventListener("click", function () { choose(other, true); });
      }
      entry.appendChild(button);
      entry.appendChild(make("span", pieces[1]));
      made.appendChild(entry);
    });
    return made;
  }
  function tell(item) {
    var cells = item.row.cells, kind = cells.length > 4 ? ", type " + cells[3].textContent : "";
    panel.textContent = "";
    panel.appendChild(make("h3", item.name));
    panel.appendChild(make("p", cells[1].textContent + " ratings, mean " + cells[2].textContent + kind, "what"));
    panel.appendChild(bars(item));
    if (item.row.dataset.similar) {
      panel.appendChild(make("h4", "Most like it (cosine similarity)"));
      panel.appendChild(similar(item));
    }
  }
  function draw(name, words, set) {
    var made = doc.createElementNS("http://www.w3.org/2000/svg", name);
    Object.keys(set).forEach(function (key) { made.setAttribute(key, set[key]); });
    if (words) { made.textContent = words; }
    shown.appendChild(made);
    return made;
  }
  // Names that the chosen one would cover step back.
  function clear(box) {
    all(".item-names .place", svg).forEach(function (name) {
      var own = name.getBBox();
      var apart = own.x > box.x + box.width || own.x + own.width < box.x || own.y > box.y + box.height || own.y + own.height < box.y;
      name.style.visibility = apart || !own.width ? "" : "hidden";
    });
  }
  function point(item) {
    var x = +item.mark.getAttribute("cx"), y = +item.mark.getAttribute("cy"), wide = svg.viewBox.baseVal.width;
    var side = x < wide / 3 ? "start" : x > 2 * wide / 3 ? "end" : "middle";
    shown.textContent = "";
    (item.row.dataset.similar ? item.row.dataset.similar.split("\t") : []).forEach(function (part) {
      var other = byCode[part.split(":")[0]];
      if (other) { draw("line", "", { x1: x, y1: y, x2: other.mark.getAttribute("cx"), y2: other.mark.getAttribute("cy") }); }
    });
    var name = draw("text", item.name.length > 40 ? item.name.slice(0, 39) + "\u2026" : item.name, { x: x, y: Math.max(y - 12, 18), "text-anchor": side });
    clear(name.getBBox());
  }
  function named(item, hidden) {
    all('.item-names [data-item="' + item.code + '"]', svg).forEach(function (name) { name.style.display = hidden ? "none" : ""; });
  }
  function choose(item, focus) {
    if (current) { named(current, false); current.mark.removeAttribute("aria-current"); current.mark.setAttribute("tabindex", "-1"); }
    current = item;
    item.mark.setAttribute("aria-current", "true");
    item.mark.setAttribute("tabindex", "0");
    named(item, true);
    tell(item);
    point(item);
    if (focus) { item.mark.focus({ preventScroll: true }); }
  }

  // One stop for the tabulator; arrows go to the nearest item in their direction.
  function next(from, dx, dy) {
    var x = +from.mark.getAttribute("cx"), y = +from.mark.getAttribute("cy"), best = null, least = Infinity;
    items.forEach(function (item) {
      var a = item.mark.getAttribute("cx") - x, b = item.mark.getAttribute("cy") - y, along = a * dx + b * dy, off = Math.abs(a * dy - b * dx);
      var far = along + 2 * off;
      if (item !== from && along > 0.5 && off <= 2 * along && far < least) { best = item; least = far; }
    });
    return best;
  }
  items.forEach(function (item) {
    item.mark.setAttribute("tabindex", "-1");
    item.mark.setAttribute("role", "button");
    item.mark.setAttribute("aria-label", item.mark.querySelector("title").textContent);
    item.mark.addEventListener("click", function () { choose(item, false); });
    item.mark.addEventListener("keydown", function (event) {
      var way = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[event.key];
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(item, true); }
      if (!way) { return; }
      event.preventDefault();
      var other = next(item, way[0], way[1]);
      if (other) { choose(other, true); }
    });
  });

  // What is searched for is lit up, and listed.
  function found() {
    var wanted = search.value.trim().toLowerCase();
    return wanted ? items.filter(function (item) { return item.text.indexOf(wanted) >= 0; }) : [];
  }
  function look() {
    var hits = found(), searching = search.value.trim() !== "";
    svg.classList.toggle("searched", searching);
    items.forEach(function (item) { item.mark.classList.remove("match"); });
    hits.forEach(function (item) { item.mark.classList.add("match"); });
    list.textContent = "";
    hits.slice(0, most).forEach(function (item) {
      var button = make("button", item.name);
      button.type = "button";
      button.addEventListener("click", function () { choose(item, false); });
      list.appendChild(button);
    });
    count.textContent = !searching ? "" : hits.length === 0 ? "no item on the map" : hits.length === 1 ? "1 item" :
      hits.length + " items" + (hits.length > most ? ", the first " + most + " are listed" : "");
  }
  search.addEventListener("input", look);
  search.addEventListener("keydown", function (event) {
    if (event.key === "Enter") {
      event.preventDefault();
      var hits = found();
      if (hits.length) { choose(hits[0], false); }
    }
    if (event.key === "Escape") { search.value = ""; look(); }
  });
  choose(items[0], false);
  look();
}());
