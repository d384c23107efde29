// What a start sets going, by its source: what it begins, and whatever it gives the database to.

/** What has the database, or its address, whatever it is a part of. */
const seeds = ['db', 'databaseUrl'];

/** Characters from an opening bracket to the one that closes it, without both. */
function within(source: string, open: number): string {
  let depth = 0;
  for (let at = open; at < source.length; at += 1) {
    if ('([{'.includes(source[at] ?? '')) depth += 1;
    if (')]}'.includes(source[at] ?? '')) depth -= 1;
    if (depth === 0) return source.slice(open + 1, at);
  }
  throw new Error(`a bracket is not closed: ${source.slice(open, open + 60)}`);
}

/** Without what is given to the calls in it. */
function outermost(source: string): string {
  const call = /[\w)\]>]\(/.exec(source);
  if (call === null) return source;
  const open = call.index + 1;
  const close = open + 1 + within(source, open).length;
  return `${source.slice(0, open)}()${outermost(source.slice(close + 1))}`;
}

/** Whether it names one of them; what is asked of one by a call, or compared, is not given away. */
function names(holders: ReadonlySet<string>, source: string): boolean {
  const own = [...holders].join('|');
  const one = String.raw`(?:\b(?:${seeds.join('|')})|(?<!\w|(?<!\.\.)\.)(?:${own}))\b`;
  return new RegExp(String.raw`${one}(?!\s*[!=]==|\??\.\w+\()`).test(source);
}

/** What has the database in it, by its name in the source: an object, or a name of its address. */
function holdersIn(source: string): Set<string> {
  const holders = new Set(seeds);
  const renamed = [
    ...source.matchAll(/\b(?:db|databaseUrl): (\w+)[^{}=]*\} = /g),
    ...source.matchAll(/\b(?:const|let) (\w+) = connect\(/g),
  ];
  const found = () => [
    ...[...source.matchAll(/\b(?:const|let) (\w+)(?:: \w+)? = (?=\{)/g)].flatMap((each) => {
      const literal = within(source, each.index + each[0].length);
      return names(holders, outermost(literal)) ? [each[1] ?? ''] : [];
    }),
    ...[...source.matchAll(/\b(?:const|let) (\w+)(?:: [^=;]+)? = ([\w.]+);/g)].flatMap((each) =>
      names(holders, each[2] ?? '') ? [each[1] ?? ''] : [],
    ),
    ...[...source.matchAll(/\b(\w+)\.\w+ = ([\w.]+);/g)].flatMap((each) =>
      names(holders, each[2] ?? '') ? [each[1] ?? ''] : [],
    ),
    ...renamed.map((each) => each[1] ?? ''),
  ];
  for (let before = 0; before !== holders.size; ) {
    before = holders.size;
    for (const each of found()) holders.add(each);
  }
  return holders;
}

/**
 * Parts that it makes with the database, by the name that they get; parts that it begins; and all
 * else that is called with the database, its address or what has one of them, in whatever place,
 * or that is asked of the database itself.
 */
export function begunIn(text: string): string[] {
  const source = text.replace(/(?<!:)\/\/.*$/gm, '');
  const holders = holdersIn(source);
  const called = [...source.matchAll(/(?<![\w.])([\w.?]+)(?:<[^()=]*>)?\(/g)].flatMap((each) => {
    const [whole, callee = ''] = each;
    const last = callee.split('.').at(-1) ?? '';
    const before = source.slice(0, each.index);
    if (/\bfunction $/.test(before)) return [];
    const given = outermost(within(source, each.index + whole.length - 1));
    const isAsked = callee !== last && names(holders, callee);
    if (!isAsked && !names(holders, given)) return [];
    const [, made] = /\bconst (\w+)(?:: \w+)? = (?:await )?$/.exec(before) ?? [];
    return [/^create[A-Z]/.test(last) && made !== undefined ? made : callee];
  });
  const begun = [...source.matchAll(/\b(\w+)\.(?:start|begin)\(/g)].map(([, name]) => name ?? '');
  return [...new Set([...called, ...begun])];
}
