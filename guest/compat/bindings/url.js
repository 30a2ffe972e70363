// The binding `url`: the engine writes where the parts of an address are into the array that the library reads.
'use strict';

const { host: { url }, plain } = tools;
const b = plain('url');
const places = b.urlComponents;
b.parse = function parse(input, base, raise) { return url.parse(input, base, raise, places); };
b.update = (href, part, value) => url.update(href, part, value, places);
b.pathToFileURL = (path, windows, host) => url.pathToFileURL(path, places, windows, host);
return b;
