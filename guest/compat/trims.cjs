// What the library makes when it starts, and hardly a process needs: each is made here when it is first asked for, or
// smaller. A snapshot holds everything that a start makes, so each guest would pay for it with time and memory.
// No trim adds or takes a line: the line numbers in stack traces stay Node's.
'use strict';

/** Functions of another module, which is loaded when one of them is first called. None has more than two arguments. */
function later(names, id) {
  const functions = names.split(', ').map((name) => `${name} = (one, other) => require('${id}').${name}(one, other)`);
  return [`const { ${names} } = require('${id}');`, `const ${functions.join(', ')};`];
}

const TRIMS = {
  // A class for each of its 300 error codes, a third of what the library makes.
  'internal/errors': [
    ['const codes = {};', 'const definitions = new SafeMap(); const codes = { __proto__: new Proxy({}, { get(target, sym) { ' +
      'const one = definitions.get(sym); if (one === undefined) return target[sym]; ReflectApply(makeClass, undefined, one); return codes[sym]; } }) };'],
    ['function E(sym, val, def, ...otherClasses) {', 'function E(...one) { messages.set(one[0], one[1]); definitions.set(one[0], one); } ' +
      'function makeClass(sym, val, def, ...otherClasses) {'],
    // By then a program may have changed its Array.
    ['    if (otherClasses.includes(HideStackFramesError)) {\n      if (', '    if (ArrayPrototypeIncludes(otherClasses, HideStackFramesError)) {\n      if ('],
    ['\n  if (otherClasses.includes(HideStackFramesError)) {\n    Err', '\n  if (ArrayPrototypeIncludes(otherClasses, HideStackFramesError)) {\n    Err'],
  ],
  // 64 KiB for small buffers; none at all until warm.js is through: in a snapshot it would forget that it must not be
  // transferred.
  'buffer': [['\ncreatePool();\n', '\nBuffer.dropPool = () => { poolSize = poolOffset = 0; allocPool = allocBuffer = undefined; }; Buffer.dropPool();\n'],
    // Without one before, a pool that could not be made must not look like one.
    ['  poolSize = Buffer.poolSize;\n  allocBuffer = createUnsafeBuffer(poolSize);\n', '  allocBuffer = createUnsafeBuffer(Buffer.poolSize);\n  poolSize = Buffer.poolSize;\n'], ['Buffer.poolSize = 64 * 1024;', 'Buffer.poolSize = 0;']],
  // Room for 2,048 callbacks in each queue, before any waits.
  'internal/fixed_queue': [['const kSize = 2048;', 'const kSize = 128;']],
  // The tables of 28 encodings of one byte a character.
  'internal/encoding': [later('isSinglebyteEncoding, createSinglebyteDecoder', 'internal/encoding/single-byte')],
  // Blobs, and with them the encodings.
  'fs': [later('createBlobFromFilePath', 'internal/blob')],
  // The loader that was tried in the snapshot must not be the guest's: it has the conditions of no command line. And
  // what a program imports may be kept: see graphs.js.
  'internal/modules/esm/loader': [['function isCascadedLoaderInitialized() {',
    'getOrInitializeCascadedLoader.forget = () => { cascadedLoader = undefined; }; function isCascadedLoaderInitialized() {'],
    ['      let moduleJob;\n      try {\n', '      const { graphs } = getOrInitializeCascadedLoader; const kept = graphs?.find(this, parentURL, request); let moduleJob = kept;\n' +
      '      if (kept === undefined) try {\n'],
    ['      if (phase === kSourcePhase) {\n        const module = await moduleJob', '      if (kept === undefined) graphs?.keep(parentURL, request, moduleJob); if (phase === kSourcePhase) {\n' +
      '        const module = await moduleJob']],
  // A file is looked for once where three calls looked for it (see b.internalModulePlace), and its URL is parsed once
  // where it was parsed four times, as long as nothing of it needs another form. Patterns take long in a fresh isolate.
  'internal/modules/esm/resolve': [
    ["const encodedSepRegEx = /%2F|%5C/i;", "const encodedSepRegEx = /%2F|%5C/i; const { realpathSync } = fs;"],
    ['  if (RegExpPrototypeExec(encodedSepRegEx, resolved.pathname) !== null) {\n    let basePath;',
      "  const encoded = StringPrototypeIncludes(resolved.pathname, '%'); if (encoded && RegExpPrototypeExec(encodedSepRegEx, resolved.pathname) !== null) {\n    let basePath;"],
    ["  const stats = internalFsBinding.internalModuleStat(\n    StringPrototypeEndsWith(path, '/') ? StringPrototypeSlice(path, -1) : path,\n  );",
      "  const place = internalFsBinding.internalModulePlace(\n    StringPrototypeEndsWith(path, '/') ? StringPrototypeSlice(path, -1) : path,\n  ); const stats = place === 2 ? 0 : place;"],
    ['  if (!preserveSymlinks) {\n    // If', '  if (!preserveSymlinks && (place !== 2 || encoded || fs.realpathSync !== realpathSync)) {\n    // If'],
    ['function moduleResolve(specifier, base, conditions, preserveSymlinks) {', 'function moduleResolve(specifier, base, conditions, preserveSymlinks, parsed) {'],
    ['      resolved = new URL(specifier, base);\n    } catch (cause) {', '      resolved = parsed ?? new URL(specifier, base);\n    } catch (cause) {'],
    ["      isMain ? getOptionValue('--preserve-symlinks-main') : getOptionValue('--preserve-symlinks'),\n    );",
      "      isMain ? getOptionValue('--preserve-symlinks-main') : getOptionValue('--preserve-symlinks'), isMain ? undefined : parsed,\n    );"]],
  'internal/modules/esm/load': [["const fs = require('fs');", "const fs = require('fs'); const { readFileSync } = fs; const { readModule } = internalBinding('fs');"],
    ['    source = fs.readFileSync(url);', '    source = (fs.readFileSync === readFileSync ? readModule(href) : undefined) ?? fs.readFileSync(url);']],
  // A shorter way to a program that is an ES module for sure: see main.js.
  'internal/modules/run_main': [['  let useESMLoader;\n', '  let useESMLoader; if (shortcut?.(main)) return;\n'],
    ['module.exports = {\n  executeUserEntryPoint,', 'let shortcut; module.exports = {\n  setShortcut(other) { shortcut = other; }, executeUserEntryPoint,']],
  // Whether somebody has asked for a standard stream: see output.js.
  'internal/bootstrap/switches/is_main_thread': [
    ['  stdout = createWritableStdioStream(1);\n', '  getStdout.made = true; stdout = createWritableStdioStream(1);\n'],
    ['  stderr = createWritableStdioStream(2);\n', '  getStderr.made = true; stderr = createWritableStdioStream(2);\n']],
  // data: URLs and MIME types.
  'internal/url': [later('percentDecode', 'internal/data_url')],
};

/** The source of a library module as a guest has it. Fails on a source that it does not know. */
function trim(id, source) {
  return (TRIMS[id] ?? []).reduce((text, [from, to]) => {
    if (text.split(from).length !== 2) throw new Error(`The library's ${id} is not the one that is known: it has not one "${from.trim()}"`);
    return text.replace(from, () => to);
  }, source);
}

module.exports = { trim };
