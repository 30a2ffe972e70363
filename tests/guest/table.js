// Programs of a table, written as functions: what stands in one becomes the text of a program.
'use strict';

// What each of them has: `attempt` prints what functions return or throw, `later` what they promise.
const prelude = `
const told = (e) => (e instanceof Error ? \`\${e.name} [\${e.code}] \${e.message}\` : e);
const attempt = (...all) => { for (const f of all) try { console.log(f()); } catch (e) { console.log(told(e)); } };
const later = async (...all) => { for (const f of all) try { console.log(await f()); } catch (e) { console.log(told(e)); } };
`;

/** The lines between the braces of a function. */
function lines_of(f) {
  const text = f.toString();
  return text.slice(text.indexOf('{') + 1, text.lastIndexOf('}'));
}

/** One row of a table. Options: files beside it, argv after the program, node (options before it), stdin. */
function program(name, f, { files = {}, argv = [], node = [], stdin } = {}) {
  const is_async = f.constructor.name === 'AsyncFunction';
  const text = is_async ? `(async () => {${lines_of(f)}})();\n` : lines_of(f);
  return [name, { 'main.js': prelude + text, ...files }, [...node, 'main.js', ...argv], { stdin }];
}

/** The same with an ES module, given as text: a function can't hold its imports. */
function module_program(name, text, { files = {}, argv = [], node = [], stdin } = {}) {
  return [name, { 'main.mjs': prelude + text, ...files }, [...node, 'main.mjs', ...argv], { stdin }];
}

module.exports = { program, module_program };
