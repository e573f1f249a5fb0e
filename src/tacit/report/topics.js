"use strict";
(function () {
  var doc = document;
  function all(selector, inside) { return Array.prototype.slice.call((inside || doc).querySelectorAll(selector)); }
  var map = doc.getElementById("topic-map"), slider = doc.getElementById("relevance"), shown = 30;
  var buttons = all('.choices[data-set="topic"] button'), links = all("a[data-topic]", map || doc.body);
  if (!map || !slider) { return; }

  // A topic is chosen by its button, on the map, or by the arrow keys on either.
  function mark(chosen) {
    links.forEach(function (a) {
      if (a.dataset.topic === chosen) { a.setAttribute("aria-current", "true"); } else { a.removeAttribute("aria-current"); }
    });
  }
  function choose(topic) {
    var own = buttons.filter(function (b) { return b.dataset.show === topic; })[0];
    if (own) { own.click(); } else { mark(topic); }
  }
  buttons.forEach(function (b) { b.addEventListener("click", function () { mark(b.dataset.show); echo(null); }); });
  links.forEach(function (a, k) {
    a.addEventListener("click", function (event) { event.preventDefault(); choose(a.dataset.topic); });
    a.addEventListener("keydown", function (event) {
      var step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (event.key === " ") { event.preventDefault(); choose(a.dataset.topic); }
      if (!step) { return; }
      event.preventDefault();
      var next = links[(k + step + links.length) % links.length];
      next.focus();
      choose(next.dataset.topic);
    });
  });

  // Words in the order of λ log p(word | topic) + (1 − λ) log(p(word | topic) / p(word)).
  var tables = all(".word-bars");
  // The longest bar that is shown fills its cell: words that only this topic has are rare.
  function stretch(rows, share) {
    function own(row) { return row.dataset.p * share; }
    function whole(row) { return Math.max(+row.dataset.q, own(row)); }
    var most = Math.max.apply(null, rows.slice(0, shown).map(whole)) || 1;
    rows.forEach(function (row) {
      row.querySelector(".all").setAttribute("width", Math.min(100 * whole(row) / most, 100));
      row.querySelector(".own").setAttribute("width", Math.min(100 * own(row) / most, 100));
    });
  }
  function rank() {
    var weight = +slider.value;
    slider.parentNode.querySelector("output").textContent = weight.toFixed(2);
    tables.forEach(function (table) {
      var body = table.tBodies[0], rows = all("tr", body);
      rows.forEach(function (row) {
        row.score = Math.log(+row.dataset.p) - (1 - weight) * Math.log(+row.dataset.q);
      });
      rows.sort(function (a, b) { return b.score - a.score || (a.dataset.word < b.dataset.word ? -1 : 1); });
      rows.forEach(function (row, place) { row.hidden = place >= shown; body.appendChild(row); });
      stretch(rows, +table.dataset.share);
    });
  }
  slider.addEventListener("input", rank);
  rank();

  // A word shows on the map which topics have most of it.
  var rings = doc.createElementNS("http://www.w3.org/2000/svg", "g"), pinned = null;
  map.appendChild(rings);
  function echo(row) {
    rings.textContent = "";
    if (!row) { return; }
    row.dataset.topics.split(" ").forEach(function (part) {
      var pair = part.split(":"), a = links.filter(function (each) { return each.dataset.topic === String(pair[0] - 1); })[0];
      if (!a) { return; }
      var bubble = a.querySelector("circle"), ring = doc.createElementNS("http://www.w3.org/2000/svg", "circle");
      ring.setAttribute("class", "echo");
      ring.setAttribute("cx", bubble.getAttribute("cx"));
      ring.setAttribute("cy", bubble.getAttribute("cy"));
      ring.setAttribute("r", Math.max(3, 60 * Math.sqrt(+pair[1])));
      rings.appendChild(ring);
    });
  }
  tables.forEach(function (table) {
    all("tbody tr", table).forEach(function (row) {
      var button = row.querySelector("button");
      row.addEventListener("pointerenter", function () { echo(row); });
      row.addEventListener("pointerleave", function () { echo(pinned); });
      button.addEventListener("focus", function () { echo(row); });
      button.addEventListener("blur", function () { echo(pinned); });
      button.addEventListener("click", function () {
        if (pinned) { pinned.querySelector("button").setAttribute("aria-pressed", "false"); }
        pinned = pinned === row ? null : row;
        if (pinned) { button.setAttribute("aria-pressed", "true"); }
        echo(pinned || row);
      });
    });
  });
  mark(buttons.length ? buttons[0].dataset.show : "0");
}());
