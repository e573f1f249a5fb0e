"use strict";
(function () {
  var doc = document, chosen = doc.getElementById("series-chosen");
  if (!chosen) { return; }
  function show() {
    Array.prototype.forEach.call(doc.querySelectorAll('.panel[data-set="series"]'), function (panel) {
      panel.hidden = panel.dataset.panel !== chosen.value;
    });
  }
  chosen.addEventListener("change", show);
  show();
}());
