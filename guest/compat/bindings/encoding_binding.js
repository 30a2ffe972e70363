// The binding `encoding_binding`: what TextEncoder and TextDecoder need for UTF-8.
'use strict';

const { host: { encoding_binding: native }, plain } = tools;
const b = plain('encoding_binding');
const results = b.encodeIntoResults;
b.encodeInto = (source, target) => { native.encodeInto(source, target, results); };
return b;
