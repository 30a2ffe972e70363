// In place of the parser of TypeScript that Node brings along: that is WebAssembly, which guests don't have. Node's
// library asks it when source doesn't compile, and then says what both have to say.
'use strict';

module.exports = {
  transformSync(source, options) {
    throw {
      code: 'UnsupportedSyntax',
      message: 'TypeScript is not supported in a guest',
      filename: options?.filename ?? '',
      startLine: 1,
      snippet: `${source}`.split('\n', 1)[0],
    };
  },
};
