// The names that a module or a declaration file takes from others.

/** By path, such as `sdk/dist/settle.js`. */
export type Texts = ReadonlyMap<string, string>;
/** The files of this repository that a file names with a specifier. */
export type Resolve = (file: string, specifier: string) => readonly string[];
export type Names = ReadonlySet<string> | 'all';
export type Import = {
  readonly specifier: string;
  readonly names: Names;
  /** By `import()`. */
  readonly lazily: boolean;
};

const statement =
  /^(?:import|export)\s+(?:type\s+)?(?:([\w$*{},\s]+?)\s+from\s+)?(['"])([^'"\n]+)\2/gm;
const call = /\bimport\((['"])([^'"\n]+)\1\)/g;

export function namesOf(text: string): Import[] {
  const eager = [...text.matchAll(statement)].map(([, list = '', , specifier = '']) => ({
    specifier,
    names: list.includes('*') ? ('all' as const) : new Set(listed(list).map(([name]) => name)),
    lazily: false,
  }));
  const lazy = [...text.matchAll(call)].map(([, , specifier = '']) => ({
    specifier,
    names: 'all' as const,
    lazily: true,
  }));
  return [...eager, ...lazy];
}

/** Each name of `a, { b as c, type d }`, as the other file has it and as it is here. */
export function listed(list: string): (readonly [there: string, here: string])[] {
  const [, first = '', inside = ''] = /^([^{]*)(?:\{([^}]*)\})?/.exec(list.trim()) ?? [];
  const named = inside.split(',').flatMap((each) => {
    const [there, here = there] = each
      .trim()
      .replace(/^type /, '')
      .split(/\s+as\s+/);
    return there === undefined || there === '' ? [] : [[there, here ?? there] as const];
  });
  const own = first.replace(',', '').trim();
  return own === '' ? named : [['default', own], ...named];
}
