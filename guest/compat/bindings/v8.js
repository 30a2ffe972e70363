// The binding `v8`: what the heap of the guest's own isolate holds. Flags are the engine's, not a guest's.
'use strict';

const { host: { v8: native }, plain } = tools;
const b = plain('v8');
const nothing = () => {};
const { heapStatisticsBuffer, heapCodeStatisticsBuffer, heapSpaceStatisticsBuffer } = b;
b.updateHeapStatisticsBuffer = () => { native.heap(heapStatisticsBuffer); };
b.updateHeapCodeStatisticsBuffer = () => { native.code(heapCodeStatisticsBuffer); };
b.updateHeapSpaceStatisticsBuffer = (index) => { native.space(heapSpaceStatisticsBuffer, index); };
b.setFlagsFromString = nothing;
b.setHeapSnapshotNearHeapLimit = nothing;
return b;
