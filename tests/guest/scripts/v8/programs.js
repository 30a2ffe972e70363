// v8 and vm's neighbour.
'use strict';

const { program } = require('../../table.js');

module.exports = [
  program('serialize, statistics, flags', async () => {
    const v8 = require('v8'); console.log(Object.keys(v8).join(), Object.keys(v8.getHeapStatistics()), Object.keys(v8.getHeapSpaceStatistics()[0]), Object.keys(v8.getHeapCodeStatistics()), typeof v8.cachedDataVersionTag()); const x = { a: [1, new Date(0), /r/g, new Map([[1, new Set([2])]]), 5n, undefined, null, -0, NaN, new Uint8Array([1]), Buffer.from('b'), new Error('e').message], s: 'é€' }; x.self = x; console.log(v8.deserialize(v8.serialize(x)), v8.serialize([1, 'a'])); attempt(() => v8.serialize(() => {}), () => v8.serialize(Symbol('s')), () => v8.deserialize(Buffer.from([1, 2])), () => v8.deserialize('x'), () => v8.deserialize(Buffer.alloc(0)), () => v8.serialize(Promise.resolve()));
    attempt(() => v8.setFlagsFromString(5), () => v8.setHeapSnapshotNearHeapLimit('x'), () => v8.writeHeapSnapshot(5), () => v8.startupSnapshot.isBuildingSnapshot(), () => v8.startupSnapshot.addSerializeCallback(() => {}), () => v8.isStringOneByteRepresentation('a'), () => v8.isStringOneByteRepresentation('€'), () => v8.isStringOneByteRepresentation(5));
  }),
  program('Serializer, Deserializer, promise hooks', async () => {
    const v8 = require('v8'); const s = new v8.Serializer(); s.writeHeader(); s.writeUint32(5); s.writeUint64(1, 2); s.writeDouble(1.5); s.writeRawBytes(Buffer.from('raw')); console.log(s.writeValue({ a: 1 })); const d = new v8.Deserializer(s.releaseBuffer()); console.log(d.readHeader(), d.getWireFormatVersion(), d.readUint32(), d.readUint64(), d.readDouble(), d.readRawBytes(3), d.readValue()); attempt(() => d.readUint32(), () => d.readValue(), () => new v8.Deserializer(5), () => s.writeRawBytes(5)); class Own extends v8.Serializer { _writeHostObject(o) { this.writeUint32(7); } } const o = new Own(); o.writeHeader(); o.writeValue(new (class extends Uint8Array {})(2)); console.log(o.releaseBuffer().length > 3);
    const seen = []; const stop = v8.promiseHooks.createHook({ init: () => seen.push('init'), settled: () => seen.push('settled'), before: () => seen.push('before'), after: () => seen.push('after') }); await Promise.resolve(1); stop(); console.log(seen.slice(0, 6)); attempt(() => v8.promiseHooks.onInit(5), () => v8.promiseHooks.createHook(5));
  }),
  program('queryObjects', () => { const v8 = require('v8'); class Kept {} class Heir extends Kept {} const kept = [new Kept(), new Heir()]; attempt(() => v8.queryObjects(class Never {}, { format: 'count' }), () => v8.queryObjects(Kept), () => v8.queryObjects(Heir, { format: 'summary' }), () => v8.queryObjects(5), () => v8.queryObjects(Kept, { format: 'x' })); return kept; }),
  program('coverage', () => { const v8 = require('v8'); attempt(() => v8.takeCoverage(), () => v8.stopCoverage()); }),
];
