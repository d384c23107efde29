// The page of errors, read from the two files that list the codes: the comment above a code is what
// its reader does next.

import { refusalKinds } from '@parley/core/errors.ts';
import { httpCodes, statusOfKind } from '@parley/market/edge/errors.ts';

/** The next step for each code of a source. Codes below one comment share it. */
export function nextSteps(text: string): Map<string, string> {
  const [, body = ''] = /^const codes = \{\n([\s\S]*?)^\} as const;/m.exec(text) ?? [];
  const steps = new Map<string, string>();
  let step = '';
  let isOpen = false;
  for (const line of body.split('\n').map((each) => each.trim())) {
    if (line.startsWith('// ')) {
      step = isOpen ? `${step} ${line.slice(3)}` : line.slice(3);
      isOpen = true;
    } else {
      isOpen = false;
      const [, code] = /^(?:\w+: \[)?'(\w+)'/.exec(line) ?? [];
      if (code !== undefined) steps.set(code, step);
      else step = '';
    }
  }
  return steps;
}

/** The status of each code that the market answers with. */
export function statusOfCode(): Map<string, number> {
  const kinds = Object.entries(refusalKinds);
  const statuses = new Map(kinds.map(([code, kind]) => [code, statusOfKind[kind]]));
  for (const [code, status] of Object.entries(httpCodes)) statuses.set(code, status);
  return statuses;
}

export function errorsPage(sources: readonly string[]): string {
  const steps = new Map(sources.flatMap((text) => [...nextSteps(text)]));
  const rows = [...statusOfCode()]
    .sort(([one, first], [other, second]) => first - second || one.localeCompare(other))
    .map(([code, status]) => `| \`${code}\` | ${status} | ${cell(steps.get(code) ?? '')} |`);
  return [
    '# Errors',
    '',
    'A refusal is exactly `{ "error": "<one sentence, with the numbers in it>" }`. The header',
    '`x-parley-error` (with the short name of the deployment) carries a stable code: a program reads',
    'the code, a person the sentence. `X-Request-Id` names the request for its operator. Codes may',
    'be added, and none changes its meaning. A proxy before the market answers in the same form.',
    '',
    '| code | status | next |',
    '|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

/** Text of a comment as a cell: a page that it names is a link. */
function cell(text: string): string {
  return text.replaceAll('|', '\\|').replace(/\bdocs\/([\w-]+)\.md(#[\w-]+)?/g, '[$1]($1.md$2)');
}
