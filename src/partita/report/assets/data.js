"use strict";
// Data of the report: unpacked once, read-only afterwards.
const partita = {};

(function () {
  const TYPES = {
    uint8: Uint8Array, uint16: Uint16Array, uint32: Uint32Array,
    int8: Int8Array, int16: Int16Array, int32: Int32Array, float32: Float32Array,
  };

  function unpack(packed) {
    const text = atob(packed.bytes);
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
    return new TYPES[packed.type](bytes.buffer);
  }

  const data = JSON.parse(document.getElementById("report-data").textContent);
  for (const partition of data.partitions) {
    partition.labels = unpack(partition.labels);
    partition.here = new Array(partition.colours.length).fill(0); // items of each cluster that are shown
    for (const label of partition.labels) partition.here[label]++;
  }
  for (const name of Object.keys(data.columns)) data.columns[name] = unpack(data.columns[name]);
  for (const core of data.cores) core.items = unpack(core.items);
  data.order = unpack(data.order);
  data.starts = unpack(data.starts);

  // Which bin of the heat map an item is in.
  data.bin = new Uint32Array(data.n_items);
  for (let b = 0; b + 1 < data.starts.length; b++) {
    for (let p = data.starts[b]; p < data.starts[b + 1]; p++) data.bin[data.order[p]] = b;
  }

  if (data.numbers !== null) data.numbers = unpack(data.numbers);
  data.name = (item) => data.names?.[item] ?? String(data.numbers?.[item] ?? item);
  data.colour = (index) => data.colours[index % data.colours.length];
  data.shape = (index) => data.shape_names[data.shapes[index]];
  partita.data = data;
})();
