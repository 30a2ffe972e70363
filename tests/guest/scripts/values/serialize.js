// V8's serializer, byte for byte, and with objects of a program's own in between.
'use strict';
const v8 = require('v8');

const show = (name, f) => {
  try {
    console.log(name, f());
  } catch (e) {
    console.log(name, e.name, e.code, e.message);
  }
};
const values = [1, 'é', 'é€', { a: [1, 2, new Map([[1, 2]])] }, new Uint8Array([1, 2]), Buffer.from('q'), new Date(5), [1.5, -1, 1n], new Float64Array([1]), /a/g, new Set(['x'])];
for (const value of values) {
  const bytes = v8.serialize(value);
  console.log(bytes.toString('hex'), v8.deserialize(bytes));
}
show('call', () => v8.serialize(() => {}));
for (const bad of ['00', 'ff0f', 'ff0f6f22', 'ff0f5c0aff01', 'ff7f00']) show(bad, () => v8.deserialize(Buffer.from(bad, 'hex')));
const plain = new v8.Serializer();
plain.writeHeader();
plain.writeUint32(300);
plain.writeUint64(1, 2);
plain.writeDouble(1.5);
plain.writeRawBytes(Buffer.from('abc'));
plain.writeValue({ a: 1 });
plain.writeValue('second');
const written = plain.releaseBuffer();
console.log(written);
const reading = new v8.Deserializer(written);
console.log(reading.readHeader(), reading.getWireFormatVersion(), reading.readUint32(), reading.readUint64(), reading.readDouble(), reading.readRawBytes(3), reading.readValue(), reading.readValue());
show('past the end', () => reading.readUint32());

class Writer extends v8.Serializer {
  _writeHostObject() {
    this.writeUint32(7);
    this.writeRawBytes(Buffer.from('xyz'));
  }
}
class Reader extends v8.Deserializer {
  _readHostObject() { return { number: this.readUint32(), text: this.readRawBytes(3).toString() }; }
}
const writer = new Writer();
writer.writeHeader();
writer._setTreatArrayBufferViewsAsHostObjects(true);
writer.writeValue({ a: new Uint8Array(2), b: 'é€' });
const bytes = writer.releaseBuffer();
const reader = new Reader(bytes);
console.log(bytes.toString('hex'), reader.readHeader(), reader.readValue());
show('not bytes', () => new v8.Deserializer(3));
console.log(v8.getHeapStatistics().used_heap_size > 0, v8.getHeapSpaceStatistics().length > 3, v8.cachedDataVersionTag() > 0);
