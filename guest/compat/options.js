// The command line of Node: `node [options] [-e CODE | FILE] [arguments]`. Its options are the entries of the table
// that the library reads them from; an entry's value says what kind of value an option takes.
'use strict';

const short = {
  '__proto__': null,
  '-e': '--eval',
  '-p': '--print',
  '-c': '--check',
  '-C': '--conditions',
  '-r': '--require',
  '-v': '--version',
  '--loader': '--experimental-loader',
};
/** V8's options that only change what is left over of a machine that is the guest's anyway. */
const tuning = new Set(['--max-old-space-size', '--max-semi-space-size', '--min-semi-space-size', '--initial-heap-size',
  '--max-heap-size', '--stack-size']);
const inputTypes = ['', 'module', 'commonjs', 'module-typescript', 'commonjs-typescript'];
const rejectionModes = ['', 'warn-with-error-code', 'throw', 'strict', 'warn', 'none'];

/** The whole name of a long option, as the table has it. */
function nameOf(flag) {
  if (short[flag] !== undefined) return short[flag];
  return flag.startsWith('--') && flag.includes('_') ? `--${flag.slice(2).replaceAll('_', '-')}` : flag;
}

/** One option, of which `rest` holds the value if it needs one. Returns what is wrong with it. */
function take(flag, rest, found, options) {
  const equals = flag.startsWith('--') ? flag.indexOf('=') : -1;
  const name = nameOf(equals < 0 ? flag : flag.slice(0, equals));
  const needed = () => {
    if (equals >= 0) return flag.slice(equals + 1) || undefined;
    if (rest.length === 0 || rest[0].startsWith('-')) return undefined;
    found.execArgv.push(rest[0]);
    return rest.shift();
  };
  const evaluate = () => {
    const code = rest.length > 0 && rest[0] === '' ? (found.execArgv.push(''), rest.shift()) : needed();
    if (code === undefined) return `${flag} requires an argument`;
    options['--eval'] = code;
    found.eval = true;
  };
  const boolean = (which, value) => {
    options[which] = value;
    options[`--no-${which.slice(2)}`] = !value;
  };

  if (name === '--eval') return evaluate();
  if (name === '-pe' || (name === '--print' && equals < 0)) {
    boolean('--print', true);
    return name === '-pe' || (rest.length > 0 && !rest[0].startsWith('-')) ? evaluate() : undefined;
  }
  if (name === '--version') {
    found.version = true;
    return undefined;
  }
  if (name === '--expose-gc') {
    found.exposeGc = true;
    return undefined;
  }
  if (tuning.has(name)) return needed() === undefined ? `${flag} requires an argument` : undefined;
  if (!name.startsWith('--')) return `bad option: ${flag}`;
  if (name.startsWith('--no-') && typeof options[`--${name.slice(5)}`] === 'boolean') return void boolean(`--${name.slice(5)}`, false);

  const kind = Array.isArray(options[name]) ? 'list' : typeof options[name];
  if (kind === 'boolean') return void boolean(name, true);
  if (kind === 'undefined' || kind === 'object') return `bad option: ${flag}`;
  const value = needed();
  if (value === undefined) return `${flag.slice(0, equals < 0 ? undefined : equals)} requires an argument`;
  if (kind === 'list') options[name] = [...options[name], value];
  else options[name] = kind === 'number' ? Math.trunc(Number(value)) || 0 : value;
  return undefined;
}

/** What is wrong with the options as a whole. */
function contradiction(options, found) {
  if (options['--check'] && found.eval) return 'either --check or --eval can be used, not both';
  if (!rejectionModes.includes(options['--unhandled-rejections'])) return 'invalid value for --unhandled-rejections';
  if (!inputTypes.includes(options['--input-type'])) {
    return '--input-type must be "module","commonjs", "module-typescript" or "commonjs-typescript"';
  }
  return undefined;
}

/** The words of NODE_OPTIONS: blanks part them, except within double quotes. */
function wordsOf(text) {
  return (text.match(/(?:"(?:\\.|[^"])*"|[^ "])+/g) ?? []).map((word) => word.replace(/"((?:\\.|[^"])*)"/g, (all, inside) => inside.replaceAll(/\\(.)/g, '$1')));
}

/**
 * Reads argv into the table of options. Returns what is to be run: `file` or `eval`, `arguments`, `execArgv`, and
 * `options`, whether there were any besides code; or what is `bad`.
 */
return (argv, nodeOptions, options) => {
  const found = { file: undefined, arguments: [], execArgv: [], eval: false, options: false };
  if (nodeOptions !== undefined && nodeOptions !== '') {
    const words = wordsOf(nodeOptions);
    const scratch = { execArgv: [] };
    found.options = words.length > 0;
    while (words.length > 0) {
      const flag = words.shift();
      const bad = flag.startsWith('-') ? take(flag, words, scratch, options) : `${flag} is not allowed in NODE_OPTIONS`;
      if (bad !== undefined || scratch.eval) return { ...found, bad: bad ?? `${flag} is not allowed in NODE_OPTIONS` };
    }
  }
  let at = 1;
  if (argv[1] === '-e' && argv.length > 2 && !argv[2].startsWith('-')) { // as nearly always
    found.execArgv = ['-e', argv[2]];
    options['--eval'] = argv[2];
    found.eval = true;
    at = 3;
  }
  const rest = argv.slice(at);
  while (rest.length > 0 && rest[0].length > 1 && rest[0].startsWith('-')) {
    const flag = rest.shift();
    if (flag === '--') break;
    found.execArgv.push(flag);
    found.options = true;
    const bad = take(flag, rest, found, options);
    if (bad !== undefined) return { ...found, bad };
  }
  if (found.options) found.bad = contradiction(options, found);
  if (!found.eval) found.file = rest.shift();
  found.arguments = rest;
  return found;
};
