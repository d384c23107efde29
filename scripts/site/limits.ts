// The page of limits, read from the sources: each constant at the top of a file whose name says a
// quantity, with its value and the comment at it. A constant below another one, without a line
// between, shares its comment. One without a comment is shown where its name says a bound.

export type Limit = { readonly name: string; readonly value: string; readonly reason: string };

/** The rooms whose limits a trader, an integrator or an operator meets, in the order of the page. */
export const limitRooms: Readonly<Record<string, string>> = {
  'apps/market/edge': 'Requests and the maker feed',
  'apps/market/market': 'Agreeing',
  'apps/market/settle': 'Settling',
  'apps/market/listing': 'Listing tokens',
  'apps/market/people': 'Accounts of people',
  'apps/market/messages': 'Messages to people',
  'apps/market/webhooks': 'Webhooks',
  'apps/market': 'The rest of the server',
  'apps/watchtower': 'The watchtower',
  'packages/core': 'Rules that both sides keep',
  'packages/chains': 'Chains and their nodes',
  'packages/tokens': 'Judging tokens',
  'packages/host': 'The database beside the market',
  'packages/sdk': 'The SDK',
  'packages/trader': "The trader's desk",
  'packages/maker': 'The maker program',
  'packages/cli': 'The command line',
  'packages/mcp': 'The MCP server',
  'packages/web': 'The web app',
  'apps/faucet': 'The faucet of test networks',
};

const begins = /^(?:most|least|longest|shortest|max|min|tries)(?![a-z])/;
const ends =
  /(?:Ms|Seconds|Minutes|Hours|Days|Bytes|Length|Limits?|Page|PageSize|Tries|AtOnce|Blocks|Digits)$/;
const whole = /^(?:capacity|batch|pageSize)$/;
/** Units are no limits. */
const unit = /^(?:second|minute|hour|day)s?(?:Ms|Seconds|s)?$/;
const comment = /(?:^\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n|(?:^\/\/.*\n)+)?/;
const constant = /^(?:export )?const (\w+)(?:: [\w<>, ]+)? = ([^;`'"=]+);/;
const declaration = new RegExp(`(${comment.source})${constant.source}`, 'gm');
const plainValue = /^[\w\s.*+/():,{}-]+$/;

function isQuantity(name: string): boolean {
  return !unit.test(name) && (begins.test(name) || ends.test(name) || whole.test(name));
}

function isNumber(value: string): boolean {
  return plainValue.test(value) && /\d|Ms|Seconds|Days/.test(value);
}

/** The limits that a source declares, in its order. */
export function limitsIn(text: string): Limit[] {
  const limits: Limit[] = [];
  let reason = '';
  let end = -1;
  for (const found of text.matchAll(declaration)) {
    const [all, above = '', name = '', expression = ''] = found;
    const isNext = found.index === end + 1;
    if (above !== '') reason = reasonOf(above);
    else if (!isNext) reason = '';
    else if (reason !== '') reason = 'as above';
    end = found.index + all.length;
    const value = spoken(expression);
    const isShown = isQuantity(name) && (begins.test(name) || reason !== '');
    if (isShown && isNumber(value)) limits.push({ name, value, reason });
  }
  return limits;
}

function reasonOf(text: string): string {
  return text
    .replace(/^\s*(?:\/\*\*|\*\/|\*|\/\/) ?/gm, '')
    .replace(/\s*\*\/\s*$/, '')
    .replace(/\s+/g, ' ')
    .trim();
}

/** A value as people read it: `65_536` is 65 536. */
function spoken(value: string): string {
  return value
    .replace(/ as const$/, '')
    .replace(/^ *\/\/.*$/gm, '')
    .replace(/(\d)_(?=\d)/g, '$1 ')
    .replace(/\b([\d ]+)n\b/g, '$1')
    .replace(/\s+/g, ' ')
    .trim();
}

/** The sentence that a file opens with. */
function purposeOf(text: string): string {
  const [head = ''] = /^(?:\/\/ .*\n)+/.exec(text) ?? [];
  const [sentence = ''] = /^.*?[.:](?=\s|$)/.exec(reasonOf(head)) ?? [];
  return sentence.replace(/[.:]$/, '.');
}

/** The page of these sources, each by its path. */
export function limitsPage(sources: Readonly<Record<string, string>>): string {
  const rooms = Object.keys(limitRooms);
  const roomOf = (path: string) => rooms.find((room) => path.startsWith(`${room}/`));
  const sections = rooms.flatMap((room) => {
    const files = Object.entries(sources).filter(([path]) => roomOf(path) === room);
    const parts = files.flatMap(([path, text]) => fileLines(path, text));
    return parts.length === 0 ? [] : [`## ${limitRooms[room]}`, '', ...parts];
  });
  return [
    '# Limits',
    '',
    'Every list, body, queue, wait and retry has a limit. This page is made of the sources when the',
    'site is built. Names that end in `Ms` are milliseconds. A setting may replace a number: see',
    '[settings](settings.md). `GET /v1/rules` has those that a trader agrees under.',
    '',
    ...sections,
  ].join('\n');
}

function fileLines(path: string, text: string): string[] {
  const limits = limitsIn(text);
  if (limits.length === 0) return [];
  const rows = limits.map(({ name, value, reason }) => {
    return `| \`${name}\` | ${value} | ${cell(reason)} |`;
  });
  const head = [
    `### ${path}`,
    '',
    cell(purposeOf(text)),
    '',
    '| limit | value | why |',
    '|---|---|---|',
  ];
  return [...head, ...rows, ''];
}

/** Text of a comment as a cell. A part of a comment may lack the other end of its code. */
function cell(text: string): string {
  const isWhole = text.split('`').length % 2 === 1;
  return (isWhole ? text : text.replaceAll('`', '')).replaceAll('|', '\\|').replaceAll('{{', '{ {');
}
