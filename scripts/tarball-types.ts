// The declarations of tarballs: those that an export of an entry leads to, with their comments. A file
// that has no such declaration is left out.

import { listed, type Resolve, type Texts } from './tarball-names.ts';

type Statement = {
  readonly text: string;
  /** Without comments. */
  readonly code: string;
  /** The names that it declares. */
  readonly declares: readonly string[];
  /** The names that it takes of another file, or exports by a list. */
  readonly lists: readonly (readonly [there: string, here: string])[] | null;
  readonly from: string | null;
  readonly isExported: boolean;
};

/** @param faces the files that people import: all of their exports are kept */
export function declared(texts: Texts, resolve: Resolve, faces: Iterable<string>): Texts {
  const files = new Map([...texts].map(([file, text]) => [file, statementsOf(text)]));
  const kept = new Map<string, Map<Statement, Set<string>>>();
  const asked = new Set<string>();
  const due: { readonly file: string; readonly name: string }[] = [];
  const ask = (file: string, name: string) => {
    const key = `${file} ${name}`;
    if (!asked.has(key)) due.push({ file, name });
    asked.add(key);
  };
  const askOther = (file: string, specifier: string, name: string) => {
    for (const other of resolve(file, specifier)) ask(other, name);
  };
  const keep = (file: string, statement: Statement, name: string) => {
    const own = kept.get(file) ?? new Map<Statement, Set<string>>();
    kept.set(file, own);
    const isNew = !own.has(statement);
    own.set(statement, (own.get(statement) ?? new Set()).add(name));
    if (!isNew || statement.lists !== null) return;
    for (const [, , specifier = '', other = ''] of statement.code.matchAll(inline)) {
      askOther(file, specifier, other);
    }
    for (const [word] of statement.code.matchAll(/[\w$]+/g)) keepLocal(file, word);
  };
  const keepLocal = (file: string, name: string) => {
    for (const statement of files.get(file) ?? []) {
      if (statement.declares.includes(name)) keep(file, statement, name);
      if (statement.isExported || statement.from === null) continue;
      const [there] = statement.lists?.find(([, here]) => here === name) ?? [];
      if (there === undefined) continue;
      keep(file, statement, name);
      askOther(file, statement.from, there);
    }
  };
  for (const file of faces) ask(file, '*');
  for (const { file, name } of due) {
    for (const statement of files.get(file) ?? []) {
      const { declares, lists, from, isExported } = statement;
      if (!isExported) continue;
      if (lists === null) {
        if (name === '*' || declares.includes(name)) keep(file, statement, name);
        continue;
      }
      for (const [there, here] of lists) {
        if (name !== '*' && here !== name && there !== '*') continue;
        keep(file, statement, here);
        if (from === null) keepLocal(file, there);
        else askOther(file, from, there === '*' ? name : there);
      }
    }
  }
  const left = [...files].filter(([file]) => kept.has(file));
  return new Map(
    left.map(([file, all]) => {
      const own = all.flatMap((each) => {
        const names = kept.get(file)?.get(each);
        return names === undefined ? [] : narrowed(each, names);
      });
      return [file, `${own.join('\n')}\nexport {};\n`];
    }),
  );
}

/** `import('@parley/core/rules.ts').Rules` */
const inline = /\bimport\((['"])([^'"]+)\1\)\.(\w+)/g;
const tokens = /\/\*[\s\S]*?\*\/|\/\/.*|(['"`])(?:(?!\1)[^\\]|\\[\s\S])*\1|[{([]|[})\]]|;/g;
const comments = /(['"`])(?:(?!\1)[^\\]|\\[\s\S])*\1|\/\*[\s\S]*?\*\/|\/\/.*/g;
const blocks =
  /^(?:export )?(?:default )?(?:declare )?(?:abstract )?(?:class|interface|namespace|enum)\b/;
const lists =
  /^(import|export) (?:type )?(\*(?: as \w+)?|[\w$]+(?:, \{[^}]*\})?|\{[^}]*\})(?: from ['"]([^'"]+)['"])?;/;

function statementsOf(text: string): Statement[] {
  const all: Statement[] = [];
  let start = 0;
  let depth = 0;
  for (const { 0: token, index } of text.matchAll(tokens)) {
    if (/^[{([]$/.test(token)) depth += 1;
    if (/^[})\]]$/.test(token)) depth -= 1;
    if (depth > 0 || !/^[;}]$/.test(token)) continue;
    const end = index + 1;
    const code = bare(text.slice(start, end));
    if (token === '}' && !blocks.test(code)) continue;
    all.push(statementOf(text.slice(start, end).trim(), code));
    start = end;
  }
  return all;
}

const bare = (text: string) =>
  text.replace(comments, (each, quote?: string) => (quote === undefined ? ' ' : each)).trim();

function statementOf(text: string, code: string): Statement {
  const [, verb, list, from = null] = lists.exec(code) ?? [];
  const isExported = code.startsWith('export');
  if (verb !== undefined && list !== undefined) {
    const names = list.startsWith('*') ? [['*', list.replace('* as ', '')] as const] : listed(list);
    return { text, code, declares: [], lists: names, from, isExported };
  }
  return { text, code, declares: declaredBy(code), lists: null, from: null, isExported };
}

/** One name, or each of `const a: A, b: B`. */
function declaredBy(code: string): string[] {
  const [, kind, name = ''] =
    /^(?:export )?(?:default )?(?:declare )?(?:abstract )?(type|interface|const|let|function|class|enum|namespace) ([\w$]+)/.exec(
      code,
    ) ?? [];
  if (kind !== 'const') return [name];
  let depth = 0;
  const names: string[] = [];
  for (const { 0: token, 1: named } of code.matchAll(/[{([]|[})\]]|([\w$]+)(?::| =)/g)) {
    if (/^[{([]$/.test(token)) depth += 1;
    if (/^[})\]]$/.test(token)) depth -= 1;
    if (depth === 0 && named !== undefined) names.push(named);
  }
  return names;
}

/** A list with the wanted names alone. */
function narrowed({ text, lists: all }: Statement, names: ReadonlySet<string>): string {
  if (all === null) return text;
  return text.replace(
    /^((?:import|export) [^{]*)\{([^}]*)\}/m,
    (_, before: string, list: string) => {
      const left = list.split(',').filter((each) => names.has(listed(`{${each}}`)[0]?.[1] ?? ''));
      return `${before}{${left.join(',')}}`;
    },
  );
}
